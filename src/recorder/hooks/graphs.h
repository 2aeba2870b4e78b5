/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures and executable graphs, as far as hooks need to know them while the program runs.
 */
#ifndef TARE_RECORDER_HOOKS_GRAPHS_H
#define TARE_RECORDER_HOOKS_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/hooks/call.h"

/* What the driver says of the graph that a call dealt with. False: nothing worth a record. */
bool tare_graph_describe(const struct tare_call *call, CUresult result, struct tare_rec_graph *out);

/* graph_nodes.c: counts the nodes of a graph, those of its child graphs included. */
void tare_graph_count_nodes(CUgraph graph, struct tare_rec_graph *out);

/* execs.c: executable graphs by handle, and how often each was launched. A table without a lock. */
struct tare_exec {
	const void *handle;
	uint64_t launches;
	/* of first.c when a launch was weighed last; 0: never, or not since a change */
	uint64_t epoch;
};
void tare_exec_add(const void *handle);
void tare_exec_remove(const void *handle);
struct tare_exec *tare_exec_find(const void *handle); /* NULL: not known */
void tare_exec_changed(const void *handle);           /* its next launch may have to grow */

#endif
