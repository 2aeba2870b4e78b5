/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph says of itself, node by node, and what a program changes of one. */
#include <string.h>

#include "sim_graph.h"

static struct sim_node *node_of(CUgraphNode handle, CUgraphNodeType type)
{
	struct sim_node *node = sim_object_get(handle, SIM_NODE);

	return node && node->type == type ? node : NULL;
}

/* ---- nodes of a graph ---- */
static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool only_roots)
{
	struct sim_graph *graph = sim_object_get(handle, SIM_GRAPH);
	const struct sim_node *node;
	size_t found = 0, room, i;

	if (!graph || !count)
		return CUDA_ERROR_INVALID_VALUE;
	room = nodes ? *count : 0;
	for (node = graph->first; node; node = node->next) {
		if (only_roots && node->in_nr)
			continue;
		if (found < room)
			nodes[found] = (CUgraphNode)node;
		found++;
	}
	for (i = found; i < room; i++)
		nodes[i] = NULL;
	*count = nodes && found > room ? room : found;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
	return list_nodes(hGraph, nodes, numNodes, false);
}

CUresult sim_body_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
	return list_nodes(hGraph, rootNodes, numRootNodes, true);
}

CUresult sim_body_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
	struct sim_node *node = sim_object_get(hNode, SIM_NODE);

	if (!node || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = node->type;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
	struct sim_graph *graph = sim_object_get(hClonedGraph, SIM_GRAPH);
	struct sim_node *node;

	if (!phNode || !graph || !sim_object_get(hOriginalNode, SIM_NODE))
		return CUDA_ERROR_INVALID_VALUE;
	for (node = graph->first; node && (CUgraphNode)node->origin != hOriginalNode;)
		node = node->next;
	*phNode = (CUgraphNode)node;
	return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
	struct sim_node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_GRAPH);

	if (!node || !phGraph)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)node->children[0];
	return CUDA_SUCCESS;
}

/* ---- what nodes do ---- */
/* One member of the parameters, of `bytes`, of a node of this type: out of it, and into it. */
static CUresult get(CUgraphNode handle, CUgraphNodeType type, void *to, size_t bytes)
{
	struct sim_node *node = node_of(handle, type);

	if (!node || !to)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(to,
	       type == CU_GRAPH_NODE_TYPE_MEMCPY ? (void *)&node->params.memcpy.copyParams
	                                         : (void *)&node->params.reserved1,
	       bytes);
	return CUDA_SUCCESS;
}

static CUresult set(CUgraphNode handle, CUgraphNodeType type, const void *from, size_t bytes)
{
	struct sim_node *node = node_of(handle, type);
	CUgraphNodeParams params;

	if (!node || !from)
		return CUDA_ERROR_INVALID_VALUE;
	params = node->params;
	memcpy(type == CU_GRAPH_NODE_TYPE_MEMCPY ? (void *)&params.memcpy.copyParams : (void *)&params.reserved1, from,
	       bytes);
	return sim_graph_set(node, &params);
}

CUresult sim_body_cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	struct sim_node *node = sim_object_get(hNode, SIM_NODE);

	if (!node || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	switch (node->type) {
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
	case CU_GRAPH_NODE_TYPE_GRAPH:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return CUDA_ERROR_NOT_SUPPORTED;
	default:
		return sim_graph_set(node, nodeParams);
	}
}

CUresult sim_body_cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, sizeof(*nodeParams));
}

CUresult sim_body_cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out, sizeof(*event_out));
}

CUresult sim_body_cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &event, sizeof(event));
}

CUresult sim_body_cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out, sizeof(*event_out));
}

CUresult sim_body_cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &event, sizeof(event));
}

CUresult sim_body_cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, sizeof(*params_out));
}

CUresult sim_body_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out, sizeof(*dptr_out));
}

CUresult sim_body_cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
	return get(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out, sizeof(*nodeParams_out));
}

CUresult sim_body_cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
	return set(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams, sizeof(*nodeParams));
}

/* ---- attributes of kernel nodes ---- */
/* Attributes that a kernel node may have (CUlaunchAttributeID). */
static bool is_attribute(CUkernelNodeAttrID id)
{
	return id >= 1 && id <= 16 && id != 3 && id != 7 && id != 12 && id != 15;
}

CUresult sim_body_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                CUkernelNodeAttrValue *value_out)
{
	struct sim_node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	const struct sim_attribute *at;

	if (!node || !value_out || !is_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	memset(value_out, 0, sizeof(*value_out));
	for (at = node->attributes; at; at = at->next)
		if (at->id == attr)
			*value_out = at->value;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                const CUkernelNodeAttrValue *value)
{
	struct sim_node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL);

	if (!node || !value || !is_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	return sim_node_set_attribute(node, attr, value) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_body_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
	struct sim_node *to = node_of(dst, CU_GRAPH_NODE_TYPE_KERNEL), *from = node_of(src, CU_GRAPH_NODE_TYPE_KERNEL);
	const struct sim_attribute *at;

	if (!to || !from)
		return CUDA_ERROR_INVALID_VALUE;
	for (at = from->attributes; at; at = at->next)
		if (!sim_node_set_attribute(to, at->id, &at->value))
			return CUDA_ERROR_OUT_OF_MEMORY;
	return CUDA_SUCCESS;
}
