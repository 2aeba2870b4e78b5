/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a graph consists of, asked of the driver right after it was instantiated: the caller still
 * owns the graph then. There is no memory to be had here but a mapping of our own, so very large
 * graphs are counted in part, and the record says so.
 */
#include <string.h>

#include "recorder/base/sys.h"
#include "recorder/hooks/graphs.h"
#include "record/clock.h"

#define NODES_MAX 16384u

/* One more than the kind that a type of the driver's is; 0: one of the others. */
static const uint8_t kind_of[] = {
	[CU_GRAPH_NODE_TYPE_KERNEL] = 1 + TARE_NODE_KERNEL,      [CU_GRAPH_NODE_TYPE_MEMCPY] = 1 + TARE_NODE_MEMCPY,
	[CU_GRAPH_NODE_TYPE_MEMSET] = 1 + TARE_NODE_MEMSET,      [CU_GRAPH_NODE_TYPE_HOST] = 1 + TARE_NODE_HOST,
	[CU_GRAPH_NODE_TYPE_GRAPH] = 1 + TARE_NODE_CHILD,        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = 1 + TARE_NODE_EVENT,
	[CU_GRAPH_NODE_TYPE_EVENT_RECORD] = 1 + TARE_NODE_EVENT, [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = 1 + TARE_NODE_ALLOC,
	[CU_GRAPH_NODE_TYPE_MEM_FREE] = 1 + TARE_NODE_FREE,
};

struct count {
	CUgraphNode *nodes; /* still to be looked at */
	size_t nr;
	uint64_t total, kinds[TARE_NODE_NR];
	uint32_t looked_at;
	bool is_capped, is_failed;
};

/* Puts the nodes of a graph on the stack, as far as there is room. */
static void push(struct count *c, CUgraph graph)
{
	size_t all = 0, room = NODES_MAX - c->nr;

	if (tare_real.cuGraphGetNodes(graph, NULL, &all) != CUDA_SUCCESS) {
		c->is_failed = true;
		return;
	}
	c->total += all;
	if (all > room) {
		c->is_capped = true;
		all = room;
	}
	room = all;
	if (all > 0 && tare_real.cuGraphGetNodes(graph, c->nodes + c->nr, &room) != CUDA_SUCCESS)
		c->is_failed = true;
	else
		c->nr += all;
}

static void take(struct count *c, CUgraphNode node)
{
	CUgraph child = NULL;
	int type = -1, kind;

	if (tare_real.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS) {
		c->is_failed = true;
		return;
	}
	kind = type >= 0 && type < (int)sizeof(kind_of) && kind_of[type] ? kind_of[type] - 1 : TARE_NODE_OTHER;
	c->kinds[kind]++;
	if (kind != TARE_NODE_CHILD || !tare_real.cuGraphChildGraphNodeGetGraph)
		return;
	if (tare_real.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && child)
		push(c, child);
}

void tare_graph_count_nodes(CUgraph graph, struct tare_rec_graph *out)
{
	size_t size = NODES_MAX * sizeof(CUgraphNode);
	uint64_t begin = tare_clock_ticks();
	struct count c;

	if (!tare_real.cuGraphGetNodes || !tare_real.cuGraphNodeGetType)
		return;
	memset(&c, 0, sizeof(c));
	c.nodes = tare_sys_mmap_briefly(size);
	if (!c.nodes)
		return;
	push(&c, graph);
	while (c.nr > 0 && !c.is_failed && c.looked_at < NODES_MAX) {
		c.looked_at++;
		take(&c, c.nodes[--c.nr]);
	}
	c.is_capped |= c.nr > 0;
	tare_sys_munmap(c.nodes, size);
	if (c.is_failed)
		return;
	out->flags |= TARE_GRAPH_FLAG_NODES | (c.is_capped ? TARE_GRAPH_FLAG_CAPPED : 0);
	out->nodes = c.total;
#define TARE_NODE(key, field, name) out->field = c.kinds[TARE_NODE_##key];
#include "record/node.def"
	out->ticks = tare_clock_ticks() - begin;
}
