/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs. As measured: one takes so many bytes for each node, by its kind, out of memory
 * that the context holds for all of them, that grows in steps and may stay when one is destroyed.
 * An executable graph keeps a copy of the graph, for that may change or end.
 */
#include "sim_exec.h"

/* Of a node that is no kernel. */
static uint64_t bytes_of(CUgraphNodeType type)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return sim.profile.graph_memset;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return sim.profile.graph_memcpy;
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return sim.profile.graph_empty;
	default:
		return 0;
	}
}

/* Bytes of a memory node. */
static uint64_t exec_span(const struct sim_node *node)
{
	const struct sim_range *range;

	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return sim_round_up(node->params.alloc.bytesize, sim.profile.page);
	range = sim_range_exactly(node->params.free.dptr);
	return range ? range->span : 0;
}

static struct sim_shape measure(const struct sim_graph *graph)
{
	struct sim_shape shape = { 0 }, child;
	const struct sim_node *node;
	unsigned i;

	/* Memory nodes in the order in which they were added, which is one that they can run in. */

	for (node = graph->first; node; node = node->next) {
		shape.nodes++;
		shape.bytes += bytes_of(node->type);
		for (i = 0; i < node->children_nr; i++) { /* which may have no memory nodes */
			child = measure(node->children[i]);
			shape.nodes += child.nodes;
			shape.kernels += child.kernels;
			shape.bytes += child.bytes;
			shape.param_bytes += child.param_bytes;
		}
		if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
			uint64_t params = sim_function_params(sim_node_function(node));

			shape.kernels++;
			shape.bytes += sim.profile.graph_node;
			if (params > sim.profile.graph_param_small)
				shape.param_bytes += params * sim.profile.graph_param_percent / 100;
		} else if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
			shape.left += exec_span(node);
			if (shape.left > shape.most)
				shape.most = shape.left;
		} else if (node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && shape.left >= exec_span(node)) {
			shape.left -= exec_span(node);
		}
	}
	return shape;
}

static CUresult hold_shape(struct sim_context *context, const struct sim_shape *shape)
{
	uint64_t step = sim.profile.graph_step;
	CUresult result = sim_context_hold(context, &context->nodes, shape->bytes, step);

	if (result != CUDA_SUCCESS)
		return result;
	result = sim_context_hold(context, &context->params, shape->param_bytes, step);
	if (result != CUDA_SUCCESS)
		context->nodes.used -= shape->bytes;
	return result;
}

static void drop(struct sim_context *context, struct sim_hoard *hoard, uint64_t bytes, uint64_t free)
{
	uint64_t needed = free;

	hoard->used -= bytes;
	if (sim.profile.graph_kept)
		return;
	if (hoard->used > free)
		needed += sim_round_up(hoard->used - free, sim.profile.graph_step);
	sim_context_give(context, hoard->room - needed);
	hoard->room = needed;
}

static void let_go(struct sim_context *context, const struct sim_shape *shape)
{
	drop(context, &context->nodes, shape->bytes, sim.profile.graph_free);
	drop(context, &context->params, shape->param_bytes, sim.profile.graph_param_free);
}

/* A graph's kernels are ready to run once it can be launched. */
CUresult sim_exec_prepare(struct sim_context *context, const struct sim_graph *graph)
{
	CUresult result = CUDA_SUCCESS;
	const struct sim_node *node;
	unsigned i;

	for (node = graph->first; node && result == CUDA_SUCCESS; node = node->next) {
		if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
			result = sim_function_launch(context, sim_node_function(node), NULL);
		for (i = 0; i < node->children_nr && result == CUDA_SUCCESS; i++)
			result = sim_exec_prepare(context, node->children[i]);
	}
	return result;
}

bool sim_exec_has_work(const struct sim_graph *graph)
{
	const struct sim_node *node;
	unsigned i;

	for (node = graph->first; node; node = node->next) {
		if (sim_work_is_any(node->type))
			return true;
		for (i = 0; i < node->children_nr; i++)
			if (sim_exec_has_work(node->children[i]))
				return true;
	}
	return false;
}

static bool sort(struct sim_graph *graph)
{
	const struct sim_node *node;
	unsigned i;

	if (!sim_edge_sort(graph))
		return false;
	for (node = graph->first; node; node = node->next)
		for (i = 0; i < node->children_nr; i++)
			if (!sort(node->children[i]))
				return false;
	return true;
}

static CUresult make(struct sim_context *context, const struct sim_graph *graph, unsigned long long flags,
                     struct sim_exec **made)
{
	struct sim_exec *exec;

	exec = sim_object_new(SIM_EXEC, context, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->object.end = sim_exec_end;
	exec->graph = sim_graph_clone(graph);
	exec->flags = flags;
	*made = exec;
	if (!exec->graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!sort(exec->graph))
		return CUDA_ERROR_INVALID_VALUE;
	exec->shape = measure(exec->graph);
	exec->has_work = sim_exec_has_work(exec->graph);
	return sim_exec_prepare(context, exec->graph);
}

static CUresult instantiate(CUgraphExec *handle, CUgraph graph_handle, unsigned long long flags)
{
	struct sim_graph *graph = sim_object_get(graph_handle, SIM_GRAPH);
	struct sim_context *context;
	struct sim_exec *exec = NULL;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || !graph || flags > 15)
		return CUDA_ERROR_INVALID_VALUE;
	result = make(context, graph, flags, &exec);
	if (result == CUDA_SUCCESS)
		result = hold_shape(context, &exec->shape);
	if (result == CUDA_SUCCESS)
		*handle = (CUgraphExec)exec;
	else if (exec)
		sim_exec_end(&exec->object);
	return result;
}

CUresult sim_body_cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                                     char *logBuffer, size_t bufferSize)
{
	if (phErrorNode)
		*phErrorNode = NULL;
	if (logBuffer && bufferSize)
		logBuffer[0] = 0;
	return instantiate(phGraphExec, hGraph, 0);
}

CUresult sim_body_cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                                        char *logBuffer, size_t bufferSize)
{
	return sim_body_cuGraphInstantiate(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult sim_body_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
	return instantiate(phGraphExec, hGraph, flags);
}

CUresult sim_body_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                               CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	if (!instantiateParams)
		return CUDA_ERROR_INVALID_VALUE;
	instantiateParams->hErrNode_out = NULL;
	instantiateParams->result_out = 0;
	return instantiate(phGraphExec, hGraph, instantiateParams->flags);
}

CUresult sim_body_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
	struct sim_exec *exec = sim_exec_get(hGraphExec);

	if (!exec || !flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = exec->flags;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	struct sim_exec *exec = sim_exec_get(hGraphExec);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	let_go(exec->object.context, &exec->shape);
	sim_exec_forget(exec);
	exec->is_over = true;
	sim_exec_drop(exec);
	return CUDA_SUCCESS;
}
