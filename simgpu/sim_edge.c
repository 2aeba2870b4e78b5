/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of graphs: who waits for whom. */
#include <stdlib.h>
#include <string.h>

#include "sim_graph.h"

struct sim_edge *sim_edge_find(const struct sim_node *from, const struct sim_node *to)
{
	struct sim_edge *edge;

	if (from->out_nr < to->in_nr) {
		for (edge = from->out; edge && edge->to != to;)
			edge = edge->next_out;
		return edge;
	}
	for (edge = to->in; edge && edge->from != from;)
		edge = edge->next_in;
	return edge;
}

CUresult sim_edge_add(struct sim_node *from, struct sim_node *to, const CUgraphEdgeData *data)
{
	struct sim_edge *edge;

	if (from == to || from->graph != to->graph || sim_edge_find(from, to))
		return CUDA_ERROR_INVALID_VALUE;
	edge = calloc(1, sizeof(*edge));
	if (!edge)
		return CUDA_ERROR_OUT_OF_MEMORY;
	edge->from = from;
	edge->to = to;
	if (data)
		edge->data = *data;
	*to->in_last = edge;
	to->in_last = &edge->next_in;
	to->in_nr++;
	*from->out_last = edge;
	from->out_last = &edge->next_out;
	from->out_nr++;
	from->graph->edges++;
	return CUDA_SUCCESS;
}

void sim_edge_delete(struct sim_edge *gone)
{
	struct sim_node *from = gone->from, *to = gone->to;
	struct sim_edge **link;

	for (link = &to->in; *link != gone;)
		link = &(*link)->next_in;
	*link = gone->next_in;
	if (!gone->next_in)
		to->in_last = link;
	for (link = &from->out; *link != gone;)
		link = &(*link)->next_out;
	*link = gone->next_out;
	if (!gone->next_out)
		from->out_last = link;
	to->in_nr--;
	from->out_nr--;
	from->graph->edges--;
	free(gone);
}

void sim_edge_delete_all(struct sim_node *node)
{
	while (node->in)
		sim_edge_delete(node->in);
	while (node->out)
		sim_edge_delete(node->out);
}

/* ---- orders ---- */
static bool is_in_order(const struct sim_graph *graph)
{
	const struct sim_node *node;
	const struct sim_edge *edge;

	for (node = graph->first; node; node = node->next)
		for (edge = node->in; edge; edge = edge->next_in)
			if (edge->from->mark >= node->mark)
				return false;
	return true;
}

/* Takes nodes that wait for none of the others, in the order in which they were added. */
bool sim_edge_sort(struct sim_graph *graph)
{
	struct sim_node *sorted = NULL, **last = &sorted, *node, **link;
	size_t i = 0, left = graph->count;
	struct sim_edge *edge;
	bool found = true;

	for (node = graph->first; node; node = node->next)
		node->mark = i++;
	if (is_in_order(graph))
		return true;
	for (node = graph->first; node; node = node->next)
		node->mark = node->in_nr;
	while (found) {
		found = false;
		for (link = &graph->first; *link;) {
			node = *link;
			if (node->mark) {
				link = &node->next;
				continue;
			}
			for (edge = node->out; edge; edge = edge->next_out)
				edge->to->mark--;
			*link = node->next;
			node->next = NULL;
			*last = node;
			last = &node->next;
			left--;
			found = true;
		}
	}
	*last = graph->first; /* those that are left wait for each other */
	graph->first = sorted ? sorted : graph->first;
	for (link = &graph->first; *link;)
		link = &(*link)->next;
	graph->last = link;
	return !left;
}

bool sim_edge_reaches(struct sim_node *const *last, size_t count, const struct sim_node *wanted)
{
	struct sim_node *node, **stack, *at;
	size_t i, depth = 0;
	bool is_found = false;
	struct sim_edge *edge;

	if (!count)
		return false;
	stack = malloc(last[0]->graph->count * sizeof(*stack));
	if (!stack)
		return false;
	for (node = last[0]->graph->first; node; node = node->next)
		node->mark = 0;
	for (i = 0; i < count; i++)
		if (!last[i]->mark++)
			stack[depth++] = last[i];
	while (depth && !is_found) {
		at = stack[--depth];
		is_found = at == wanted;
		for (edge = at->in; edge; edge = edge->next_in)
			if (!edge->from->mark++)
				stack[depth++] = edge->from;
	}
	free(stack);
	return is_found;
}
