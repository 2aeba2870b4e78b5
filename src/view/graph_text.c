/* SPDX-License-Identifier: Apache-2.0 */
/* `--by graph` on the screen: graphs that look alike in one line, and the middle of a long list summed. */
#include "view/graph.h"

#include "base/array.h"
#include "base/units.h"
#include "view/device_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCREEN_ROWS = 14, HEAD_ROWS = 8, TAIL_ROWS = 4 };

/* Graphs that share a row: they differ only in the bytes that they took. */
struct line {
	const struct tare_graph *first, *last;
	uint64_t graphs, launches;
	int64_t exec, memory, allocated;
	uint64_t used_after;
	bool is_launches_known, is_mixed;
};

struct lines {
	struct line *items;
	size_t count, cap;
};

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_like(const struct tare_graph *a, const struct tare_graph *b)
{
	return a->device == b->device && a->pid == b->pid && a->generation == b->generation && a->state == b->state &&
	       a->nodes == b->nodes && !memcmp(a->kinds, b->kinds, sizeof(a->kinds)) && !a->pool == !b->pool &&
	       a->is_private == b->is_private && (a->is_private || a->pool == b->pool) &&
	       a->stream_number == b->stream_number && !a->alive == !b->alive && a->in_exec_of == b->in_exec_of &&
	       is_same_text(a->phase, b->phase) && is_same_text(a->source, b->source);
}

static void add_graph(struct line *l, const struct tare_graph *g)
{
	if (!l->first) {
		l->first = g;
		l->is_launches_known = true;
	}
	l->last = g;
	l->graphs += g->count;
	l->launches += g->launches;
	/* Launches are the exec's: which of its graphs they were of is not told. */
	l->is_launches_known &= g->flags & TARE_GRAPH_FLAG_LAUNCHES && (g->execs || !g->in_exec_of);
	l->exec += tare_graph_exec_bytes(g);
	l->memory += g->memory;
	l->allocated += g->allocated;
	l->used_after = g->used_after;
}

static void join(struct line *into, const struct line *from)
{
	bool is_mixed = into->first && !is_like(into->first, from->first);

	for (const struct tare_graph *g = from->first; g <= from->last; g++)
		add_graph(into, g);
	into->is_mixed |= is_mixed;
}

static void build(struct lines *out, const struct tare_graph *graphs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct line *l = out->count ? &out->items[out->count - 1] : NULL;

		if (!l || !is_like(l->first, &graphs[i])) {
			l = &TARE_APPEND(out->items, out->count, out->cap);
			*l = (struct line){ 0 };
		}
		add_graph(l, &graphs[i]);
	}
}

struct row {
	struct tare_str label, where, pool;
	bool has_nodes, has_pool;
	uint64_t nodes;
	struct line of;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, label, NULL, "GRAPH", TEXT),
	TARE_COLUMN(row, of.graphs, NULL, "NR", COUNT, .is_sum = true),
	TARE_COLUMN(row, nodes, NULL, "NODES", COUNT, .when = TARE_WHEN(row, has_nodes)),
	TARE_COLUMN(row, of.exec, NULL, "EXEC", BYTES, .is_sum = true),
	TARE_COLUMN(row, of.memory, NULL, "MEMORY", BYTES, .is_sum = true),
	TARE_COLUMN(row, of.allocated, NULL, "ALLOCATED", BYTES, .is_sum = true),
	TARE_COLUMN(row, pool, NULL, "POOL", TEXT, .when = TARE_WHEN(row, has_pool)),
	TARE_COLUMN(row, of.used_after, NULL, "USED AFTER", BYTES, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(row, of.launches, NULL, "LAUNCHES", COUNT, .when = TARE_WHEN(row, of.is_launches_known)),
	TARE_COLUMN(row, where, NULL, "WHERE", TEXT),
};

static void add_pool(struct tare_str *out, const struct line *l)
{
	if (l->is_mixed)
		return;
	if (l->first->is_private)
		tare_str_add(out, "private");
	else
		tare_str_addf(out, "shared %u", l->first->pool);
}

static void add_where(struct tare_str *out, const struct line *l)
{
	const struct tare_graph *g = l->first;
	const char *where = g->phase ? g->phase : g->source, *state = "";
	char group[48];

	if (l->is_mixed) {
		tare_str_add(out, "different ones");
		return;
	}
	if (g->state != TARE_GRAPH_STATE_CAPTURED)
		state = tare_graph_state_name(g->state);
	else if (g->execs && !g->alive)
		state = "destroyed";
	else if (!g->execs && g->in_exec_of) {
		snprintf(group, sizeof(group), "in the exec of %u", g->in_exec_of);
		state = group;
	}
	tare_str_addf(out, "%s%s%s", state, *state && where ? ", " : "", where ? where : "");
}

static void add_line(struct tare_emit *e, const struct line *l)
{
	const struct tare_graph *g = l->first;
	struct row row = { .nodes = g->nodes,
		               .has_nodes = !l->is_mixed && g->flags & TARE_GRAPH_FLAG_NODES,
		               .has_pool = l->is_mixed || g->pool,
		               .of = *l };

	tare_str_addf(&row.label, "%llu", (unsigned long long)g->number);
	if (l->last != g)
		tare_str_addf(&row.label, "–%llu", (unsigned long long)l->last->number);
	add_pool(&row.pool, l);
	add_where(&row.where, l);
	tare_emit_add(e, &row);
	tare_str_free(&row.label);
	tare_str_free(&row.pool);
	tare_str_free(&row.where);
}

static void add_table(struct tare_emit *e, const char *title, const struct lines *lines)
{
	bool is_long = lines->count > SCREEN_ROWS;
	size_t head = is_long ? HEAD_ROWS : lines->count;
	struct line middle = { 0 };

	tare_emit_table(e, "graphs", title, TARE_COLUMNS(columns));
	for (size_t i = 0; i < head; i++)
		add_line(e, &lines->items[i]);
	for (size_t i = head; is_long && i < lines->count - TAIL_ROWS; i++)
		join(&middle, &lines->items[i]);
	if (is_long) {
		add_line(e, &middle);
		for (size_t i = lines->count - TAIL_ROWS; i < lines->count; i++)
			add_line(e, &lines->items[i]);
	}
	if (lines->count > 1)
		tare_emit_sum(e, "all");
	tare_emit_table_end(e);
}

static uint32_t streams_of(const struct tare_graph *graphs, size_t count)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = graphs[i].stream_number > most ? graphs[i].stream_number : most;
	return most;
}

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_graph *graphs,
                       size_t count)
{
	struct tare_ledger own = { .graphs = (struct tare_graph *)graphs, .graph_nr = (int)count };
	uint32_t streams = streams_of(graphs, count);
	struct tare_graph_counts n;
	struct lines lines = { 0 };
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_graph_count(&n, &own);
	tare_str_addf(&title, "GPU %d  ", graphs->device);
	for (int i = 0; i < ledger->device_nr; i++)
		if (ledger->devices[i].index == graphs->device)
			tare_device_text_name(&title, &ledger->devices[i]);
	tare_str_addf(&title, " · graphs captured: %llu", (unsigned long long)n.captured);
	if (streams)
		tare_str_addf(&title, " · capture streams: %u", streams);
	build(&lines, graphs, count);
	add_table(e, tare_str_text(&title), &lines);
	free(lines.items);
}

static void add_savings(struct tare_emit *e, const struct tare_ledger *ledger, int device)
{
	for (int i = 0; i < ledger->saving_nr; i++) {
		const struct tare_graph_saving *s = &ledger->savings[i];
		TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
		char text[TARE_UNITS_TEXT_MAX];

		if (s->device != device)
			continue;
		tare_graph_saving_text(&line, s);
		tare_emit_alarm(e, "could save %s MiB: %s", tare_units_mib(text, s->have - s->need), tare_str_text(&line));
	}
}

void tare_graph_text(struct tare_emit *e, const struct tare_ledger *ledger)
{
	if (!ledger->graph_nr)
		tare_graph_line(e, ledger);
	for (int i = 0, n; i < ledger->graph_nr; i += n) {
		for (n = 1; i + n < ledger->graph_nr && ledger->graphs[i + n].device == ledger->graphs[i].device;)
			n++;
		if (i)
			tare_emit_gap(e);
		add_device(e, ledger, &ledger->graphs[i], (size_t)n);
		add_savings(e, ledger, ledger->graphs[i].device);
	}
}
