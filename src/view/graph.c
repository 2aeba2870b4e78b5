/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what graphs cost: `--by graph`. */
#include "view/graph.h"

#include "base/sat.h"
#include "base/units.h"
#include "view/ledger_view.h"
#include "view/by.h"

#include <string.h>

void tare_graph_count(struct tare_graph_counts *out, const struct tare_ledger *ledger)
{
	*out = (struct tare_graph_counts){ 0 };
	for (int i = 0; i < ledger->graph_nr; i++) {
		const struct tare_graph *g = &ledger->graphs[i];

		out->captured += g->state == TARE_GRAPH_STATE_CAPTURED ? g->count : 0;
		out->built += g->state == TARE_GRAPH_STATE_BUILT ? g->count : 0;
		out->failed += g->state == TARE_GRAPH_STATE_INVALID || g->state == TARE_GRAPH_STATE_CAPTURING ? g->count : 0;
		out->alive += g->alive;
		out->exec_bytes += tare_graph_exec_bytes(g);
	}
}

void tare_graph_line(struct tare_emit *e, const struct tare_ledger *ledger)
{
	char text[TARE_UNITS_TEXT_MAX];
	struct tare_graph_counts n;
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	tare_graph_count(&n, ledger);
	tare_str_addf(&line, "graphs captured: %s", tare_units_count(text, n.captured));
	if (n.built)
		tare_str_addf(&line, " · built by hand: %s", tare_units_count(text, n.built));
	if (n.failed)
		tare_str_addf(&line, " · captures that failed: %s", tare_units_count(text, n.failed));
	if (ledger->graph_nr)
		tare_str_addf(&line, " · executable graphs alive: %s · tare report --by graph",
		              tare_units_count(text, n.alive));
	tare_emit_indented(e, 0, 2, tare_str_text(&line));
}

void tare_graph_saving_text(struct tare_str *out, const struct tare_graph_saving *saving)
{
	struct tare_finding finding = tare_graph_saving_finding(saving);

	tare_advice_finding(out, &finding);
	tare_str_addf(out, ". %s", tare_finding_less(&finding));
}

/* ---- for scripts ---- */

struct row {
	const char *at, *owner;
	struct tare_str label;
	int64_t bytes, exec, owner_bytes;
	bool has_parts, has_pool, has_nodes, has_launches;
	bool has_all_kinds; /* its nodes are all told apart */
	struct tare_graph of;
};

#define ZERO  .unknown = TARE_UNKNOWN_ZERO
#define NODES .when = TARE_WHEN(row, has_nodes)

#define TARE_NODE(key, field, name) TARE_COLUMN(row, of.kinds[TARE_NODE_##key], name "_nodes", NULL, COUNT, NODES),
static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, of.device, "device", NULL, ID),
	TARE_COLUMN(row, label, "label", NULL, TEXT),
	TARE_COLUMN(row, of.number, "number", NULL, ID),
	TARE_COLUMN(row, of.count, "count", NULL, COUNT),
	TARE_COLUMN(row, of.pid, "pid", NULL, ID),
	TARE_COLUMN(row, of.generation, "generation", NULL, ID),
	TARE_COLUMN(row, of.state, "state", NULL, TEXT, .name = tare_graph_state_name),
	TARE_COLUMN(row, of.begin_ns, "begin_ns", NULL, TIME),
	TARE_COLUMN(row, of.end_ns, "end_ns", NULL, TIME),
	TARE_COLUMN(row, bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(row, exec, "exec_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.at_instantiate, "at_instantiate_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.at_upload, "at_upload_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.at_launch, "at_launch_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.at_update, "at_update_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.at_destroy, "at_destroy_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.doubt, "doubt_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.unweighed, "unweighed_calls", NULL, COUNT),
	TARE_COLUMN(row, of.memory, "memory_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.allocated, "allocated_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.by_others, "allocated_by_others_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.held, "held_bytes", NULL, BYTES),
	TARE_COLUMN(row, owner, "owner", NULL, TEXT),
	TARE_COLUMN(row, owner_bytes, "owner_bytes", NULL, BYTES, .when = TARE_WHEN(row, has_parts)),
	TARE_COLUMN(row, of.pool, "pool", NULL, COUNT, ZERO),
	TARE_COLUMN(row, of.is_private, "pool_is_private", NULL, FLAG, .when = TARE_WHEN(row, has_pool)),
	TARE_COLUMN(row, of.stream_number, "stream", NULL, COUNT, ZERO),
	TARE_COLUMN(row, of.phase, "phase", NULL, TEXT),
	TARE_COLUMN(row, of.source, "source", NULL, TEXT),
	TARE_COLUMN(row, of.used_after, "used_after_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(row, of.execs, "execs", NULL, COUNT),
	TARE_COLUMN(row, of.alive, "execs_alive", NULL, COUNT),
	TARE_COLUMN(row, of.updates, "updates", NULL, COUNT),
	TARE_COLUMN(row, of.refused, "updates_refused", NULL, COUNT),
	TARE_COLUMN(row, of.in_exec_of, "in_exec_of", NULL, COUNT, ZERO),
	TARE_COLUMN(row, of.launches, "launches", NULL, COUNT, .when = TARE_WHEN(row, has_launches)),
	TARE_COLUMN(row, of.nodes, "nodes", NULL, COUNT, NODES),
	TARE_COLUMN(row, has_all_kinds, "nodes_are_all_told_apart", NULL, COUNT, NODES),
#include "record/node.def"
	TARE_COLUMN(row, of.ask_ns, "count_nodes_ns", NULL, DURATION, NODES),
};

struct saving {
	int64_t saves;
	struct tare_str text;
	struct tare_graph_saving of;
};

static const char *saving_key(unsigned kind)
{
	return tare_graph_saving_key(kind);
}

static const struct tare_column saving_columns[] = {
	TARE_COLUMN(saving, of.kind, "saving", NULL, TEXT, .name = saving_key),
	TARE_COLUMN(saving, of.device, "device", NULL, ID),
	TARE_COLUMN(saving, of.count, "count", NULL, COUNT),
	TARE_COLUMN(saving, of.have, "have_bytes", NULL, BYTES),
	TARE_COLUMN(saving, of.need, "need_bytes", NULL, BYTES),
	TARE_COLUMN(saving, saves, "saves_bytes", NULL, BYTES),
	TARE_COLUMN(saving, text, "text", NULL, TEXT),
};

static void add_row(struct tare_emit *e, const char *at, const struct tare_graph *g)
{
	struct row row = { .at = at, .of = *g, .exec = tare_graph_exec_bytes(g) };

	row.bytes = tare_sat_add(tare_sat_add(row.exec, g->memory), g->allocated);
	row.has_pool = g->pool != 0;
	row.has_nodes = g->flags & TARE_GRAPH_FLAG_NODES;
	row.has_launches = g->flags & TARE_GRAPH_FLAG_LAUNCHES;
	row.has_all_kinds = !(g->flags & TARE_GRAPH_FLAG_CAPPED);
	row.has_parts = g->part_nr > 0;
	if (row.has_parts) {
		row.owner = g->parts[0].label;
		row.owner_bytes = g->parts[0].bytes;
	}
	tare_str_addf(&row.label, "graph %llu", (unsigned long long)g->number);
	tare_emit_add(e, &row);
	tare_str_free(&row.label);
}

static void add_savings(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_table(e, "savings", NULL, TARE_COLUMNS(saving_columns));
	for (int i = 0; i < ledger->saving_nr; i++) {
		const struct tare_graph_saving *s = &ledger->savings[i];
		struct saving row = { .saves = s->have - s->need, .of = *s };

		tare_graph_saving_text(&row.text, s);
		tare_emit_add(e, &row);
		tare_str_free(&row.text);
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

	if (tare_emit_is_for_people(e)) {
		tare_graph_text(e, last);
		return;
	}
	tare_graph_count(&n, last);
	tare_emit_uint(e, "graphs_captured", n.captured);
	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < last->graph_nr; i++)
		add_row(e, last->at, &last->graphs[i]);
	tare_emit_table_end(e);
	if (tare_emit_has_members(e) || last->saving_nr)
		add_savings(e, last);
}
