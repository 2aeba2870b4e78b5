/* SPDX-License-Identifier: Apache-2.0 */
#include "view/graph.h"

#include "base/sat.h"
#include "base/units.h"
#include "view/advice.h"
#include "view/by.h"

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

#define TARE_NODE(key, field, name) TARE_LOOSE(name "_nodes", "", COUNT),
static const struct tare_column columns[] = {
	TARE_LOOSE("at", "", TEXT),
	TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("label", "", TEXT),
	TARE_LOOSE("number", "", COUNT),
	TARE_LOOSE("count", "", COUNT),
	TARE_LOOSE("pid", "", COUNT),
	TARE_LOOSE("generation", "", COUNT),
	TARE_LOOSE("state", "", TEXT),
	TARE_LOOSE("begin_ns", "", DURATION),
	TARE_LOOSE("end_ns", "", DURATION),
	TARE_LOOSE("bytes", "", BYTES),
	TARE_LOOSE("exec_bytes", "", BYTES),
	TARE_LOOSE("at_instantiate_bytes", "", BYTES),
	TARE_LOOSE("at_upload_bytes", "", BYTES),
	TARE_LOOSE("at_launch_bytes", "", BYTES),
	TARE_LOOSE("at_update_bytes", "", BYTES),
	TARE_LOOSE("at_destroy_bytes", "", BYTES),
	TARE_LOOSE("doubt_bytes", "", BYTES),
	TARE_LOOSE("unweighed_calls", "", COUNT),
	TARE_LOOSE("memory_bytes", "", BYTES),
	TARE_LOOSE("allocated_bytes", "", BYTES),
	TARE_LOOSE("allocated_by_others_bytes", "", BYTES),
	TARE_LOOSE("held_bytes", "", BYTES),
	TARE_LOOSE("owner", "", TEXT),
	TARE_LOOSE("owner_bytes", "", BYTES),
	TARE_LOOSE("pool", "", COUNT),
	TARE_LOOSE("pool_is_private", "", FLAG),
	TARE_LOOSE("stream", "", COUNT),
	TARE_LOOSE("phase", "", TEXT),
	TARE_LOOSE("source", "", TEXT),
	TARE_LOOSE("used_after_bytes", "", BYTES),
	TARE_LOOSE("execs", "", COUNT),
	TARE_LOOSE("execs_alive", "", COUNT),
	TARE_LOOSE("updates", "", COUNT),
	TARE_LOOSE("updates_refused", "", COUNT),
	TARE_LOOSE("in_exec_of", "", COUNT),
	TARE_LOOSE("launches", "", COUNT),
	TARE_LOOSE("nodes", "", COUNT),
	TARE_LOOSE("nodes_are_all_told_apart", "", FLAG),
#include "trace/node.def"
	TARE_LOOSE("count_nodes_ns", "", DURATION),
};
#undef TARE_NODE

static const struct tare_column saving_columns[] = {
	TARE_LOOSE("saving", "", TEXT),      TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("count", "", COUNT),      TARE_LOOSE("have_bytes", "", BYTES),
	TARE_LOOSE("need_bytes", "", BYTES), TARE_LOOSE("saves_bytes", "", BYTES),
	TARE_LOOSE("text", "", TEXT),
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

bool tare_graph_is_any(const struct tare_by_ask *ask)
{
	(void)ask;
	return true; /* that there is none is worth a line */
}

void tare_graph_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	/* At `peak` and at `end` they are the same, of the whole recording. */
	const struct tare_ledger *last = ask->ledgers[ask->ledger_nr - 1];
	struct tare_graph_counts n;

	if (e->format == TARE_EMIT_TEXT) {
		tare_graph_text(e, last, (size_t)ask->style->width);
		return;
	}
	tare_graph_count(&n, last);
	tare_emit_uint(e, "graphs_captured", n.captured);
	tare_emit_table(e, "rows", NULL, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < last->graph_nr; i++)
		add_row(e, last->at, &last->graphs[i]);
	tare_emit_table_end(e);
	if (e->format == TARE_EMIT_JSON || last->saving_nr)
		add_savings(e, last);
}
