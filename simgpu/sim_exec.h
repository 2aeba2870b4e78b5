/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_EXEC_H
#define SIM_EXEC_H

#include "sim_graph.h"

struct sim_exec {
	struct sim_object object;
	struct sim_shape {
		size_t nodes, kernels;
		uint64_t bytes, param_bytes; /* of the device, for its nodes */
		uint64_t most, left;         /* of its memory nodes: at once, and not freed by it */
	} shape;
	struct sim_graph *graph; /* a copy, in an order in which it can run */
	bool has_work;           /* nodes that do something here */
	unsigned long long flags;
	uint64_t live; /* allocated by a launch and not yet freed */
	/* Launches under way, of which a function of the program may wait for another thread; it ends after them. */
	unsigned running;
	bool is_over;
};

/* NULL: it is none, or was destroyed. */
struct sim_exec *sim_exec_get(CUgraphExec handle);
/* It ends with its context, or once it is destroyed and runs no more. */
void sim_exec_end(struct sim_object *object);
void sim_exec_drop(struct sim_exec *exec);
CUresult sim_exec_prepare(struct sim_context *context, const struct sim_graph *graph);
bool sim_exec_has_work(const struct sim_graph *graph);
/* What it has allocated and nobody freed is no longer counted. */
void sim_exec_forget(struct sim_exec *exec);

#endif
