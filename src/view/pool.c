/* SPDX-License-Identifier: Apache-2.0 */
#include "view/pool.h"

#include "base/array.h"
#include "view/stream.h"

#include <stdlib.h>
#include <string.h>

static bool is_alike(const struct tare_pool_group *g, const struct tare_pool_segment *s)
{
	return g->pid == s->pid && g->generation == s->generation &&
	       g->is_expandable == s->is_expandable && g->is_of_graph == s->is_of_graph &&
	       g->graph_pool == s->graph_pool && g->is_trial == s->is_trial;
}

static struct tare_pool_group *group_of(struct tare_pool_groups *out,
					const struct tare_pool_segment *s)
{
	for (size_t i = 0; i < out->count; i++)
		if (is_alike(&out->items[i], s))
			return &out->items[i];
	out->items = tare_array_reserve(out->items, &out->cap, out->count + 1, sizeof(*out->items));
	out->items[out->count] = (struct tare_pool_group){ .pid = s->pid,
							   .generation = s->generation,
							   .is_expandable = s->is_expandable,
							   .is_trial = s->is_trial,
							   .is_of_graph = s->is_of_graph,
							   .graph_pool = s->graph_pool };
	return &out->items[out->count++];
}

static void find_graphs(struct tare_pool_group *g, const struct tare_ledger *ledger)
{
	for (int i = 0; g->graph_pool && i < ledger->graph_nr; i++) {
		const struct tare_graph *graph = &ledger->graphs[i];

		if (graph->pool != g->graph_pool || graph->pid != g->pid ||
		    graph->generation != g->generation)
			continue;
		if (!g->first_graph || graph->number < g->first_graph)
			g->first_graph = graph->number;
		if (graph->number > g->last_graph)
			g->last_graph = graph->number;
	}
}

static int by_kind(const void *a, const void *b)
{
	const struct tare_pool_group *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->is_of_graph != y->is_of_graph)
		return x->is_of_graph ? 1 : -1;
	if (x->is_trial != y->is_trial)
		return x->is_trial ? 1 : -1;
	if (x->graph_pool != y->graph_pool)
		return x->graph_pool < y->graph_pool ? -1 : 1;
	return (int)x->is_expandable - (int)y->is_expandable;
}

void tare_pool_build(struct tare_pool_groups *out, const struct tare_ledger *ledger,
		     const struct tare_device_ledger *device)
{
	*out = (struct tare_pool_groups){ 0 };
	for (int i = 0; i < device->segment_nr; i++)
		tare_segment_sum_take(&group_of(out, &device->segments[i])->sum,
				      &device->segments[i]);
	for (size_t i = 0; i < out->count; i++) {
		out->items[i].device = device;
		find_graphs(&out->items[i], ledger);
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_kind);
}

void tare_pool_free(struct tare_pool_groups *groups)
{
	free(groups->items);
	*groups = (struct tare_pool_groups){ 0 };
}

void tare_pool_label(struct tare_str *out, const struct tare_pool_group *g)
{
	tare_str_add(out, g->is_expandable ? "expandable segments" : "segments");
	if (g->is_trial)
		tare_str_add(out, " for cuDNN trials");
	if (!g->is_of_graph)
		return;
	tare_str_add(out, " for graph");
	if (!g->first_graph)
		tare_str_add(out, "s");
	else if (g->first_graph == g->last_graph)
		tare_str_addf(out, " %llu", (unsigned long long)g->first_graph);
	else
		tare_str_addf(out, "s %llu–%llu", (unsigned long long)g->first_graph,
			      (unsigned long long)g->last_graph);
}

/* The rows tell of blocks where the segments are not known any more. */
bool tare_pool_is_there(const struct tare_device_ledger *device)
{
	for (int i = 0; i < device->row_nr; i++) {
		const char *key = strrchr(device->rows[i].path, '/');

		if (key && !strcmp(key + 1, "tensors"))
			return true;
	}
	return device->segment_nr > 0;
}

bool tare_pool_is_any(const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < ask->ledgers[i]->device_nr; k++)
			if (tare_pool_is_there(&ask->ledgers[i]->devices[k]))
				return true;
	return false;
}

/* ---- for scripts ---- */

static const struct tare_column columns[] = {
	TARE_LOOSE("at", "", TEXT),          TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("label", "", TEXT),       TARE_LOOSE("pid", "", COUNT),
	TARE_LOOSE("generation", "", COUNT), TARE_LOOSE("expandable", "", FLAG),
	TARE_LOOSE("trial", "", FLAG),       TARE_LOOSE("for_graphs", "", FLAG),
	TARE_LOOSE("graph_pool", "", COUNT), TARE_LOOSE("first_graph", "", COUNT),
	TARE_LOOSE("last_graph", "", COUNT), TARE_SEGMENT_SUM_DATA,
};

static const struct tare_column segment_columns[] = {
	TARE_LOOSE("at", "", TEXT),           TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("pid", "", COUNT),         TARE_LOOSE("address", "", TEXT),
	TARE_LOOSE("bytes", "", BYTES),       TARE_LOOSE("live_bytes", "", BYTES),
	TARE_LOOSE("stuck_bytes", "", BYTES), TARE_LOOSE("blocks", "", COUNT),
	TARE_LOOSE("expandable", "", FLAG),   TARE_LOOSE("trial", "", FLAG),
	TARE_LOOSE("for_graphs", "", FLAG),   TARE_LOOSE("held", "", FLAG),
	TARE_LOOSE("graph_pool", "", COUNT),  TARE_LOOSE("pin_address", "", TEXT),
	TARE_LOOSE("pin_bytes", "", BYTES),   TARE_LOOSE("pin_age_ns", "", DURATION),
	TARE_LOOSE("pin_source", "", TEXT),   TARE_LOOSE("stream", "", TEXT),
};

static const struct tare_column collected_columns[] = {
	TARE_LOOSE("at", "", TEXT),
	TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("blocks", "", COUNT),
	TARE_LOOSE("bytes", "", BYTES),
	TARE_LOOSE("waiting_bytes", "", BYTES),
};

static const struct tare_column witness_columns[] = {
	TARE_LOOSE("at", "", TEXT),
	TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("pid", "", COUNT),
	TARE_LOOSE("generation", "", COUNT),
	TARE_LOOSE("t_ns", "", DURATION),
	TARE_LOOSE("allocated_bytes", "", BYTES),
	TARE_LOOSE("reserved_bytes", "", BYTES),
	TARE_LOOSE("active_bytes", "", BYTES),
	TARE_LOOSE("requested_bytes", "", BYTES),
	TARE_LOOSE("inactive_split_bytes", "", BYTES),
	TARE_LOOSE("rounding_bytes", "", BYTES),
	TARE_LOOSE("live_bytes", "", BYTES),
	TARE_LOOSE("segment_bytes", "", BYTES),
	TARE_LOOSE("evidence", "", TEXT),
};

static void cell_known(struct tare_emit *e, int64_t v)
{
	if (v >= 0)
		tare_emit_cell_int(e, v);
	else
		tare_emit_cell_unknown(e);
}

static void add_witness(struct tare_emit *e, const char *at, const struct tare_device_ledger *d,
			const struct tare_pool_witness *s)
{
	tare_emit_cell_text(e, at);
	tare_emit_cell_int(e, d->index);
	tare_emit_cell_int(e, s->pid);
	tare_emit_cell_int(e, s->generation);
	tare_emit_cell_int(e, s->t_ns);
	tare_emit_cell_int(e, s->allocated);
	tare_emit_cell_int(e, s->reserved);
	cell_known(e, s->active);
	cell_known(e, s->requested);
	cell_known(e, s->inactive_split);
	cell_known(e, s->requested < 0 ? -1 : s->allocated - s->requested);
	cell_known(e, s->is_compared ? s->live : -1);
	cell_known(e, s->is_compared ? s->segments : -1);
	tare_emit_cell_text(e, tare_evidence_name(TARE_EVIDENCE_WITNESS));
	tare_emit_row(e);
}

static void cell_if(struct tare_emit *e, uint64_t v)
{
	if (v)
		tare_emit_cell_uint(e, v);
	else
		tare_emit_cell_unknown(e);
}

static void add_group(struct tare_emit *e, const char *at, const struct tare_pool_group *g)
{
	struct tare_str label = { 0 };

	tare_pool_label(&label, g);
	tare_emit_cell_text(e, at);
	tare_emit_cell_int(e, g->device->index);
	tare_emit_cell_text(e, tare_str_text(&label));
	tare_emit_cell_int(e, g->pid);
	tare_emit_cell_int(e, g->generation);
	tare_emit_cell_int(e, g->is_expandable);
	tare_emit_cell_int(e, g->is_trial);
	tare_emit_cell_int(e, g->is_of_graph);
	cell_if(e, g->graph_pool);
	cell_if(e, g->first_graph);
	cell_if(e, g->last_graph);
	tare_segment_sum_emit(e, &g->sum);
	tare_emit_row(e);
	tare_str_free(&label);
}

static void add_pin(struct tare_emit *e, const struct tare_device_ledger *d,
		    const struct tare_pool_segment *s)
{
	if (!s->pin_bytes) {
		for (int i = 0; i < 4; i++)
			tare_emit_cell_unknown(e);
		return;
	}
	tare_emit_cell_textf(e, "0x%llx", (unsigned long long)s->pin_address);
	tare_emit_cell_int(e, s->pin_bytes);
	if (s->pin_born_ns < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, d->t_ns - s->pin_born_ns);
	tare_emit_cell_text(e, s->pin_line);
}

static void add_stream(struct tare_emit *e, const struct tare_stream *stream)
{
	struct tare_str name = { 0 };

	if (stream->kind == TARE_STREAM_NOT_KNOWN)
		return; /* missing cells are unknown */
	tare_stream_label(&name, stream);
	tare_emit_cell_text(e, tare_str_text(&name));
	tare_str_free(&name);
}

static void add_segment(struct tare_emit *e, const char *at, const struct tare_device_ledger *d,
			const struct tare_pool_segment *s)
{
	tare_emit_cell_text(e, at);
	tare_emit_cell_int(e, d->index);
	tare_emit_cell_int(e, s->pid);
	tare_emit_cell_textf(e, "0x%llx", (unsigned long long)s->address);
	tare_emit_cell_int(e, s->bytes);
	tare_emit_cell_int(e, s->live);
	tare_emit_cell_int(e, s->live ? s->bytes - s->live : 0);
	tare_emit_cell_uint(e, s->blocks);
	tare_emit_cell_int(e, s->is_expandable);
	tare_emit_cell_int(e, s->is_trial);
	tare_emit_cell_int(e, s->is_of_graph);
	tare_emit_cell_int(e, s->is_held);
	cell_if(e, s->graph_pool);
	add_pin(e, d, s);
	add_stream(e, &s->stream);
	tare_emit_row(e);
}

static void add_collected(struct tare_emit *e, const char *at, const struct tare_device_ledger *d)
{
	if (!d->segment_nr)
		return;
	tare_emit_cell_text(e, at);
	tare_emit_cell_int(e, d->index);
	tare_emit_cell_uint(e, d->collected.blocks);
	tare_emit_cell_int(e, d->collected.bytes);
	if (d->collected.waiting < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, d->collected.waiting);
	tare_emit_row(e);
}

static void add_groups(struct tare_emit *e, const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->device_nr; i++) {
		struct tare_pool_groups groups;

		tare_pool_build(&groups, ledger, &ledger->devices[i]);
		for (size_t k = 0; k < groups.count; k++)
			add_group(e, ledger->at, &groups.items[k]);
		tare_pool_free(&groups);
	}
}

void tare_pool_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *const *ledgers = ask->ledgers;
	int n = ask->ledger_nr;

	if (e->format == TARE_EMIT_TEXT) {
		tare_pool_text(e, ask);
		return;
	}
	tare_emit_str(e, "by", "pool");
	tare_emit_table(e, "rows", NULL, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < n; i++)
		add_groups(e, ledgers[i]);
	tare_emit_table_end(e);
	tare_emit_table(e, "segments", NULL, segment_columns,
			sizeof(segment_columns) / sizeof(segment_columns[0]));
	for (int i = 0; i < n; i++)
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			for (int k = 0; k < ledgers[i]->devices[d].segment_nr; k++)
				add_segment(e, ledgers[i]->at, &ledgers[i]->devices[d],
					    &ledgers[i]->devices[d].segments[k]);
	tare_emit_table_end(e);
	tare_streams_rows(e, "streams", ask);
	tare_emit_table(e, "collected", NULL, collected_columns,
			sizeof(collected_columns) / sizeof(collected_columns[0]));
	for (int i = 0; i < n; i++)
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			add_collected(e, ledgers[i]->at, &ledgers[i]->devices[d]);
	tare_emit_table_end(e);
	tare_emit_table(e, "witness", NULL, witness_columns,
			sizeof(witness_columns) / sizeof(witness_columns[0]));
	for (int i = 0; i < n; i++)
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			for (int k = 0; k < ledgers[i]->devices[d].pool_witness_nr; k++)
				add_witness(e, ledgers[i]->at, &ledgers[i]->devices[d],
					    &ledgers[i]->devices[d].pool_witnesses[k]);
	tare_emit_table_end(e);
}
