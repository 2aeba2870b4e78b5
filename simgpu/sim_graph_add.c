/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that a program adds to a graph, one function for each kind and one for all. */
#include <string.h>

#include "sim_graph.h"

static CUresult link(struct sim_node *node, const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count)
{
	CUresult result = CUDA_SUCCESS;
	size_t i;

	for (i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = sim_edge_add((struct sim_node *)dependencies[i], node, data ? &data[i] : NULL);
	return result;
}

static CUresult check_dependencies(const struct sim_graph *graph, const CUgraphNode *dependencies, size_t count)
{
	size_t i, j;

	if (count && !dependencies)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		const struct sim_node *node = sim_object_get(dependencies[i], SIM_NODE);

		if (!node || node->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
		for (j = 0; j < i && count < 1000; j++)
			if (dependencies[j] == dependencies[i])
				return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                    CUgraphNodeParams *nodeParams)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct sim_node *node;
	CUresult result;

	if (!graph || !phGraphNode || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	result = check_dependencies(graph, dependencies, numDependencies);
	if (result == CUDA_SUCCESS)
		result = sim_graph_add(graph, nodeParams, &node);
	if (result == CUDA_SUCCESS)
		result = link(node, dependencies, dependencyData, numDependencies);
	if (result == CUDA_SUCCESS)
		*phGraphNode = (CUgraphNode)node;
	return result;
}

CUresult sim_body_cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	return sim_body_cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, nodeParams);
}

/* A node that waits wholly for the nodes it depends on: its edges have no data. */
static CUresult add(CUgraphNode *made, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                    CUgraphNodeParams *params)
{
	return sim_body_cuGraphAddNode_v2(made, graph, dependencies, NULL, count, params);
}

CUresult sim_body_cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_KERNEL };

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&params.kernel, nodeParams, sizeof(*nodeParams));
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                          size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_KERNEL };

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	params.kernel = *nodeParams;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                       CUcontext ctx)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEMSET };

	if (!memsetParams)
		return CUDA_ERROR_INVALID_VALUE;
	params.memset.of = *memsetParams;
	params.memset.ctx = ctx;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEMCPY };

	if (!copyParams)
		return CUDA_ERROR_INVALID_VALUE;
	params.memcpy.copyParams = *copyParams;
	params.memcpy.copyCtx = ctx;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                      size_t numDependencies)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_EMPTY };

	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_HOST };

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	params.host = *nodeParams;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                            size_t numDependencies, CUevent event)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD };

	params.eventRecord.event = event;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                          size_t numDependencies, CUevent event)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_WAIT_EVENT };

	params.eventWait.event = event;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                           size_t numDependencies, CUgraph childGraph)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_GRAPH };

	params.graph.graph = childGraph;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                         size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };
	CUresult result;

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	params.alloc = *nodeParams;
	result = add(phGraphNode, hGraph, dependencies, numDependencies, &params);
	nodeParams->dptr = params.alloc.dptr;
	return result;
}

CUresult sim_body_cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                        size_t numDependencies, CUdeviceptr dptr)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEM_FREE };

	params.free.dptr = dptr;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult sim_body_cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                           size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP };

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	params.memOp = *nodeParams;
	return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}
