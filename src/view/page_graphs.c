/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA graphs of a page: sums of all, and rows of the largest. */
#include "view/page.h"

#include "base/comparator.h"
#include "base/emit.h"
#include "base/sat.h"
#include "base/xalloc.h"
#include "view/graph.h"

enum { GRAPHS_MAX = 1000 };

static int64_t bytes_of(const struct tare_graph *g)
{
	return tare_sat_add(tare_sat_add(tare_graph_exec_bytes(g), g->memory), g->allocated);
}

TARE_COMPARATOR(by_bytes, struct tare_graph, TARE_FALLING_BY(bytes_of(it)) TARE_RISING(number))

TARE_COMPARATOR(by_number, struct tare_graph, TARE_RISING(number))

struct tare_graph *tare_page_largest_graphs(const struct tare_ledger *l, int *nr)
{
	struct tare_graph *all = tare_xcalloc((size_t)l->graph_nr + 1, sizeof(*all));

	for (int i = 0; i < l->graph_nr; i++)
		all[i] = l->graphs[i];
	*nr = l->graph_nr;
	if (*nr <= GRAPHS_MAX)
		return all;
	TARE_SORT(all, *nr, by_bytes);
	*nr = GRAPHS_MAX;
	TARE_SORT(all, *nr, by_number);
	return all;
}

void tare_page_graphs(struct tare_emit *e, const struct tare_ledger *l)
{
	int64_t memory = 0, allocated = 0;
	struct tare_graph_counts n;

	for (int i = 0; i < l->graph_nr; i++) {
		memory = tare_sat_add(memory, l->graphs[i].memory);
		allocated = tare_sat_add(allocated, l->graphs[i].allocated);
	}
	tare_graph_count(&n, l);
	tare_emit_open(e, "graphs", '{');
	tare_emit_uint(e, "captured", n.captured);
	tare_emit_uint(e, "built", n.built);
	tare_emit_uint(e, "failed", n.failed);
	tare_emit_uint(e, "alive", n.alive);
	tare_emit_int(e, "rows", l->graph_nr);
	tare_emit_int(e, "bytes", tare_sat_add(tare_sat_add(n.exec_bytes, memory), allocated));
	tare_emit_int(e, "exec_bytes", n.exec_bytes);
	tare_emit_int(e, "memory_bytes", memory);
	tare_emit_int(e, "allocated_bytes", allocated);
	tare_emit_close(e);
}
