/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include "sim.h"

struct sim_node {
	struct sim_object object;
	struct sim_node *next;
	struct sim_graph *graph;
	CUgraphNodeType type;
	CUfunction function;     /* of a kernel node */
	struct sim_graph *child; /* of a child graph node: a copy of its own */
	uint64_t bytes;          /* of a memory node */
	CUdeviceptr address;
};

struct sim_graph {
	struct sim_object object;
	struct sim_node *first, **last;
	size_t count;
};

#endif
