/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: nodes with the parameters that they were made with, and edges between them. */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include "sim.h"

/* In two lists: of what `to` waits for, and of what waits for `from`. */
struct sim_edge {
	struct sim_node *from, *to;
	CUgraphEdgeData data;
	struct sim_edge *next_in, *next_out;
};

struct sim_attribute { /* of a kernel node */
	struct sim_attribute *next;
	CUkernelNodeAttrID id;
	CUkernelNodeAttrValue value;
};

struct sim_node {
	struct sim_object object;
	struct sim_node *next;
	struct sim_graph *graph;
	CUgraphNodeType type;
	CUgraphNodeParams params;
	void **values; /* of a kernel node: its parameters, in one piece of memory; NULL: not known */
	struct sim_attribute *attributes;
	struct sim_edge *in, **in_last, *out, **out_last;
	size_t in_nr, out_nr;
	/* the graph of a child graph node: a copy of its own; the bodies of a conditional one */
	struct sim_graph **children;
	unsigned children_nr;
	const struct sim_node *origin; /* that this is a copy of */
	bool is_disabled;
	size_t mark; /* for the functions that walk a graph */
};

struct sim_graph {
	struct sim_object object;
	struct sim_node *first, **last;
	size_t count, edges;
	bool is_child;          /* of a node, which ends with it */
	struct sim_hold *holds; /* user objects */
};

/* ---- nodes (sim_graph.c) ---- */
/* Checks what the node is to do and keeps a copy of it. A memory node gets its address here. */
CUresult sim_graph_add(struct sim_graph *graph, CUgraphNodeParams *params, struct sim_node **made);
/* Another thing to do for a node of the same type. */
CUresult sim_graph_set(struct sim_node *node, const CUgraphNodeParams *params);
void sim_graph_delete(struct sim_graph *graph);
/* NULL: no memory. */
struct sim_graph *sim_graph_clone(const struct sim_graph *graph);
CUfunction sim_node_function(const struct sim_node *node); /* of a kernel node */
bool sim_node_set_attribute(struct sim_node *node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue *value);

/* Whether a node may be so (sim_user.c). */
CUresult sim_node_check(const CUgraphNodeParams *params);
CUresult sim_node_check_condition(const CUDA_CONDITIONAL_NODE_PARAMS *condition, const struct sim_graph *graph);

/* ---- edges (sim_edge.c) ---- */
/* INVALID_VALUE where there is one already. `data` NULL: full dependency. */
CUresult sim_edge_add(struct sim_node *from, struct sim_node *to, const CUgraphEdgeData *data);
/* NULL: there is none. */
struct sim_edge *sim_edge_find(const struct sim_node *from, const struct sim_node *to);
void sim_edge_delete(struct sim_edge *gone);
void sim_edge_delete_all(struct sim_node *node);
/* Brings the nodes into an order in which they can run. False: they wait for each other. */
bool sim_edge_sort(struct sim_graph *graph);
/* Whether `node` is one of `last`, or one of these waits for it. */
bool sim_edge_reaches(struct sim_node *const *last, size_t count, const struct sim_node *node);

/* ---- sets of nodes (sim_set.c): what the next node of a stream that is captured waits for ---- */
struct sim_set {
	struct sim_node **nodes;
	CUgraphEdgeData *data; /* of the edges from them */
	size_t count;
};

/* False: no memory. Nodes that are in it already stay as they are. */
bool sim_set_add_all(struct sim_set *set, const struct sim_set *more);
bool sim_set_only(struct sim_set *set, struct sim_node *node);
void sim_set_remove(struct sim_set *set, const struct sim_node *node);
void sim_set_clear(struct sim_set *set);
bool sim_set_is_plain(const struct sim_set *set); /* all of them full dependencies */
/* Nodes that a program names: INVALID_VALUE where one is not of this graph. */
CUresult sim_set_read(struct sim_set *set, const struct sim_graph *graph, const CUgraphNode *nodes,
                      const CUgraphEdgeData *data, size_t count);

/* ---- work (sim_work.c) ---- */
/* Does what a node says: copies, fills, functions of the program. Kernels do nothing. */
void sim_work_run(const struct sim_node *node);
bool sim_work_is_any(CUgraphNodeType type);

/* ---- user objects and conditional handles (sim_user.c) ---- */
CUresult sim_user_hold_same(struct sim_graph *copy, const struct sim_graph *graph);
void sim_user_release_all(struct sim_graph *graph);
/* What a condition is when a graph starts. Kernels that would set it do not run. */
unsigned sim_condition_value(CUgraphConditionalHandle handle);

#endif
