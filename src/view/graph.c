/* SPDX-License-Identifier: Apache-2.0 */
#include "view/graph.h"

#include "base/sat.h"
#include "base/units.h"
#include "view/advice.h"

#include <string.h>

void tare_graph_count(struct tare_graph_counts *out, const struct tare_ledger *ledger)
{
	*out = (struct tare_graph_counts){ 0 };
	for (int i = 0; i < ledger->graph_nr; i++) {
		const struct tare_graph *g = &ledger->graphs[i];

		out->captured += g->state == TARE_GRAPH_STATE_CAPTURED ? g->count : 0;
		out->built += g->state == TARE_GRAPH_STATE_BUILT ? g->count : 0;
		out->failed += g->state == TARE_GRAPH_STATE_INVALID ||
					       g->state == TARE_GRAPH_STATE_CAPTURING
				       ? g->count
				       : 0;
		out->alive += g->alive;
		out->exec_bytes += tare_graph_exec_bytes(g);
	}
}

void tare_graph_line(struct tare_str *out, const struct tare_ledger *ledger, size_t width)
{
	char text[TARE_UNITS_TEXT_MAX];
	struct tare_graph_counts n;
	struct tare_str line = { 0 };

	tare_graph_count(&n, ledger);
	tare_str_addf(&line, "graphs captured: %s", tare_units_count(text, n.captured));
	if (n.built)
		tare_str_addf(&line, " · built by hand: %s", tare_units_count(text, n.built));
	if (n.failed)
		tare_str_addf(&line, " · captures that failed: %s",
			      tare_units_count(text, n.failed));
	if (ledger->graph_nr)
		tare_str_addf(&line, " · executable graphs alive: %s · tare report --by graph",
			      tare_units_count(text, n.alive));
	tare_str_add_wrapped(out, tare_str_text(&line), 0, 2, width);
	tare_str_add_char(out, '\n');
	tare_str_free(&line);
}

void tare_graph_saving_text(struct tare_str *out, const struct tare_graph_saving *saving)
{
	struct tare_finding finding = tare_graph_saving_finding(saving);

	tare_advice_finding(out, &finding);
	tare_str_addf(out, ". %s", tare_finding_less(&finding));
}

/* ---- for scripts ---- */

#define TARE_NODE(key, field, name) { name "_nodes", "", TARE_COL_COUNT },
static const struct tare_column columns[] = {
	{ "at", "", TARE_COL_TEXT },
	{ "device", "", TARE_COL_COUNT },
	{ "label", "", TARE_COL_TEXT },
	{ "number", "", TARE_COL_COUNT },
	{ "count", "", TARE_COL_COUNT },
	{ "pid", "", TARE_COL_COUNT },
	{ "generation", "", TARE_COL_COUNT },
	{ "state", "", TARE_COL_TEXT },
	{ "begin_ns", "", TARE_COL_DURATION },
	{ "end_ns", "", TARE_COL_DURATION },
	{ "bytes", "", TARE_COL_BYTES },
	{ "exec_bytes", "", TARE_COL_BYTES },
	{ "at_instantiate_bytes", "", TARE_COL_BYTES },
	{ "at_upload_bytes", "", TARE_COL_BYTES },
	{ "at_launch_bytes", "", TARE_COL_BYTES },
	{ "at_update_bytes", "", TARE_COL_BYTES },
	{ "at_destroy_bytes", "", TARE_COL_BYTES },
	{ "doubt_bytes", "", TARE_COL_BYTES },
	{ "unweighed_calls", "", TARE_COL_COUNT },
	{ "memory_bytes", "", TARE_COL_BYTES },
	{ "allocated_bytes", "", TARE_COL_BYTES },
	{ "allocated_by_others_bytes", "", TARE_COL_BYTES },
	{ "held_bytes", "", TARE_COL_BYTES },
	{ "owner", "", TARE_COL_TEXT },
	{ "owner_bytes", "", TARE_COL_BYTES },
	{ "pool", "", TARE_COL_COUNT },
	{ "pool_is_private", "", TARE_COL_FLAG },
	{ "stream", "", TARE_COL_COUNT },
	{ "phase", "", TARE_COL_TEXT },
	{ "source", "", TARE_COL_TEXT },
	{ "used_after_bytes", "", TARE_COL_BYTES },
	{ "execs", "", TARE_COL_COUNT },
	{ "execs_alive", "", TARE_COL_COUNT },
	{ "updates", "", TARE_COL_COUNT },
	{ "updates_refused", "", TARE_COL_COUNT },
	{ "in_exec_of", "", TARE_COL_COUNT },
	{ "launches", "", TARE_COL_COUNT },
	{ "nodes", "", TARE_COL_COUNT },
	{ "nodes_are_all_told_apart", "", TARE_COL_FLAG },
#include "trace/node.def"
	{ "count_nodes_ns", "", TARE_COL_DURATION },
};
#undef TARE_NODE

static const struct tare_column saving_columns[] = {
	{ "saving", "", TARE_COL_TEXT },      { "device", "", TARE_COL_COUNT },
	{ "count", "", TARE_COL_COUNT },      { "have_bytes", "", TARE_COL_BYTES },
	{ "need_bytes", "", TARE_COL_BYTES }, { "saves_bytes", "", TARE_COL_BYTES },
	{ "text", "", TARE_COL_TEXT },
};

static void cell_if(struct tare_emit *e, bool is_known, uint64_t v)
{
	if (is_known)
		tare_emit_cell_uint(e, v);
	else
		tare_emit_cell_unknown(e);
}

static void add_bytes(struct tare_emit *e, const struct tare_graph *g)
{
	int64_t exec = tare_graph_exec_bytes(g);

	tare_emit_cell_int(e, tare_sat_add(tare_sat_add(exec, g->memory), g->allocated));
	tare_emit_cell_int(e, exec);
	tare_emit_cell_int(e, g->at_instantiate);
	tare_emit_cell_int(e, g->at_upload);
	tare_emit_cell_int(e, g->at_launch);
	tare_emit_cell_int(e, g->at_update);
	tare_emit_cell_int(e, g->at_destroy);
	tare_emit_cell_int(e, g->doubt);
	tare_emit_cell_uint(e, g->unweighed);
	tare_emit_cell_int(e, g->memory);
	tare_emit_cell_int(e, g->allocated);
	tare_emit_cell_int(e, g->by_others);
	tare_emit_cell_int(e, g->held);
}

static void add_nodes(struct tare_emit *e, const struct tare_graph *g)
{
	bool is_known = g->flags & TARE_GRAPH_FLAG_NODES;

	cell_if(e, is_known, g->nodes);
	cell_if(e, is_known, !(g->flags & TARE_GRAPH_FLAG_CAPPED));
	for (int i = 0; i < TARE_NODE_NR; i++)
		cell_if(e, is_known, g->kinds[i]);
	cell_if(e, is_known, (uint64_t)g->ask_ns);
}

static void add_row(struct tare_emit *e, const char *at, const struct tare_graph *g)
{
	tare_emit_cell_text(e, at);
	tare_emit_cell_int(e, g->device);
	tare_emit_cell_textf(e, "graph %llu", (unsigned long long)g->number);
	tare_emit_cell_uint(e, g->number);
	tare_emit_cell_uint(e, g->count);
	tare_emit_cell_int(e, g->pid);
	tare_emit_cell_int(e, g->generation);
	tare_emit_cell_text(e, tare_graph_state_name(g->state));
	tare_emit_cell_int(e, g->begin_ns);
	tare_emit_cell_int(e, g->end_ns);
	add_bytes(e, g);
	tare_emit_cell_text(e, g->part_nr ? g->parts[0].label : NULL);
	cell_if(e, g->part_nr, g->part_nr ? (uint64_t)g->parts[0].bytes : 0);
	cell_if(e, g->pool, g->pool);
	if (g->pool)
		tare_emit_cell_int(e, g->is_private);
	else
		tare_emit_cell_unknown(e);
	cell_if(e, g->stream_number, g->stream_number);
	tare_emit_cell_text(e, g->phase);
	tare_emit_cell_text(e, g->source);
	cell_if(e, g->used_after != TARE_NOT_KNOWN, g->used_after);
	tare_emit_cell_uint(e, g->execs);
	tare_emit_cell_uint(e, g->alive);
	tare_emit_cell_uint(e, g->updates);
	tare_emit_cell_uint(e, g->refused);
	cell_if(e, g->in_exec_of, g->in_exec_of);
	cell_if(e, g->flags & TARE_GRAPH_FLAG_LAUNCHES, g->launches);
	add_nodes(e, g);
	tare_emit_row(e);
}

static void add_savings(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_table(e, "savings", NULL, saving_columns,
			sizeof(saving_columns) / sizeof(saving_columns[0]));
	for (int i = 0; i < ledger->saving_nr; i++) {
		const struct tare_graph_saving *s = &ledger->savings[i];
		struct tare_str text = { 0 };

		tare_graph_saving_text(&text, s);
		tare_emit_cell_text(e, tare_graph_saving_key(s->kind));
		tare_emit_cell_int(e, s->device);
		tare_emit_cell_uint(e, s->count);
		tare_emit_cell_int(e, s->have);
		tare_emit_cell_int(e, s->need);
		tare_emit_cell_int(e, s->have - s->need);
		tare_emit_cell_text(e, tare_str_text(&text));
		tare_emit_row(e);
		tare_str_free(&text);
	}
	tare_emit_table_end(e);
}

void tare_graph_data(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr)
{
	/* At `peak` and at `end` they are the same, of the whole recording. */
	const struct tare_ledger *last = ledgers[ledger_nr - 1];
	struct tare_graph_counts n;

	tare_graph_count(&n, last);
	tare_emit_str(e, "by", "graph");
	tare_emit_uint(e, "graphs_captured", n.captured);
	tare_emit_table(e, "rows", NULL, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < last->graph_nr; i++)
		add_row(e, last->at, &last->graphs[i]);
	tare_emit_table_end(e);
	if (e->format == TARE_EMIT_JSON || last->saving_nr)
		add_savings(e, last);
}
