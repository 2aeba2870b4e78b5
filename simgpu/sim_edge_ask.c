/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of graphs as a program asks for them and changes them. */
#include <string.h>

#include "sim_graph.h"

/* ---- what a program asks ---- */
static bool is_plain(const CUgraphEdgeData *data)
{
	static const CUgraphEdgeData plain;

	return memcmp(data, &plain, sizeof(plain)) == 0;
}

/* What was asked for in arrays of `*count` at most; the rest of them is filled with nothing. */
struct list {
	CUgraphNode *from, *to;
	CUgraphEdgeData *data;
	size_t room, count;
	bool is_lossy; /* an edge says more than there is room to tell */
};

static void put(struct list *list, const struct sim_edge *edge)
{
	if (!list->data && !is_plain(&edge->data))
		list->is_lossy = true;
	if (list->count < list->room) {
		if (list->from)
			list->from[list->count] = (CUgraphNode)edge->from;
		if (list->to)
			list->to[list->count] = (CUgraphNode)edge->to;
		if (list->data)
			list->data[list->count] = edge->data;
	}
	list->count++;
}

static CUresult answer(struct list *list, size_t *count)
{
	size_t i;

	for (i = list->count; i < list->room; i++) {
		if (list->from)
			list->from[i] = NULL;
		if (list->to)
			list->to[i] = NULL;
	}
	*count = !list->room || list->count < list->room ? list->count : list->room;
	return list->is_lossy ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS;
}

CUresult sim_body_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                                     size_t *numEdges)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct list list = { from, to, edgeData, 0, 0, false };
	const struct sim_node *node;
	const struct sim_edge *edge;

	if (!graph || !numEdges || !from != !to || (edgeData && !from))
		return CUDA_ERROR_INVALID_VALUE;
	list.room = from ? *numEdges : 0;
	for (node = graph->first; node; node = node->next)
		for (edge = node->out; edge; edge = edge->next_out)
			put(&list, edge);
	return answer(&list, numEdges);
}

CUresult sim_body_cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
	return sim_body_cuGraphGetEdges_v2(hGraph, from, to, NULL, numEdges);
}

CUresult sim_body_cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                                size_t *numDependencies)
{
	struct sim_node *node = sim_object_get(hNode, SIM_NODE);
	struct list list = { dependencies, NULL, edgeData, 0, 0, false };
	const struct sim_edge *edge;

	if (!node || !numDependencies || (edgeData && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	list.room = dependencies ? *numDependencies : 0;
	for (edge = node->in; edge; edge = edge->next_in)
		put(&list, edge);
	return answer(&list, numDependencies);
}

CUresult sim_body_cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
	return sim_body_cuGraphNodeGetDependencies_v2(hNode, dependencies, NULL, numDependencies);
}

CUresult sim_body_cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                                  CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
	struct sim_node *node = sim_object_get(hNode, SIM_NODE);
	struct list list = { NULL, dependentNodes, edgeData, 0, 0, false };
	const struct sim_edge *edge;

	if (!node || !numDependentNodes || (edgeData && !dependentNodes))
		return CUDA_ERROR_INVALID_VALUE;
	list.room = dependentNodes ? *numDependentNodes : 0;
	for (edge = node->out; edge; edge = edge->next_out)
		put(&list, edge);
	return answer(&list, numDependentNodes);
}

CUresult sim_body_cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                               size_t *numDependentNodes)
{
	return sim_body_cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, NULL, numDependentNodes);
}

/* ---- what a program changes ---- */
CUresult sim_body_cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                            const CUgraphEdgeData *edgeData, size_t numDependencies)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	CUresult result = CUDA_SUCCESS;
	size_t i;

	if (!graph || (numDependencies && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < numDependencies && result == CUDA_SUCCESS; i++) {
		struct sim_node *one = sim_object_get(from[i], SIM_NODE), *other = sim_object_get(to[i], SIM_NODE);

		result = one && other && one->graph == graph ? sim_edge_add(one, other, edgeData ? &edgeData[i] : NULL)
		                                             : CUDA_ERROR_INVALID_VALUE;
	}
	return result;
}

CUresult sim_body_cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                         size_t numDependencies)
{
	return sim_body_cuGraphAddDependencies_v2(hGraph, from, to, NULL, numDependencies);
}

/* An edge is only found by all that it says. */
CUresult sim_body_cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                               const CUgraphEdgeData *edgeData, size_t numDependencies)
{
	static const CUgraphEdgeData plain;
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	size_t i;

	if (!graph || (numDependencies && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < numDependencies; i++) {
		struct sim_node *one = sim_object_get(from[i], SIM_NODE), *other = sim_object_get(to[i], SIM_NODE);
		const CUgraphEdgeData *wanted = edgeData ? &edgeData[i] : &plain;
		struct sim_edge *edge = one && other && one->graph == graph ? sim_edge_find(one, other) : NULL;

		if (!edge || memcmp(&edge->data, wanted, sizeof(*wanted)) != 0)
			return CUDA_ERROR_INVALID_VALUE;
		sim_edge_delete(edge);
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                            size_t numDependencies)
{
	return sim_body_cuGraphRemoveDependencies_v2(hGraph, from, to, NULL, numDependencies);
}
