/* SPDX-License-Identifier: Apache-2.0 */
/* `--by stream` on the screen: what each stream has, and what of it is nothing to the others. */
#include "view/stream.h"

#include "base/units.h"
#include "view/pool.h"

#include <stdlib.h>

enum { SCREEN_NOTES = 5 };

static void label(struct tare_str *out, const struct tare_stream_group *g, bool has_pid)
{
	tare_stream_label(out, &g->stream);
	if (has_pid)
		tare_str_addf(out, ", pid %lld", (long long)g->pid);
}

static void add_sum(struct tare_emit *e, const char *name, const struct tare_segment_sum *sum)
{
	tare_emit_cell_text(e, name);
	tare_segment_sum_show(e, sum);
	tare_emit_row(e);
}

static int64_t unused(const struct tare_stream_group *g)
{
	return g->sum.cached + g->sum.stuck;
}

static int by_unused(const void *a, const void *b)
{
	const struct tare_stream_group *x = a, *y = b;
	int64_t more = unused(y) - unused(x);

	return more ? (more > 0) - (more < 0) : tare_streams_compare(a, b);
}

/* What is cached for one stream is nothing to the others, however much they need. Changes the order. */
static void add_notes(struct tare_emit *e, struct tare_stream_groups *groups)
{
	char text[TARE_UNITS_TEXT_MAX];

	qsort(groups->items, groups->count, sizeof(*groups->items), by_unused);
	for (size_t i = 0; i < groups->count && i < SCREEN_NOTES; i++) {
		const struct tare_stream_group *g = &groups->items[i];
		struct tare_str name = { 0 };

		if (unused(g) == 0 || g->stream.kind == TARE_STREAM_NOT_KNOWN)
			continue;
		label(&name, g, groups->has_pids);
		tare_emit_note(e, "cached on %s: %s MiB, which the other streams cannot use",
			       tare_str_text(&name), tare_units_mib(text, unused(g)));
		tare_str_free(&name);
	}
}

static void add_otherwise(struct tare_emit *e, uint64_t blocks)
{
	if (blocks)
		tare_emit_note(
			e,
			"%llu block%s came while another stream was current than that of %s segment: "
			"whoever asked named the stream",
			(unsigned long long)blocks, blocks == 1 ? "" : "s",
			blocks == 1 ? "its" : "their");
}

static void add_table(struct tare_emit *e, const char *title,
		      const struct tare_stream_groups *groups, bool has_sum,
		      struct tare_segment_sum *all)
{
	static const struct tare_column columns[] = {
		TARE_LOOSE(NULL, "STREAM", TEXT),
		TARE_SEGMENT_SUM_SHOWN,
	};

	tare_emit_table(e, "streams", title, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < groups->count; i++) {
		struct tare_str name = { 0 };

		label(&name, &groups->items[i], groups->has_pids);
		add_sum(e, tare_str_text(&name), &groups->items[i].sum);
		tare_segment_sum_join(all, &groups->items[i].sum);
		tare_str_free(&name);
	}
	if (has_sum) {
		tare_emit_rule(e);
		add_sum(e, "all", all);
	}
	tare_emit_table_end(e);
}

void tare_streams_table(struct tare_emit *e, const char *title,
			const struct tare_device_ledger *device, bool is_asked)
{
	struct tare_stream_groups groups;
	struct tare_segment_sum all = { 0 };

	tare_streams_build(&groups, device);
	if (groups.is_several || (is_asked && groups.count)) {
		if (!is_asked)
			tare_str_add_char(e->out, '\n');
		add_table(e, title, &groups, is_asked && groups.count > 1, &all);
		if (groups.is_several)
			add_notes(e, &groups);
		add_otherwise(e, all.otherwise);
	}
	tare_streams_free(&groups);
}

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger,
		       const struct tare_device_ledger *d)
{
	struct tare_str title = { 0 };

	tare_pool_title(&title, ledger, d);
	if (d->segment_nr)
		tare_streams_table(e, tare_str_text(&title), d, true);
	else
		tare_emit_note(e, "%s: %s", tare_str_text(&title), tare_pool_why_empty(d));
	tare_str_free(&title);
}

void tare_streams_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	tare_pool_each(e, ask, add_device);
	tare_str_add_char(e->out, '\n');
	tare_pool_legend(e);
}
