/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a graph says of itself. Nodes keep no parameters here, so all nodes of a kind look alike;
 * what one was captured after, and how many there are, is as it was.
 */
#include <string.h>

#include "sim_graph.h"

/* sizeof(CUDA_MEMCPY3D), of which nothing else is needed. */
#define MEMCPY3D_BYTES 200

static struct sim_node *node_of(CUgraphNode handle, CUgraphNodeType type)
{
	struct sim_node *node = sim_object_get(handle, SIM_NODE);

	return node && node->type == type ? node : NULL;
}

/* A capture of one stream is a chain. */
CUresult sim_body_cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
				  size_t *numEdges)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct sim_node *node;
	size_t i = 0;

	if (!graph || !numEdges || !from != !to)
		return CUDA_ERROR_INVALID_VALUE;
	for (node = graph->first; from && node && node->next && i < *numEdges;
	     node = node->next, i++) {
		from[i] = (CUgraphNode)node;
		to[i] = (CUgraphNode)node->next;
	}
	*numEdges = graph->count ? graph->count - 1 : 0;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
						CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	struct sim_node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL);

	if (!node || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	memset(nodeParams, 0, sizeof(*nodeParams));
	nodeParams->func = node->function;
	nodeParams->gridDimX = nodeParams->gridDimY = nodeParams->gridDimZ = 1;
	nodeParams->blockDimX = nodeParams->blockDimY = nodeParams->blockDimZ = 1;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
						CUkernelNodeAttrValue *value_out)
{
	if (!node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL) || !value_out || attr < 1 || attr > 14)
		return CUDA_ERROR_INVALID_VALUE;
	memset(value_out, 0, sizeof(*value_out));
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
	if (!node_of(hNode, CU_GRAPH_NODE_TYPE_MEMCPY) || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	memset(nodeParams, 0, MEMCPY3D_BYTES);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
	if (!node_of(hNode, CU_GRAPH_NODE_TYPE_MEMSET) || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	memset(nodeParams, 0, sizeof(*nodeParams));
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
	struct sim_node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_GRAPH);

	if (!node || !phGraph)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)node->child;
	return CUDA_SUCCESS;
}
