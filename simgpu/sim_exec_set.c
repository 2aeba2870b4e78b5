/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs that a program changes: a node of it, or all that another graph says. */
#include <string.h>

#include "sim_exec.h"

/* The copy that an executable graph has of a node. */
static struct sim_node *copy_of(const struct sim_exec *exec, CUgraphNode original)
{
	struct sim_node *node = exec->graph->first;

	while (node && (CUgraphNode)node->origin != original)
		node = node->next;
	return node;
}

static CUresult set(CUgraphExec handle, CUgraphNode original, const CUgraphNodeParams *params)
{
	struct sim_exec *exec = sim_exec_get(handle);
	struct sim_node *node = exec && original ? copy_of(exec, original) : NULL;
	CUresult result;

	if (!node || node->type != params->type)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_graph_set(node, params);
	if (result == CUDA_SUCCESS && node->type == CU_GRAPH_NODE_TYPE_KERNEL)
		result = sim_function_launch(exec->object.context, sim_node_function(node), NULL);
	return result;
}

/* `bytes` of parameters as the function for one type of node has them. */
static CUresult set_member(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, const void *from, size_t bytes)
{
	CUgraphNodeParams params = { .type = type };

	if (!from)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(type == CU_GRAPH_NODE_TYPE_MEMCPY ? (void *)&params.memcpy.copyParams : (void *)&params.reserved1, from,
	       bytes);
	return set(exec, node, &params);
}

CUresult sim_body_cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	(void)ctx;
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY, copyParams, sizeof(*copyParams));
}

CUresult sim_body_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
	(void)ctx;
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET, memsetParams, sizeof(*memsetParams));
}

CUresult sim_body_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &event, sizeof(event));
}

CUresult sim_body_cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &event, sizeof(event));
}

CUresult sim_body_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
	return set_member(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	switch (nodeParams->type) {
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return CUDA_ERROR_NOT_SUPPORTED;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return sim_body_cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, nodeParams->graph.graph);
	default:
		return set(hGraphExec, hNode, nodeParams);
	}
}

/* ---- nodes that a launch leaves out ---- */
static struct sim_node *node_that_can_be_off(CUgraphExec handle, CUgraphNode original)
{
	struct sim_exec *exec = sim_exec_get(handle);
	struct sim_node *node = exec && original ? copy_of(exec, original) : NULL;

	if (!node)
		return NULL;
	return node->type == CU_GRAPH_NODE_TYPE_KERNEL || node->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
	               node->type == CU_GRAPH_NODE_TYPE_MEMSET
	           ? node
	           : NULL;
}

CUresult sim_body_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
	struct sim_node *node = node_that_can_be_off(hGraphExec, hNode);

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	node->is_disabled = !isEnabled;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)
{
	struct sim_node *node = node_that_can_be_off(hGraphExec, hNode);

	if (!node || !isEnabled)
		return CUDA_ERROR_INVALID_VALUE;
	*isEnabled = !node->is_disabled;
	return CUDA_SUCCESS;
}

/* ---- updates ---- */
/* The first node of `graph` that is not as that of `mine` in its place, in type and in edges. */
static CUgraphExecUpdateResult compare(struct sim_graph *mine, struct sim_graph *graph, struct sim_node **different)
{
	struct sim_node *a, *b;
	unsigned i;

	*different = NULL;
	if (mine->count != graph->count || mine->edges != graph->edges)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (a = mine->first, b = graph->first; a && b; a = a->next, b = b->next) {
		*different = b;
		if (a->type != b->type)
			return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
		if (a->in_nr != b->in_nr || a->out_nr != b->out_nr || a->children_nr != b->children_nr)
			return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		if (a->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || a->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
			return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
		for (i = 0; i < a->children_nr; i++) {
			struct sim_node *inner;
			CUgraphExecUpdateResult result = compare(a->children[i], b->children[i], &inner);

			if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
				return result;
		}
	}
	*different = NULL;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult update(struct sim_exec *exec, struct sim_graph *graph, struct sim_node **different)
{
	struct sim_graph *copy = sim_graph_clone(graph);
	CUgraphExecUpdateResult result;
	struct sim_node *inner, *a, *b;

	*different = NULL;
	if (!copy || !sim_edge_sort(copy)) {
		if (copy)
			sim_graph_delete(copy);
		return CU_GRAPH_EXEC_UPDATE_ERROR;
	}
	result = compare(exec->graph, copy, &inner);
	if (inner)
		*different = (struct sim_node *)inner->origin;
	if (result == CU_GRAPH_EXEC_UPDATE_SUCCESS && sim_exec_prepare(exec->object.context, copy) != CUDA_SUCCESS)
		result = CU_GRAPH_EXEC_UPDATE_ERROR;
	if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
		sim_graph_delete(copy);
		return result;
	}
	/* Its nodes are still known by those of the graph that it was made from. */
	for (a = exec->graph->first, b = copy->first; a; a = a->next, b = b->next)
		b->origin = a->origin;
	sim_graph_delete(exec->graph);
	exec->graph = copy;
	exec->has_work = sim_exec_has_work(copy);
	return result;
}

CUresult sim_body_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
	struct sim_exec *exec = sim_exec_get(hGraphExec);
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct sim_node *different;
	CUgraphExecUpdateResult result;

	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	result = update(exec, graph, &different);
	if (resultInfo) {
		resultInfo->result = result;
		resultInfo->errorNode = (CUgraphNode)different;
		resultInfo->errorFromNode = NULL;
	}
	return result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult sim_body_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                    CUgraphExecUpdateResult *updateResult_out)
{
	CUgraphExecUpdateResultInfo info = { 0 };
	CUresult result = sim_body_cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);

	if (hErrorNode_out)
		*hErrorNode_out = info.errorNode;
	if (updateResult_out)
		*updateResult_out = info.result;
	return result;
}

CUresult sim_body_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
	struct sim_exec *exec = sim_exec_get(hGraphExec);
	struct sim_node *node = exec && hNode ? copy_of(exec, hNode) : NULL, *different;
	struct sim_graph *child = sim_object_get(childGraph, SIM_GRAPH), *copy;

	if (!node || !child || node->type != CU_GRAPH_NODE_TYPE_GRAPH)
		return CUDA_ERROR_INVALID_VALUE;
	copy = sim_graph_clone(child);
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!sim_edge_sort(copy) || compare(node->children[0], copy, &different)) {
		sim_graph_delete(copy);
		return CUDA_ERROR_INVALID_VALUE;
	}
	sim_graph_delete(node->children[0]);
	copy->is_child = true;
	node->children[0] = copy;
	exec->has_work = sim_exec_has_work(exec->graph);
	return sim_exec_prepare(exec->object.context, copy);
}
