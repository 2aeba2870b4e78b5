/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stream.h"

#include "base/array.h"
#include "view/pool.h"

#include <stdlib.h>

static bool is_alike(const struct tare_stream_group *g, const struct tare_pool_segment *s)
{
	return g->pid == s->pid && g->generation == s->generation &&
	       g->stream.kind == s->stream.kind && g->stream.id == s->stream.id;
}

/* Neighbours are mostly of one stream. */
static struct tare_stream_group *group_of(struct tare_stream_groups *out,
					  const struct tare_pool_segment *s)
{
	for (size_t i = out->count; i-- > 0;)
		if (is_alike(&out->items[i], s))
			return &out->items[i];
	out->items = tare_array_reserve(out->items, &out->cap, out->count + 1, sizeof(*out->items));
	out->items[out->count] = (struct tare_stream_group){ .stream = s->stream,
							     .pid = s->pid,
							     .generation = s->generation };
	return &out->items[out->count++];
}

static int order(enum tare_stream_kind kind)
{
	return kind == TARE_STREAM_NOT_KNOWN ? TARE_STREAM_OTHER + 1 : (int)kind;
}

int tare_streams_compare(const void *a, const void *b)
{
	const struct tare_stream_group *x = a, *y = b;
	const struct tare_stream *s = &x->stream, *t = &y->stream;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (s->kind != t->kind)
		return order(s->kind) - order(t->kind);
	if (s->priority != t->priority)
		return t->priority - s->priority;
	if (s->number != t->number)
		return s->number < t->number ? -1 : 1;
	return s->id < t->id ? -1 : s->id > t->id;
}

void tare_streams_build(struct tare_stream_groups *out, const struct tare_device_ledger *device)
{
	*out = (struct tare_stream_groups){ 0 };
	for (int i = 0; i < device->segment_nr; i++)
		tare_segment_sum_take(&group_of(out, &device->segments[i])->sum,
				      &device->segments[i]);
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), tare_streams_compare);
	out->has_pids = out->count && out->items[0].pid != out->items[out->count - 1].pid;
	for (size_t i = 1; i < out->count; i++) /* what is not known comes last */
		out->is_several |= out->items[i].pid == out->items[i - 1].pid &&
				   out->items[i].generation == out->items[i - 1].generation &&
				   out->items[i].stream.kind != TARE_STREAM_NOT_KNOWN;
}

void tare_streams_free(struct tare_stream_groups *groups)
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
		tare_str_addf(out, "stream %u (pool%s", s->number,
			      s->priority < 0 ? ", high priority" : "");
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

/* ---- for scripts ---- */

static const struct tare_column columns[] = {
	TARE_LOOSE("at", "", TEXT),
	TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("label", "", TEXT),
	TARE_LOOSE("pid", "", COUNT),
	TARE_LOOSE("generation", "", COUNT),
	TARE_LOOSE("kind", "", TEXT),
	TARE_LOOSE("id", "", TEXT),
	TARE_LOOSE("number", "", COUNT),
	TARE_LOOSE("priority", "", COUNT),
	TARE_SEGMENT_SUM_DATA,
	TARE_LOOSE("blocks_otherwise", "", COUNT),
};

static const char *const kinds[] = {
	[TARE_STREAM_NOT_KNOWN] = "not known", [TARE_STREAM_DEFAULT] = "default",
	[TARE_STREAM_OF_POOL] = "pool",        [TARE_STREAM_EXTERNAL] = "external",
	[TARE_STREAM_OTHER] = "other",
};

static void add_stream(struct tare_emit *e, const struct tare_stream *s)
{
	tare_emit_cell_text(e, kinds[s->kind]);
	if (s->kind == TARE_STREAM_NOT_KNOWN)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_textf(e, "0x%llx", (unsigned long long)s->id);
	if (s->kind == TARE_STREAM_OF_POOL) {
		tare_emit_cell_uint(e, s->number);
		tare_emit_cell_int(e, s->priority);
	} else {
		tare_emit_cell_unknown(e);
		tare_emit_cell_unknown(e);
	}
}

static void add_row(struct tare_emit *e, const char *at, const struct tare_device_ledger *d,
		    const struct tare_stream_group *g)
{
	struct tare_str name = { 0 };

	tare_stream_label(&name, &g->stream);
	tare_emit_cell_text(e, at);
	tare_emit_cell_int(e, d->index);
	tare_emit_cell_text(e, tare_str_text(&name));
	tare_emit_cell_int(e, g->pid);
	tare_emit_cell_int(e, g->generation);
	add_stream(e, &g->stream);
	tare_segment_sum_emit(e, &g->sum);
	tare_emit_cell_uint(e, g->sum.otherwise);
	tare_emit_row(e);
	tare_str_free(&name);
}

void tare_streams_rows(struct tare_emit *e, const char *name, const struct tare_by_ask *ask)
{
	const struct tare_ledger *const *ledgers = ask->ledgers;

	tare_emit_table(e, name, NULL, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int d = 0; d < ledgers[i]->device_nr; d++) {
			struct tare_stream_groups groups;

			tare_streams_build(&groups, &ledgers[i]->devices[d]);
			for (size_t k = 0; k < groups.count; k++)
				add_row(e, ledgers[i]->at, &ledgers[i]->devices[d],
					&groups.items[k]);
			tare_streams_free(&groups);
		}
	tare_emit_table_end(e);
}

void tare_streams_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (e->format == TARE_EMIT_TEXT) {
		tare_streams_text(e, ask);
		return;
	}
	tare_emit_str(e, "by", "stream");
	tare_streams_rows(e, "rows", ask);
}
