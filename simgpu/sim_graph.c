/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as a program builds them: lists of nodes, all of it host memory. */
#include "sim_graph.h"

static void init(struct sim_graph *graph)
{
	graph->last = &graph->first;
}

struct sim_graph *sim_graph_new(void)
{
	struct sim_graph *graph = sim_object_new(SIM_GRAPH, NULL, sizeof(*graph));

	if (graph)
		init(graph);
	return graph;
}

static struct sim_node *add_node(struct sim_graph *graph, CUgraphNodeType type)
{
	struct sim_node *node = sim_object_new(SIM_NODE, NULL, sizeof(*node));

	if (!node)
		return NULL;
	node->graph = graph;
	node->type = type;
	*graph->last = node;
	graph->last = &node->next;
	graph->count++;
	return node;
}

CUresult sim_graph_add(struct sim_graph *graph, CUgraphNodeType type, CUfunction function,
		       CUgraphNode *handle)
{
	struct sim_node *node;

	if (function && !sim_object_get(function, SIM_FUNCTION) &&
	    !sim_object_get(function, SIM_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	node = add_node(graph, type);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->function = function;
	if (handle)
		*handle = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

/* The dependencies change no figure; they must only exist. */
static CUresult add(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *dependencies,
		    size_t count, CUgraphNodeType type, CUfunction function)
{
	struct sim_graph *graph = sim_object_get(graph_handle, SIM_GRAPH);
	size_t i;

	if (!graph || !handle || (count && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!sim_object_get(dependencies[i], SIM_NODE))
			return CUDA_ERROR_INVALID_VALUE;
	return sim_graph_add(graph, type, function, handle);
}

CUresult sim_body_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)sim_graph_new();
	return *phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void delete_graph(struct sim_graph *graph)
{
	while (graph->first) {
		struct sim_node *node = graph->first;

		graph->first = node->next;
		if (node->child)
			delete_graph(node->child);
		sim_object_delete(node);
	}
	sim_object_delete(graph);
}

CUresult sim_body_cuGraphDestroy(CUgraph hGraph)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	delete_graph(graph);
	return CUDA_SUCCESS;
}

static struct sim_graph *clone(const struct sim_graph *graph)
{
	struct sim_graph *copy = sim_graph_new();
	struct sim_node *node, *made;

	for (node = graph->first; copy && node; node = node->next) {
		made = add_node(copy, node->type);
		if (!made)
			return NULL;
		made->function = node->function;
		made->bytes = node->bytes;
		made->address = node->address;
		made->child = node->child ? clone(node->child) : NULL;
	}
	return copy;
}

CUresult sim_body_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
	struct sim_graph *graph = sim_object_get(originalGraph, SIM_GRAPH);

	if (!phGraphClone || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraphClone = (CUgraph)clone(graph);
	return *phGraphClone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_body_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct sim_node *node;
	size_t i = 0;

	if (!graph || !numNodes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!nodes) {
		*numNodes = graph->count;
		return CUDA_SUCCESS;
	}
	for (node = graph->first; node && i < *numNodes; node = node->next)
		nodes[i++] = (CUgraphNode)node;
	while (i < *numNodes)
		nodes[i++] = NULL;
	*numNodes = graph->count;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
	struct sim_node *node = sim_object_get(hNode, SIM_NODE);

	if (!node || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = node->type;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				       const CUgraphNode *dependencies, size_t numDependencies,
				       const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	if (!nodeParams || !nodeParams->func)
		return CUDA_ERROR_INVALID_VALUE;
	return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_KERNEL,
		   nodeParams->func);
}

static CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
	return params->func ? params->func : (CUfunction)params->kern;
}

CUresult sim_body_cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
					  const CUgraphNode *dependencies, size_t numDependencies,
					  const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	if (!nodeParams || !function_of(nodeParams))
		return CUDA_ERROR_INVALID_VALUE;
	return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_KERNEL,
		   function_of(nodeParams));
}

CUresult sim_body_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
						const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	struct sim_node *node = sim_object_get(hNode, SIM_NODE);

	if (!node || node->type != CU_GRAPH_NODE_TYPE_KERNEL || !nodeParams ||
	    !function_of(nodeParams))
		return CUDA_ERROR_INVALID_VALUE;
	node->function = function_of(nodeParams);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				       const CUgraphNode *dependencies, size_t numDependencies,
				       const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
	(void)ctx;
	if (!memsetParams || !sim_range_at(memsetParams->dst))
		return CUDA_ERROR_INVALID_VALUE;
	return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_MEMSET,
		   NULL);
}

CUresult sim_body_cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				       const CUgraphNode *dependencies, size_t numDependencies,
				       const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	(void)ctx;
	if (!copyParams)
		return CUDA_ERROR_INVALID_VALUE;
	return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_MEMCPY,
		   NULL);
}

CUresult sim_body_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				      const CUgraphNode *dependencies, size_t numDependencies)
{
	return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_EMPTY,
		   NULL);
}

CUresult sim_body_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				     const CUgraphNode *dependencies, size_t numDependencies,
				     const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	if (!nodeParams || !nodeParams->fn)
		return CUDA_ERROR_INVALID_VALUE;
	return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_HOST,
		   NULL);
}

CUresult sim_body_cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					    const CUgraphNode *dependencies, size_t numDependencies,
					    CUevent event)
{
	if (!sim_object_get(event, SIM_EVENT))
		return CUDA_ERROR_INVALID_VALUE;
	return add(phGraphNode, hGraph, dependencies, numDependencies,
		   CU_GRAPH_NODE_TYPE_EVENT_RECORD, NULL);
}

CUresult sim_body_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					   const CUgraphNode *dependencies, size_t numDependencies,
					   CUgraph childGraph)
{
	struct sim_graph *child = sim_object_get(childGraph, SIM_GRAPH);
	CUresult result;

	if (!child)
		return CUDA_ERROR_INVALID_VALUE;
	result = add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_GRAPH,
		     NULL);
	if (result == CUDA_SUCCESS)
		((struct sim_node *)*phGraphNode)->child = clone(child);
	return result;
}

/* The address is fixed now; the device's memory comes with a launch (sim_exec.c). */
CUresult sim_body_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					 const CUgraphNode *dependencies, size_t numDependencies,
					 CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	uint64_t span, start, offset = 0;
	struct sim_range *range;
	CUresult result;

	if (!nodeParams || !nodeParams->bytesize ||
	    !sim_is_device(nodeParams->poolProps.location.id))
		return CUDA_ERROR_INVALID_VALUE;
	span = sim_round_up(nodeParams->bytesize, sim.profile.page);
	start = span < nodeParams->bytesize ? 0 : sim_backing_map(span, &offset);
	range = start ? sim_range_add(SIM_RANGE_GRAPH, start, nodeParams->bytesize) : NULL;
	if (!range) {
		if (start)
			sim_backing_unmap(start, span, offset);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	result = add(phGraphNode, hGraph, dependencies, numDependencies,
		     CU_GRAPH_NODE_TYPE_MEM_ALLOC, NULL);
	if (result != CUDA_SUCCESS) {
		sim_range_remove(range);
		sim_backing_unmap(start, span, offset);
		return result;
	}
	range->span = span;
	range->offset = offset;
	range->device = nodeParams->poolProps.location.id;
	nodeParams->dptr = start;
	((struct sim_node *)*phGraphNode)->bytes = span;
	((struct sim_node *)*phGraphNode)->address = start;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					const CUgraphNode *dependencies, size_t numDependencies,
					CUdeviceptr dptr)
{
	struct sim_range *range = sim_range_exactly(dptr);
	CUresult result;

	if (!range || range->kind != SIM_RANGE_GRAPH)
		return CUDA_ERROR_INVALID_VALUE;
	result = add(phGraphNode, hGraph, dependencies, numDependencies,
		     CU_GRAPH_NODE_TYPE_MEM_FREE, NULL);
	if (result == CUDA_SUCCESS) {
		((struct sim_node *)*phGraphNode)->bytes = range->span;
		((struct sim_node *)*phGraphNode)->address = dptr;
	}
	return result;
}
