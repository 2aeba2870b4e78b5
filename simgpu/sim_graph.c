/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as a program builds them: nodes with what they are to do, all of it host memory. A node
 * keeps copies of everything that its parameters point to, as the driver does.
 */
#include "sim_graph.h"

#include <stdlib.h>
#include <string.h>

struct sim_graph *sim_graph_new(void)
{
	struct sim_graph *graph = sim_object_new(SIM_GRAPH, NULL, sizeof(*graph));

	if (graph)
		graph->last = &graph->first;
	return graph;
}

static struct sim_node *add_node(struct sim_graph *graph, CUgraphNodeType type)
{
	struct sim_node *node = sim_object_new(SIM_NODE, NULL, sizeof(*node));

	if (!node)
		return NULL;
	node->graph = graph;
	node->type = node->params.type = type;
	node->in_last = &node->in;
	node->out_last = &node->out;
	*graph->last = node;
	graph->last = &node->next;
	graph->count++;
	return node;
}

static void forget_params(struct sim_node *node)
{
	free(node->values);
	node->values = NULL;
	if (node->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
		free(node->params.memOp.paramArray);
	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		free((void *)node->params.alloc.accessDescs);
}

static void delete_node(struct sim_node *node)
{
	struct sim_attribute *attribute;
	unsigned i;

	sim_edge_delete_all(node);
	for (i = 0; i < node->children_nr; i++)
		if (node->children[i])
			sim_graph_delete(node->children[i]);
	free(node->children);
	while ((attribute = node->attributes)) {
		node->attributes = attribute->next;
		free(attribute);
	}
	forget_params(node);
	sim_object_delete(node);
}

/* Edges go first, for each would be looked for in the lists of both of its nodes. */
void sim_graph_delete(struct sim_graph *graph)
{
	struct sim_edge *edge;
	struct sim_node *node;

	for (node = graph->first; node; node = node->next) {
		while ((edge = node->in)) {
			node->in = edge->next_in;
			free(edge);
		}
		node->out = NULL;
	}
	while ((node = graph->first)) {
		graph->first = node->next;
		delete_node(node);
	}
	sim_user_release_all(graph);
	sim_object_delete(graph);
}

/* ---- what nodes are to do ---- */
CUfunction sim_node_function(const struct sim_node *node)
{
	const CUDA_KERNEL_NODE_PARAMS_v2 *kernel = &node->params.kernel;

	return kernel->func ? kernel->func : (CUfunction)kernel->kern;
}

bool sim_node_set_attribute(struct sim_node *node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue *value)
{
	struct sim_attribute *at = node->attributes;

	while (at && at->id != id)
		at = at->next;
	if (!at) {
		at = calloc(1, sizeof(*at));
		if (!at)
			return false;
		at->id = id;
		at->next = node->attributes;
		node->attributes = at;
	}
	at->value = *value;
	return true;
}

/* What the parameters point to is the program's, which may use it for something else. */
static CUresult keep(struct sim_node *node, const CUgraphNodeParams *params)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS *ops = &params->memOp;
	const CUDA_MEM_ALLOC_NODE_PARAMS *alloc = &params->alloc;
	const void *from = NULL;
	size_t bytes = 0;
	void *copy = NULL;

	if (node->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
		from = ops->paramArray;
		bytes = ops->count * sizeof(*ops->paramArray);
	} else if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && alloc->accessDescs) {
		from = alloc->accessDescs;
		bytes = alloc->accessDescCount * sizeof(*alloc->accessDescs);
	}
	if (bytes) {
		copy = malloc(bytes);
		if (!copy)
			return CUDA_ERROR_OUT_OF_MEMORY;
		memcpy(copy, from, bytes);
	}
	forget_params(node);
	node->params = *params;
	if (node->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
		node->params.memOp.paramArray = copy;
	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		node->params.alloc.accessDescs = copy;
	if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		node->values = sim_function_copy_params(sim_node_function(node), params->kernel.kernelParams);
		node->params.kernel.kernelParams = node->values;
		node->params.kernel.extra = NULL;
	}
	return CUDA_SUCCESS;
}

CUresult sim_graph_set(struct sim_node *node, const CUgraphNodeParams *params)
{
	CUresult result = params->type == node->type ? sim_node_check(params) : CUDA_ERROR_INVALID_VALUE;

	return result == CUDA_SUCCESS ? keep(node, params) : result;
}

/* The address is fixed now; the device's memory comes with a launch (sim_exec.c). */
static CUresult give_address(CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	uint64_t span = sim_round_up(params->bytesize, sim.profile.page), start, offset = 0;
	struct sim_range *range;

	start = span < params->bytesize ? 0 : sim_backing_map(span, &offset);
	range = start ? sim_range_add(SIM_RANGE_GRAPH, start, params->bytesize) : NULL;
	if (!range) {
		if (start)
			sim_backing_unmap(start, span, offset);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	range->span = span;
	range->offset = offset;
	range->device = params->poolProps.location.id;
	params->dptr = start;
	return CUDA_SUCCESS;
}

static bool make_children(struct sim_node *node, unsigned count)
{
	node->children = calloc(count, sizeof(struct sim_graph *));
	node->children_nr = node->children ? count : 0;
	return node->children;
}

static CUresult add_children(struct sim_node *node)
{
	CUDA_CONDITIONAL_NODE_PARAMS *condition = &node->params.conditional;
	struct sim_graph *from;
	unsigned i;

	if (node->type == CU_GRAPH_NODE_TYPE_GRAPH) {
		from = sim_object_get(node->params.graph.graph, SIM_GRAPH);
		if (!make_children(node, 1))
			return CUDA_ERROR_OUT_OF_MEMORY;
		node->children[0] = node->params.graph.ownership ? from : sim_graph_clone(from);
	} else if (node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
		if (!make_children(node, condition->size))
			return CUDA_ERROR_OUT_OF_MEMORY;
		for (i = 0; i < condition->size; i++)
			node->children[i] = sim_graph_new();
		condition->phGraph_out = (CUgraph *)node->children;
	}
	for (i = 0; i < node->children_nr; i++) {
		if (!node->children[i])
			return CUDA_ERROR_OUT_OF_MEMORY;
		node->children[i]->is_child = true;
	}
	return CUDA_SUCCESS;
}

CUresult sim_graph_add(struct sim_graph *graph, CUgraphNodeParams *params, struct sim_node **made)
{
	CUresult result = sim_node_check(params);
	struct sim_node *node;

	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		result = sim_node_check_condition(&params->conditional, graph);
	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		result = give_address(&params->alloc);
	if (result != CUDA_SUCCESS)
		return result;
	node = add_node(graph, params->type);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = keep(node, params);
	if (result == CUDA_SUCCESS)
		result = add_children(node);
	if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		params->conditional.phGraph_out = node->params.conditional.phGraph_out;
	*made = node;
	return result;
}

/* ---- copies ---- */
static bool copy_node(struct sim_graph *copy, struct sim_node *node)
{
	struct sim_node *made = add_node(copy, node->type);
	const struct sim_attribute *at;
	unsigned i;

	if (!made || keep(made, &node->params) != CUDA_SUCCESS)
		return false;
	made->origin = node;
	made->is_disabled = node->is_disabled;
	node->mark = (uintptr_t)made;
	for (at = node->attributes; at; at = at->next)
		if (!sim_node_set_attribute(made, at->id, &at->value))
			return false;
	if (node->children_nr && !make_children(made, node->children_nr))
		return false;
	for (i = 0; i < node->children_nr; i++) {
		made->children[i] = sim_graph_clone(node->children[i]);
		if (!made->children[i])
			return false;
		made->children[i]->is_child = true;
	}
	if (node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		made->params.conditional.phGraph_out = (CUgraph *)made->children;
	return true;
}

static bool copy_edges(const struct sim_node *node)
{
	const struct sim_edge *edge;

	for (edge = node->in; edge; edge = edge->next_in)
		if (sim_edge_add((struct sim_node *)edge->from->mark, (struct sim_node *)node->mark, &edge->data) !=
		    CUDA_SUCCESS)
			return false;
	return true;
}

struct sim_graph *sim_graph_clone(const struct sim_graph *graph)
{
	struct sim_graph *copy = sim_graph_new();
	struct sim_node *node;
	bool is_done = copy;

	for (node = graph->first; is_done && node; node = node->next)
		is_done = copy_node(copy, node);
	for (node = graph->first; is_done && node; node = node->next)
		is_done = copy_edges(node);
	if (is_done)
		is_done = sim_user_hold_same(copy, graph) == CUDA_SUCCESS;
	if (copy && !is_done) {
		sim_graph_delete(copy);
		return NULL;
	}
	return copy;
}

/* ---- what a program asks for ---- */
CUresult sim_body_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)sim_graph_new();
	return *phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_body_cuGraphDestroy(CUgraph hGraph)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);

	if (!graph || graph->is_child)
		return CUDA_ERROR_INVALID_VALUE;
	sim_capture_forget_graph(graph);
	sim_graph_delete(graph);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
	struct sim_graph *graph = sim_object_get(originalGraph, SIM_GRAPH);

	if (!phGraphClone || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraphClone = (CUgraph)sim_graph_clone(graph);
	return *phGraphClone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_body_cuGraphDestroyNode(CUgraphNode hNode)
{
	struct sim_node *node = sim_object_get(hNode, SIM_NODE);
	struct sim_node **link;

	/* Memory nodes stay for as long as their graph. */
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
		return CUDA_ERROR_NOT_SUPPORTED;
	sim_capture_forget_node(node);
	for (link = &node->graph->first; *link != node;)
		link = &(*link)->next;
	*link = node->next;
	if (!node->next)
		node->graph->last = link;
	node->graph->count--;
	delete_node(node);
	return CUDA_SUCCESS;
}
