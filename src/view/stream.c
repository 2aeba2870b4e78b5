/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what PyTorch's allocator has for each stream: `--by stream`. */
#include "view/stream.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/units.h"
#include "view/pool.h"

#include <stdlib.h>

enum { SCREEN_NOTES = 5 };

static bool is_alike(const struct tare_stream_group *g, const struct tare_pool_segment *s)
{
	return g->pid == s->pid && g->generation == s->generation && g->stream.kind == s->stream.kind &&
	       g->stream.id == s->stream.id;
}

/* Neighbours are mostly of one stream. */
static struct tare_stream_group *group_of(struct tare_stream_groups *out, const struct tare_pool_segment *s)
{
	for (size_t i = out->count; i-- > 0;)
		if (is_alike(&out->items[i], s))
			return &out->items[i];
	return TARE_ADD(out->items, out->count, out->cap,
	                (struct tare_stream_group){ .stream = s->stream, .pid = s->pid, .generation = s->generation });
}

static int order(enum tare_stream_kind kind)
{
	return kind == TARE_STREAM_NOT_KNOWN ? TARE_STREAM_OTHER + 1 : (int)kind;
}

/* By process, then the default stream, those of PyTorch, the program's own, what is not known. */
TARE_COMPARATOR(streams_compare, struct tare_stream_group,
                TARE_RISING(pid) TARE_RISING(generation) TARE_RISING_BY(order(it->stream.kind))
                    TARE_FALLING(stream.priority) TARE_RISING(stream.number) TARE_RISING(stream.id))

static void streams_build(struct tare_stream_groups *out, const struct tare_device_ledger *device)
{
	*out = (struct tare_stream_groups){ 0 };
	for (int i = 0; i < device->segment_nr; i++)
		tare_segment_sum_take(&group_of(out, &device->segments[i])->sum, &device->segments[i]);
	TARE_SORT(out->items, out->count, streams_compare);
	out->has_pids = out->count && out->items[0].pid != out->items[out->count - 1].pid;
	for (size_t i = 1; i < out->count; i++) /* what is not known comes last */
		out->is_several |= out->items[i].pid == out->items[i - 1].pid &&
		                   out->items[i].generation == out->items[i - 1].generation &&
		                   out->items[i].stream.kind != TARE_STREAM_NOT_KNOWN;
}

static void streams_free(struct tare_stream_groups *groups)
{
	free(groups->items);
	*groups = (struct tare_stream_groups){ 0 };
}

void tare_stream_label(struct tare_str *out, const struct tare_stream *s)
{
	switch (s->kind) {
	case TARE_STREAM_DEFAULT:
		tare_str_add(out, "default stream");
		return;
	case TARE_STREAM_OF_POOL:
		tare_str_addf(out, "stream %u (pool%s", s->number, s->priority < 0 ? ", high priority" : "");
		if (s->priority < -1)
			tare_str_addf(out, " %d", s->priority);
		tare_str_add(out, ")");
		return;
	case TARE_STREAM_EXTERNAL:
		tare_str_addf(out, "external stream 0x%llx", (unsigned long long)s->id);
		return;
	case TARE_STREAM_OTHER:
		tare_str_addf(out, "stream 0x%llx", (unsigned long long)s->id);
		return;
	case TARE_STREAM_NOT_KNOWN:
		break;
	}
	tare_str_add(out, "stream not known");
}

static bool is_known(const struct tare_device_ledger *d)
{
	for (int i = 0; i < d->segment_nr; i++)
		if (d->segments[i].stream.kind != TARE_STREAM_NOT_KNOWN)
			return true;
	return !d->segment_nr && tare_pool_is_there(d);
}

/* Also true where the segments were folded, and nobody knows. */
bool tare_streams_is_any(const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < ask->ledgers[i]->device_nr; k++)
			if (is_known(&ask->ledgers[i]->devices[k]))
				return true;
	return false;
}

/* ---- the table ---- */

struct row {
	const char *at;
	int device;
	struct tare_str label;
	bool is_known, is_of_pool;
	int64_t pid, generation;
	struct tare_stream stream;
	struct tare_segment_sum sum;
};

static const char *kind_name(unsigned kind)
{
	static const char *const kinds[] = {
		[TARE_STREAM_NOT_KNOWN] = "not known", [TARE_STREAM_DEFAULT] = "default", [TARE_STREAM_OF_POOL] = "pool",
		[TARE_STREAM_EXTERNAL] = "external",   [TARE_STREAM_OTHER] = "other",
	};

	return kinds[kind];
}

#define OF_POOL .when = TARE_WHEN(row, is_of_pool)

static const struct tare_column columns[] = {
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, device, "device", NULL, ID),
	TARE_COLUMN(row, label, "label", "STREAM", TEXT),
	TARE_COLUMN(row, pid, "pid", NULL, ID),
	TARE_COLUMN(row, generation, "generation", NULL, ID),
	TARE_COLUMN(row, stream.kind, "kind", NULL, TEXT, .name = kind_name),
	TARE_COLUMN(row, stream.id, "id", NULL, ADDRESS, .when = TARE_WHEN(row, is_known)),
	TARE_COLUMN(row, stream.number, "number", NULL, ID, OF_POOL),
	TARE_COLUMN(row, stream.priority, "priority", NULL, COUNT, OF_POOL),
	TARE_SEGMENT_SUM_COLUMNS(row),
	TARE_COLUMN(row, sum.other_stream_blocks, "blocks_otherwise", NULL, COUNT),
};

static void add_label(struct tare_str *out, const struct tare_stream_group *g, bool has_pid)
{
	tare_stream_label(out, &g->stream);
	if (has_pid)
		tare_str_addf(out, ", pid %lld", (long long)g->pid);
}

static void add_rows(struct tare_emit *e, const char *at, const struct tare_device_ledger *d,
                     const struct tare_stream_groups *groups)
{
	bool has_pids = groups->has_pids && tare_emit_is_for_people(e);

	for (size_t i = 0; i < groups->count; i++) {
		const struct tare_stream_group *g = &groups->items[i];
		struct row row = { .at = at,
			               .device = d->index,
			               .is_known = g->stream.kind != TARE_STREAM_NOT_KNOWN,
			               .is_of_pool = g->stream.kind == TARE_STREAM_OF_POOL,
			               .pid = g->pid,
			               .generation = g->generation,
			               .stream = g->stream,
			               .sum = g->sum };

		add_label(&row.label, g, has_pids);
		tare_emit_add(e, &row);
		tare_str_free(&row.label);
	}
}

/* ---- for scripts ---- */

void tare_streams_rows(struct tare_emit *e, const char *name, const struct tare_by_ask *ask)
{
	tare_emit_table(e, name, NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < ask->ledgers[i]->device_nr; k++) {
			const struct tare_device_ledger *d = &ask->ledgers[i]->devices[k];
			struct tare_stream_groups groups;

			streams_build(&groups, d);
			add_rows(e, ask->ledgers[i]->at, d, &groups);
			streams_free(&groups);
		}
	tare_emit_table_end(e);
}

/* ---- for people ---- */

static int64_t unused(const struct tare_stream_group *g)
{
	return g->sum.cached + g->sum.stuck;
}

TARE_COMPARATOR(by_unused, struct tare_stream_group, TARE_FALLING_BY(unused(it)) TARE_COMPARED(streams_compare(x, y)))

/* What is cached for one stream is nothing to the others, however much they need. Changes the order. */
static void add_notes(struct tare_emit *e, struct tare_stream_groups *groups)
{
	char text[TARE_UNITS_TEXT_MAX];

	TARE_SORT(groups->items, groups->count, by_unused);
	for (size_t i = 0; i < groups->count && i < SCREEN_NOTES; i++) {
		const struct tare_stream_group *g = &groups->items[i];
		TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

		if (unused(g) == 0 || g->stream.kind == TARE_STREAM_NOT_KNOWN)
			continue;
		add_label(&name, g, groups->has_pids);
		tare_emit_note(e, "cached on %s: %s MiB, which the other streams cannot use", tare_str_text(&name),
		               tare_units_mib(text, unused(g)));
	}
}

static void add_other_stream_blocks(struct tare_emit *e, uint64_t blocks)
{
	if (blocks)
		tare_emit_note(e,
		               "%llu block%s came while another stream was current than that of %s segment: "
		               "whoever asked named the stream",
		               (unsigned long long)blocks, blocks == 1 ? "" : "s", blocks == 1 ? "its" : "their");
}

void tare_streams_table(struct tare_emit *e, const char *title, const struct tare_device_ledger *device, bool is_asked)
{
	struct tare_stream_groups groups;
	uint64_t other_stream_blocks = 0;

	streams_build(&groups, device);
	if (groups.is_several || (is_asked && groups.count)) {
		if (!is_asked)
			tare_emit_gap(e);
		tare_emit_table(e, "streams", title, TARE_COLUMNS(columns));
		add_rows(e, NULL, device, &groups);
		if (is_asked && groups.count > 1)
			tare_emit_sum(e, "all");
		tare_emit_table_end(e);
		for (size_t i = 0; i < groups.count; i++)
			other_stream_blocks += groups.items[i].sum.other_stream_blocks;
		if (groups.is_several)
			add_notes(e, &groups);
		add_other_stream_blocks(e, other_stream_blocks);
	}
	streams_free(&groups);
}

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_pool_title(&title, ledger, d);
	if (d->segment_nr)
		tare_streams_table(e, tare_str_text(&title), d, true);
	else
		tare_emit_note(e, "%s: %s", tare_str_text(&title), tare_pool_why_empty(d));
}

static void show_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	tare_pool_each(e, ask, add_device);
	tare_emit_gap(e);
	tare_pool_legend(e);
}

void tare_streams_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e)) {
		show_text(e, ask);
		return;
	}
	tare_streams_rows(e, "rows", ask);
}
