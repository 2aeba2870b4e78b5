/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how PyTorch's allocator uses its segments: `--by pool`. */
#include "view/pool.h"

#include "base/array.h"
#include "base/comparator.h"
#include "view/stream.h"

#include <stdlib.h>
#include <string.h>

static bool is_alike(const struct tare_pool_group *g, const struct tare_pool_segment *s)
{
	return g->pid == s->pid && g->generation == s->generation && g->is_expandable == s->is_expandable &&
	       g->is_of_graph == s->is_of_graph && g->graph_pool == s->graph_pool && g->is_trial == s->is_trial;
}

static struct tare_pool_group *group_of(struct tare_pool_groups *out, const struct tare_pool_segment *s)
{
	for (size_t i = 0; i < out->count; i++)
		if (is_alike(&out->items[i], s))
			return &out->items[i];
	return TARE_ADD(out->items, out->count, out->cap,
	                (struct tare_pool_group){ .pid = s->pid,
	                                          .generation = s->generation,
	                                          .is_expandable = s->is_expandable,
	                                          .is_trial = s->is_trial,
	                                          .is_of_graph = s->is_of_graph,
	                                          .graph_pool = s->graph_pool });
}

static void find_graphs(struct tare_pool_group *g, const struct tare_ledger *ledger)
{
	for (int i = 0; g->graph_pool && i < ledger->graph_nr; i++) {
		const struct tare_graph *graph = &ledger->graphs[i];

		if (graph->pool != g->graph_pool || graph->pid != g->pid || graph->generation != g->generation)
			continue;
		if (!g->first_graph || graph->number < g->first_graph)
			g->first_graph = graph->number;
		if (graph->number > g->last_graph)
			g->last_graph = graph->number;
	}
}

TARE_COMPARATOR(by_kind, struct tare_pool_group,
                TARE_RISING(pid) TARE_RISING(generation) TARE_RISING(is_of_graph) TARE_RISING(is_trial)
                    TARE_RISING(graph_pool) TARE_RISING(is_expandable))

void tare_pool_build(struct tare_pool_groups *out, const struct tare_ledger *ledger,
                     const struct tare_device_ledger *device)
{
	*out = (struct tare_pool_groups){ 0 };
	for (int i = 0; i < device->segment_nr; i++)
		tare_segment_sum_take(&group_of(out, &device->segments[i])->sum, &device->segments[i]);
	for (size_t i = 0; i < out->count; i++) {
		out->items[i].device = device;
		find_graphs(&out->items[i], ledger);
	}
	TARE_SORT(out->items, out->count, by_kind);
}

void tare_pool_free(struct tare_pool_groups *groups)
{
	free(groups->items);
	*groups = (struct tare_pool_groups){ 0 };
}

static void pool_label(struct tare_str *out, const struct tare_pool_group *g)
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
		tare_str_addf(out, "s %llu–%llu", (unsigned long long)g->first_graph, (unsigned long long)g->last_graph);
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

void tare_pool_add_group(struct tare_emit *e, const char *at, const struct tare_pool_group *g, bool has_pid)
{
	struct tare_pool_row row = { .at = at, .device = g->device->index, .of = *g, .sum = g->sum };

	pool_label(&row.label, g);
	if (has_pid)
		tare_str_addf(&row.label, ", pid %lld", (long long)g->pid);
	tare_emit_add(e, &row);
	tare_str_free(&row.label);
}

const struct tare_column tare_pool_columns[TARE_POOL_COLUMN_NR] = {
	TARE_COLUMN(tare_pool_row, at, "at", NULL, TEXT),
	TARE_COLUMN(tare_pool_row, device, "device", NULL, ID),
	TARE_COLUMN(tare_pool_row, label, "label", "PYTORCH'S", TEXT),
	TARE_COLUMN(tare_pool_row, of.pid, "pid", NULL, ID),
	TARE_COLUMN(tare_pool_row, of.generation, "generation", NULL, ID),
	TARE_COLUMN(tare_pool_row, of.is_expandable, "expandable", NULL, FLAG),
	TARE_COLUMN(tare_pool_row, of.is_trial, "trial", NULL, FLAG),
	TARE_COLUMN(tare_pool_row, of.is_of_graph, "for_graphs", NULL, FLAG),
	TARE_COLUMN(tare_pool_row, of.graph_pool, "graph_pool", NULL, COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(tare_pool_row, of.first_graph, "first_graph", NULL, COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(tare_pool_row, of.last_graph, "last_graph", NULL, COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_SEGMENT_SUM_COLUMNS(tare_pool_row),
};

struct segment {
	const char *at;
	int device;
	int64_t stuck, pin_age_ns;
	bool has_pin, has_stream, has_age;
	struct tare_str stream;
	struct tare_pool_segment of;
};

#define PIN .when = TARE_WHEN(segment, has_pin)

static const struct tare_column segment_columns[] = {
	TARE_COLUMN(segment, at, "at", NULL, TEXT),
	TARE_COLUMN(segment, device, "device", NULL, ID),
	TARE_COLUMN(segment, of.pid, "pid", NULL, ID),
	TARE_COLUMN(segment, of.address, "address", NULL, ADDRESS),
	TARE_COLUMN(segment, of.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(segment, of.live, "live_bytes", NULL, BYTES),
	TARE_COLUMN(segment, stuck, "stuck_bytes", NULL, BYTES),
	TARE_COLUMN(segment, of.blocks, "blocks", NULL, COUNT),
	TARE_COLUMN(segment, of.is_expandable, "expandable", NULL, FLAG),
	TARE_COLUMN(segment, of.is_trial, "trial", NULL, FLAG),
	TARE_COLUMN(segment, of.is_of_graph, "for_graphs", NULL, FLAG),
	TARE_COLUMN(segment, of.is_held, "held", NULL, FLAG),
	TARE_COLUMN(segment, of.graph_pool, "graph_pool", NULL, COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(segment, of.pin_address, "pin_address", NULL, ADDRESS, PIN),
	TARE_COLUMN(segment, of.pin_bytes, "pin_bytes", NULL, BYTES, PIN),
	TARE_COLUMN(segment, pin_age_ns, "pin_age_ns", NULL, DURATION, .when = TARE_WHEN(segment, has_age)),
	TARE_COLUMN(segment, of.pin_line, "pin_source", NULL, TEXT, PIN),
	TARE_COLUMN(segment, stream, "stream", NULL, TEXT, .when = TARE_WHEN(segment, has_stream)),
};

struct collected {
	const char *at;
	int device;
	struct tare_collected_ledger of;
};

static const struct tare_column collected_columns[] = {
	TARE_COLUMN(collected, at, "at", NULL, TEXT),
	TARE_COLUMN(collected, device, "device", NULL, ID),
	TARE_COLUMN(collected, of.blocks, "blocks", NULL, COUNT),
	TARE_COLUMN(collected, of.bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(collected, of.waiting, "waiting_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
};

struct witness {
	const char *at;
	int device;
	int64_t rounding;
	enum tare_evidence evidence;
	struct tare_pool_self_report of;
};

#define SAID     .unknown = TARE_UNKNOWN_NEGATIVE
#define COMPARED .unknown = TARE_UNKNOWN_NEGATIVE, .when = TARE_WHEN(witness, of.is_compared)

static const struct tare_column witness_columns[] = {
	TARE_COLUMN(witness, at, "at", NULL, TEXT),
	TARE_COLUMN(witness, device, "device", NULL, ID),
	TARE_COLUMN(witness, of.pid, "pid", NULL, ID),
	TARE_COLUMN(witness, of.generation, "generation", NULL, ID),
	TARE_COLUMN(witness, of.t_ns, "t_ns", NULL, TIME),
	TARE_COLUMN(witness, of.allocated, "allocated_bytes", NULL, BYTES),
	TARE_COLUMN(witness, of.reserved, "reserved_bytes", NULL, BYTES),
	TARE_COLUMN(witness, of.active, "active_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(witness, of.requested, "requested_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(witness, of.inactive_split, "inactive_split_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(witness, rounding, "rounding_bytes", NULL, BYTES, SAID),
	TARE_COLUMN(witness, of.live, "live_bytes", NULL, BYTES, COMPARED),
	TARE_COLUMN(witness, of.segments, "segment_bytes", NULL, BYTES, COMPARED),
	TARE_COLUMN(witness, evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
};

static void add_groups(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	struct tare_pool_groups groups;

	tare_pool_build(&groups, ledger, d);
	for (size_t k = 0; k < groups.count; k++)
		tare_pool_add_group(e, ledger->at, &groups.items[k], false);
	tare_pool_free(&groups);
}

static void add_segments(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	for (int i = 0; i < d->segment_nr; i++) {
		const struct tare_pool_segment *s = &d->segments[i];
		struct segment row = { .at = ledger->at,
			                   .device = d->index,
			                   .stuck = tare_pool_stuck(s),
			                   .has_pin = s->pin_bytes != 0,
			                   .has_age = s->pin_bytes && s->pin_born_ns >= 0,
			                   .has_stream = s->stream.kind != TARE_STREAM_NOT_KNOWN,
			                   .of = *s };

		if (row.has_age)
			row.pin_age_ns = d->t_ns - s->pin_born_ns;
		tare_stream_label(&row.stream, &s->stream);
		tare_emit_add(e, &row);
		tare_str_free(&row.stream);
	}
}

static void add_collected(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	if (d->segment_nr)
		tare_emit_add(e, &(struct collected){ ledger->at, d->index, d->collected });
}

static void add_witnesses(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	for (int i = 0; i < d->self_report_nr; i++) {
		const struct tare_pool_self_report *s = &d->self_reports[i];

		tare_emit_add(e, &(struct witness){ .at = ledger->at,
		                                    .device = d->index,
		                                    .rounding = s->requested < 0 ? -1 : s->allocated - s->requested,
		                                    .evidence = TARE_EVIDENCE_WITNESS,
		                                    .of = *s });
	}
}

static void show_table(struct tare_emit *e, const char *name, const struct tare_column *columns, size_t count,
                       const struct tare_by_ask *ask,
                       void (*add)(struct tare_emit *e, const struct tare_ledger *ledger,
                                   const struct tare_device_ledger *d))
{
	tare_emit_table(e, name, NULL, columns, count);
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int d = 0; d < ask->ledgers[i]->device_nr; d++)
			add(e, ask->ledgers[i], &ask->ledgers[i]->devices[d]);
	tare_emit_table_end(e);
}

void tare_pool_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e)) {
		tare_pool_text(e, ask);
		return;
	}
	show_table(e, "rows", TARE_COLUMNS(tare_pool_columns), ask, add_groups);
	show_table(e, "segments", TARE_COLUMNS(segment_columns), ask, add_segments);
	tare_streams_rows(e, "streams", ask);
	show_table(e, "collected", TARE_COLUMNS(collected_columns), ask, add_collected);
	show_table(e, "witness", TARE_COLUMNS(witness_columns), ask, add_witnesses);
}
