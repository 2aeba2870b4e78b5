/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all CUDA graphs of a server will take, from the first few: first + those that followed + what one more takes ×
 * those to come. The first has what is taken once, so it says nothing of the others; and so has one now and then that
 * loads a library, which is far above the median. The driver takes memory by 2 MiB for several graphs, so the median of
 * the others may be 0, and their mean is taken.
 */
#include "view/serving.h"

#include "base/comparator.h"
#include "base/sat.h"
#include "base/xalloc.h"

#include <stdlib.h>

#define STEP    INT64_C(2097152) /* by which the driver takes memory … */
#define SEGMENT (10 * STEP)      /* … and PyTorch's allocator most of its own */

enum { FAR = 4 }; /* times the median: an exception */

bool tare_serving_is_its_graph(const struct tare_serving *s, const struct tare_graph *g)
{
	return g->device == s->device->index && g->pid == s->pid && g->state != TARE_GRAPH_STATE_INVALID &&
	       g->state != TARE_GRAPH_STATE_CAPTURING;
}

TARE_SCALAR_COMPARATOR(compare, int64_t)

/* Of those that followed the first; they are put in order. */
static void each_of(struct tare_serving_graphs *g, int64_t *bytes, size_t nr)
{
	int64_t median, far, sum = 0;
	size_t counted = 0;

	TARE_SORT(bytes, nr, compare);
	median = bytes[(nr - 1) / 2];
	far = tare_sat_mul(median > 0 ? median : 0, FAR);
	if (far < median + SEGMENT + STEP)
		far = median + SEGMENT + STEP;
	for (; counted < nr && bytes[counted] <= far; counted++)
		sum = tare_sat_add(sum, bytes[counted]);
	g->is_known = true;
	g->each = sum / (int64_t)counted;
	g->each_low = bytes[0];
	g->each_high = bytes[counted - 1];
	/* a step that was not taken yet may be */
	if (g->each_high < STEP)
		g->each_high = STEP;
}

static void all_of(struct tare_serving_graphs *g, uint64_t in_all)
{
	int64_t rest = in_all > g->captured ? (int64_t)(in_all - g->captured) : 0;

	g->in_all = in_all > g->captured ? in_all : g->captured;
	if (rest && !g->is_known)
		return;
	g->to_come = tare_sat_mul(g->each, rest);
	g->all = tare_sat_add(g->bytes, g->to_come);
	g->all_low = tare_sat_add(g->bytes, tare_sat_mul(g->each_low, rest));
	g->all_high = tare_sat_add(g->bytes, tare_sat_mul(g->each_high, rest));
}

void tare_serving_graphs_of(struct tare_serving *s, uint64_t in_all)
{
	struct tare_serving_graphs *g = &s->graphs;
	TARE_FREED_HERE int64_t *bytes = tare_xcalloc((size_t)s->ledger->graph_nr + 1, sizeof(*bytes));
	size_t nr = 0;

	for (int i = 0; i < s->ledger->graph_nr; i++) {
		const struct tare_graph *of = &s->ledger->graphs[i];
		int64_t driver = tare_graph_exec_bytes(of) + of->memory;

		if (!tare_serving_is_its_graph(s, of))
			continue;
		g->captured += of->count;
		g->driver += driver;
		g->pool += of->allocated;
		bytes[nr++] = driver + of->allocated;
	}
	g->bytes = g->driver + g->pool;
	g->first = bytes[0];
	if (nr > 1)
		each_of(g, bytes + 1, nr - 1);
	if (in_all)
		all_of(g, in_all);
}
