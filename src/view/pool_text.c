/* SPDX-License-Identifier: Apache-2.0 */
/* `--by pool` on the screen: sums by kind of segment, and the segments in which most is stuck. */
#include "view/pool.h"

#include "base/units.h"
#include "view/device_text.h"
#include "view/stream.h"

enum { SCREEN_SEGMENTS = 10 };

static bool is_of_several(const struct tare_pool_groups *groups)
{
	for (size_t i = 1; i < groups->count; i++)
		if (groups->items[i].pid != groups->items[0].pid)
			return true;
	return false;
}

static void add_groups(struct tare_emit *e, const char *title, const struct tare_pool_groups *groups)
{
	tare_emit_table(e, "pool", title, TARE_COLUMNS(tare_pool_columns));
	for (size_t i = 0; i < groups->count; i++)
		tare_pool_add_group(e, NULL, &groups->items[i], is_of_several(groups));
	if (groups->count > 1)
		tare_emit_sum(e, "all");
	tare_emit_table_end(e);
}

int64_t tare_pool_stuck(const struct tare_pool_segment *s)
{
	return s->live ? s->bytes - s->live : 0;
}

struct stuck {
	int64_t bytes, age_ns;
	bool has_age;
	const char *oldest;
	struct tare_pool_segment of;
};

static const struct tare_column stuck_columns[] = {
	TARE_COLUMN(stuck, bytes, NULL, "STUCK", BYTES),
	TARE_COLUMN(stuck, of.bytes, NULL, "OF", BYTES),
	TARE_COLUMN(stuck, of.blocks, NULL, "BLOCKS", COUNT),
	TARE_COLUMN(stuck, oldest, NULL, "OLDEST", TEXT),
	TARE_COLUMN(stuck, age_ns, NULL, "AGE", DURATION, .when = TARE_WHEN(stuck, has_age)),
	TARE_COLUMN(stuck, of.pin_short_line, NULL, "FROM", TEXT),
};

static void add_segment(struct tare_emit *e, const struct tare_device_ledger *d, const struct tare_pool_segment *s)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_emit_add(e, &(struct stuck){ .bytes = tare_pool_stuck(s),
	                                  .age_ns = s->pin_born_ns < 0 ? 0 : d->t_ns - s->pin_born_ns,
	                                  .has_age = s->pin_born_ns >= 0,
	                                  .oldest = tare_units_human(text, (uint64_t)s->pin_bytes),
	                                  .of = *s });
}

/* Objects in a cycle stay until Python looks for cycles, and with them the tensors that they have. */
static void add_collected(struct tare_emit *e, const struct tare_collected_ledger *c)
{
	char blocks[TARE_UNITS_TEXT_MAX], bytes[TARE_UNITS_TEXT_MAX];

	if (c->waiting > 0)
		tare_emit_note(e, "%s MiB of it waited for Python's cyclic collector", tare_units_mib(bytes, c->waiting));
	if (c->blocks)
		tare_emit_note(e, "%s blocks, %s MiB in all, were freed by Python's cyclic collector until then",
		               tare_units_count(blocks, c->blocks), tare_units_mib(bytes, c->bytes));
}

/* What the program asked for inside its blocks is known only to the allocator. */
static void add_self_report(struct tare_emit *e, const struct tare_pool_self_report *s, bool has_pids)
{
	char t[TARE_UNITS_TEXT_MAX], rounding[TARE_UNITS_TEXT_MAX], live[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str who = { 0 };

	if (s->requested < 0)
		return;
	if (has_pids)
		tare_str_addf(&who, ", pid %lld", (long long)s->pid);
	tare_emit_note(e, "rounding (torch's own count at %s%s): %s MiB of %s live", tare_units_duration(t, s->t_ns),
	               tare_str_text(&who), tare_units_mib(rounding, s->allocated - s->requested),
	               tare_units_mib(live, s->allocated));
}

/* Segments come in the order of the bytes that are stuck in them, the most first. */
static void add_stuck(struct tare_emit *e, const struct tare_device_ledger *d)
{
	int64_t rest = 0;
	int n = 0;

	while (n < d->segment_nr && tare_pool_stuck(&d->segments[n]))
		n++;
	if (!n)
		return;
	tare_emit_gap(e);
	tare_emit_table(e, "stuck", "cached in segments that live blocks pin, the largest first",
	                TARE_COLUMNS(stuck_columns));
	for (int i = 0; i < n && i < SCREEN_SEGMENTS; i++)
		add_segment(e, d, &d->segments[i]);
	tare_emit_table_end(e);
	for (int i = SCREEN_SEGMENTS; i < n; i++)
		rest += tare_pool_stuck(&d->segments[i]);
	if (n > SCREEN_SEGMENTS) {
		char text[TARE_UNITS_TEXT_MAX];

		tare_emit_note(e, "and %d more with %s MiB: --json has all of them", n - SCREEN_SEGMENTS,
		               tare_units_mib(text, rest));
	}
}

void tare_pool_title(struct tare_str *out, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "GPU %d  ", d->index);
	tare_device_text_name(out, d);
	tare_str_addf(out, " · at %s", ledger->at);
	if (ledger->t_ns < 0)
		tare_str_addf(out, " %s", tare_units_duration(text, d->t_ns));
}

const char *tare_pool_why_empty(const struct tare_device_ledger *d)
{
	return tare_pool_is_there(d) ? "that part of the recording was folded into totals; its segments are not known any "
	                               "more"
	                             : "no segments of PyTorch's allocator";
}

static void add_device(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_device_ledger *d)
{
	struct tare_pool_groups groups;
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_pool_title(&title, ledger, d);
	tare_pool_build(&groups, ledger, d);
	if (groups.count) {
		add_groups(e, tare_str_text(&title), &groups);
		for (int i = 0; i < d->self_report_nr; i++)
			add_self_report(e, &d->self_reports[i], is_of_several(&groups));
		add_collected(e, &d->collected);
		tare_streams_table(e, "by stream", d, false);
		add_stuck(e, d);
	} else {
		tare_emit_note(e, "%s: %s", tare_str_text(&title), tare_pool_why_empty(d));
	}
	tare_pool_free(&groups);
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
				tare_emit_gap(e);
			show(e, ledgers[i], &ledgers[i]->devices[d]);
			is_any = true;
		}
	}
}

void tare_pool_legend(struct tare_emit *e)
{
	tare_emit_note(e, "CACHED can be given back. STUCK lies beside live blocks, which pin its segment.");
	tare_emit_note(e, "FOR GRAPHS is cached too, but replays of CUDA graphs use it.");
}

void tare_pool_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	tare_pool_each(e, ask, add_device);
	tare_emit_gap(e);
	tare_pool_legend(e);
}
