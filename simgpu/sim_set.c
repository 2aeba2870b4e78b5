/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of nodes, small ones: what a stream that is captured did last. */
#include <stdlib.h>
#include <string.h>

#include "sim_graph.h"

static bool put(struct sim_set *set, struct sim_node *node, const CUgraphEdgeData *data)
{
	struct sim_node **nodes;
	CUgraphEdgeData *edges;
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->nodes[i] == node)
			return true;
	nodes = realloc(set->nodes, (set->count + 1) * sizeof(struct sim_node *));
	if (!nodes)
		return false;
	set->nodes = nodes;
	edges = realloc(set->data, (set->count + 1) * sizeof(*edges));
	if (!edges)
		return false;
	set->data = edges;
	set->nodes[set->count] = node;
	memset(&set->data[set->count], 0, sizeof(*edges));
	if (data)
		set->data[set->count] = *data;
	set->count++;
	return true;
}

bool sim_set_add_all(struct sim_set *set, const struct sim_set *more)
{
	size_t i;

	for (i = 0; i < more->count; i++)
		if (!put(set, more->nodes[i], &more->data[i]))
			return false;
	return true;
}

bool sim_set_only(struct sim_set *set, struct sim_node *node)
{
	set->count = 0;
	return put(set, node, NULL);
}

void sim_set_remove(struct sim_set *set, const struct sim_node *node)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->nodes[i] == node) {
			set->count--;
			set->nodes[i] = set->nodes[set->count];
			set->data[i] = set->data[set->count];
			return;
		}
}

void sim_set_clear(struct sim_set *set)
{
	free(set->nodes);
	free(set->data);
	memset(set, 0, sizeof(*set));
}

bool sim_set_is_plain(const struct sim_set *set)
{
	static const CUgraphEdgeData plain;
	size_t i;

	for (i = 0; i < set->count; i++)
		if (memcmp(&set->data[i], &plain, sizeof(plain)) != 0)
			return false;
	return true;
}

CUresult sim_set_read(struct sim_set *set, const struct sim_graph *graph, const CUgraphNode *nodes,
                      const CUgraphEdgeData *data, size_t count)
{
	CUresult result = CUDA_SUCCESS;
	size_t i;

	for (i = 0; i < count && result == CUDA_SUCCESS; i++) {
		struct sim_node *node = sim_object_get(nodes[i], SIM_NODE);

		if (!node || node->graph != graph)
			result = CUDA_ERROR_INVALID_VALUE;
		else if (!put(set, node, data ? &data[i] : NULL))
			result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (result != CUDA_SUCCESS)
		sim_set_clear(set);
	return result;
}
