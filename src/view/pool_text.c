/* SPDX-License-Identifier: Apache-2.0 */
/* `--by pool` on the screen: sums by kind of segment, and the segments in which most is stuck. */
#include "view/pool.h"

#include "base/units.h"
#include "view/stream.h"

enum { SCREEN_SEGMENTS = 10 };

static bool is_of_several(const struct tare_pool_groups *groups)
{
	for (size_t i = 1; i < groups->count; i++)
		if (groups->items[i].pid != groups->items[0].pid)
			return true;
	return false;
}

static void add_groups(struct tare_emit *e, const char *title,
		       const struct tare_pool_groups *groups)
{
	static const struct tare_column columns[] = {
		TARE_LOOSE(NULL, "PYTORCH'S", TEXT),
		TARE_SEGMENT_SUM_SHOWN,
	};
	struct tare_segment_sum all = { 0 };
	bool has_pids = is_of_several(groups);

	tare_emit_table(e, "pool", title, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < groups->count; i++) {
		struct tare_str label = { 0 };

		tare_pool_label(&label, &groups->items[i]);
		if (has_pids)
			tare_str_addf(&label, ", pid %lld", (long long)groups->items[i].pid);
		tare_emit_cell_text(e, tare_str_text(&label));
		tare_segment_sum_show(e, &groups->items[i].sum);
		tare_emit_row(e);
		tare_segment_sum_join(&all, &groups->items[i].sum);
		tare_str_free(&label);
	}
	if (groups->count > 1) {
		tare_emit_rule(e);
		tare_emit_cell_text(e, "all");
		tare_segment_sum_show(e, &all);
		tare_emit_row(e);
	}
	tare_emit_table_end(e);
}

static int64_t stuck(const struct tare_pool_segment *s)
{
	return s->live ? s->bytes - s->live : 0;
}

static void add_segment(struct tare_emit *e, const struct tare_device_ledger *d,
			const struct tare_pool_segment *s)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_emit_cell_int(e, stuck(s));
	tare_emit_cell_int(e, s->bytes);
	tare_emit_cell_uint(e, s->blocks);
	tare_emit_cell_text(e, tare_units_human(text, (uint64_t)s->pin_bytes));
	if (s->pin_born_ns < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, d->t_ns - s->pin_born_ns);
	tare_emit_cell_text(e, s->pin_short_line);
	tare_emit_row(e);
}

/* Objects in a cycle stay until Python looks for cycles, and with them the tensors that they have. */
static void add_collected(struct tare_emit *e, const struct tare_collected_ledger *c)
{
	char blocks[TARE_UNITS_TEXT_MAX], bytes[TARE_UNITS_TEXT_MAX];

	if (c->waiting > 0)
		tare_emit_note(e, "%s MiB of it waited for Python's cyclic collector",
			       tare_units_mib(bytes, c->waiting));
	if (c->blocks)
		tare_emit_note(
			e,
			"%s blocks, %s MiB in all, were freed by Python's cyclic collector until then",
			tare_units_count(blocks, c->blocks), tare_units_mib(bytes, c->bytes));
}

/* What the program asked for inside its blocks is known only to the allocator. */
static void add_witness(struct tare_emit *e, const struct tare_pool_witness *s, bool has_pids)
{
	char t[TARE_UNITS_TEXT_MAX], rounding[TARE_UNITS_TEXT_MAX], live[TARE_UNITS_TEXT_MAX];
	struct tare_str who = { 0 };

	if (s->requested < 0)
		return;
	if (has_pids)
		tare_str_addf(&who, ", pid %lld", (long long)s->pid);
	tare_emit_note(e, "rounding (torch's own count at %s%s): %s MiB of %s live",
		       tare_units_duration(t, s->t_ns), tare_str_text(&who),
		       tare_units_mib(rounding, s->allocated - s->requested),
		       tare_units_mib(live, s->allocated));
	tare_str_free(&who);
}

/* They come with most stuck in them first. */
static void add_stuck(struct tare_emit *e, const struct tare_device_ledger *d)
{
	static const struct tare_column columns[] = {
		TARE_LOOSE(NULL, "STUCK", BYTES),  TARE_LOOSE(NULL, "OF", BYTES),
		TARE_LOOSE(NULL, "BLOCKS", COUNT), TARE_LOOSE(NULL, "OLDEST", TEXT),
		TARE_LOOSE(NULL, "AGE", DURATION), TARE_LOOSE(NULL, "FROM", TEXT),
	};
	int64_t rest = 0;
	int n = 0;

	while (n < d->segment_nr && stuck(&d->segments[n]))
		n++;
	if (!n)
		return;
	tare_str_add_char(e->out, '\n');
	tare_emit_table(e, "stuck", "cached in segments that live blocks pin, the largest first",
			columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < n && i < SCREEN_SEGMENTS; i++)
		add_segment(e, d, &d->segments[i]);
	tare_emit_table_end(e);
	for (int i = SCREEN_SEGMENTS; i < n; i++)
		rest += stuck(&d->segments[i]);
	if (n > SCREEN_SEGMENTS) {
		char text[TARE_UNITS_TEXT_MAX];

		tare_emit_note(e, "and %d more with %s MiB: --json has all of them",
			       n - SCREEN_SEGMENTS, tare_units_mib(text, rest));
	}
}

void tare_pool_title(struct tare_str *out, const struct tare_ledger *ledger,
		     const struct tare_device_ledger *d)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "GPU %d  ", d->index);
	tare_text_add_name(out, d->name);
	tare_str_addf(out, " · at %s", ledger->at);
	if (ledger->t_ns < 0)
		tare_str_addf(out, " %s", tare_units_duration(text, d->t_ns));
}

const char *tare_pool_why_empty(const struct tare_device_ledger *d)
{
	return tare_pool_is_there(d)
		       ? "that part of the recording was folded into totals; its segments are not known any "
			 "more"
		       : "no segments of PyTorch's allocator";
}

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger,
		       const struct tare_device_ledger *d)
{
	struct tare_pool_groups groups;
	struct tare_str title = { 0 };

	tare_pool_title(&title, ledger, d);
	tare_pool_build(&groups, ledger, d);
	if (groups.count) {
		add_groups(e, tare_str_text(&title), &groups);
		for (int i = 0; i < d->pool_witness_nr; i++)
			add_witness(e, &d->pool_witnesses[i], is_of_several(&groups));
		add_collected(e, &d->collected);
		tare_streams_table(e, "by stream", d, false);
		add_stuck(e, d);
	} else {
		tare_emit_note(e, "%s: %s", tare_str_text(&title), tare_pool_why_empty(d));
	}
	tare_pool_free(&groups);
	tare_str_free(&title);
}

void tare_pool_each(struct tare_emit *e, const struct tare_by_ask *ask,
		    void (*show)(struct tare_emit *e, const struct tare_ledger *ledger,
				 const struct tare_device_ledger *d))
{
	const struct tare_ledger *const *ledgers = ask->ledgers;
	bool is_any = false;

	for (int d = 0; d < ledgers[0]->device_nr; d++) {
		bool is_there = false;

		for (int i = 0; i < ask->ledger_nr; i++)
			is_there |= tare_pool_is_there(&ledgers[i]->devices[d]);
		for (int i = 0; is_there && i < ask->ledger_nr; i++) {
			if (is_any)
				tare_str_add_char(e->out, '\n');
			show(e, ledgers[i], &ledgers[i]->devices[d]);
			is_any = true;
		}
	}
}

void tare_pool_legend(struct tare_emit *e)
{
	tare_emit_note(
		e,
		"CACHED can be given back. STUCK lies beside live blocks, which pin its segment.");
	tare_emit_note(e, "FOR GRAPHS is cached too, but replays of CUDA graphs use it.");
}

void tare_pool_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	tare_pool_each(e, ask, add_device);
	tare_str_add_char(e->out, '\n');
	tare_pool_legend(e);
}
