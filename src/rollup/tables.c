/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses what stays of the tables of segments that went: not more for a program that runs for longer, unless it says something that it
 * had not said before.
 */
#include "rollup/tables.h"

#include "base/array.h"
#include "base/map.h"
#include "rollup/clocks.h"
#include "store/gathered.h"

#include <stdlib.h>

/* Records of a log, in its order. */
struct tables {
	struct tare_gathered all;
	struct about {
		uint16_t kind; /* enum tare_kind; 0: of none that this version knows, or lies otherwise than in this version */
		bool is_gone;
	} * about;
	size_t about_cap;
	struct tare_rollup_clock *clocks;
	size_t *clock_at; /* which record each is */
	size_t clock_nr, clock_cap, clock_at_cap;
};

static bool is_going(const struct tare_rollup_going *going, uint32_t number)
{
	for (size_t i = 0; i < going->nr; i++)
		if (going->numbers[i] == number)
			return true;
	return false;
}

static void add_clock(struct tables *t, const struct tare_rec_clock *clock)
{
	size_t n = t->clock_nr;

	t->clock_at = tare_array_reserve(t->clock_at, &t->clock_at_cap, n + 1, sizeof(*t->clock_at));
	t->clock_at[n] = t->all.n - 1;
	TARE_APPEND(t->clocks, t->clock_nr, t->clock_cap) =
		(struct tare_rollup_clock){ clock->ticks, clock->monotonic_ns, clock->realtime_ns, false };
}

static void add(struct tables *t, const struct tare_log_record *rec)
{
	size_t n = t->all.n;

	t->about = tare_array_reserve(t->about, &t->about_cap, n + 1, sizeof(*t->about));
	t->about[n] = (struct about){ .kind = rec->info && rec->info == rec->said ? rec->info->kind : 0 };
	tare_gathered_add(&t->all, &(struct tare_block_record){ rec->raw, rec->position, (uint32_t)rec->bytes });
	if (rec->info && rec->info->kind == TARE_KIND_CLOCK)
		add_clock(t, rec->rec.clock);
}

static void read_tables(struct tables *t, struct tare_log *log, const struct tare_rollup_going *going)
{
	struct tare_log_record rec;
	enum tare_log_step step;

	tare_log_read_tables(log);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END)
		if (step == TARE_LOG_RECORD && is_going(going, rec.segment))
			add(t, &rec);
}

static void thin_clocks(struct tables *t, uint64_t until)
{
	tare_rollup_thin_clocks(t->clocks, t->clock_nr, until);
	for (size_t i = 0; i < t->clock_nr; i++)
		t->about[t->clock_at[i]].is_gone = t->clocks[i].is_gone;
}

static bool is_known(const struct tare_rec_lost *lost)
{
	return lost->records && lost->first && lost->last;
}

/* What a thread gave up for one reason is one record, where the last one was. */
static void join_losses(struct tables *t)
{
	TARE_FREED_BY(tare_map_free) struct tare_map newest = { 0 };

	for (size_t i = t->all.n; i-- > 0;) {
		struct tare_rec_lost *lost = (struct tare_rec_lost *)tare_gathered_record(&t->all, i), *later;
		uint64_t *slot;
		bool is_new;

		if (t->about[i].kind != TARE_KIND_LOST || !is_known(lost))
			continue;
		slot = tare_map_put(&newest, (uint64_t)lost->tid << 32 | lost->reason, &is_new);
		if (is_new) {
			*slot = i;
			continue;
		}
		later = (struct tare_rec_lost *)tare_gathered_record(&t->all, *slot);
		later->records += lost->records;
		later->first = lost->first < later->first ? lost->first : later->first;
		later->last = lost->last > later->last ? lost->last : later->last;
		t->about[i].is_gone = true;
	}
}

/*
 * A LANE record says whose the records behind it are. Where none of them is left it says nothing, but for the first: what is missing before it
 * is of its lane.
 */
static void leave_lanes(struct tables *t)
{
	size_t first = 0;
	bool is_needed = false;

	while (first < t->all.n && t->about[first].kind != TARE_KIND_LANE)
		first++;
	for (size_t i = t->all.n; i-- > 0;) {
		struct about *about = &t->about[i];

		if (about->kind != TARE_KIND_LANE) {
			is_needed |= !about->is_gone;
			continue;
		}
		about->is_gone = !is_needed && i != first;
		is_needed = false;
	}
}

/* Moves those that stay together. */
static void leave_gone(struct tables *t)
{
	struct tare_gathered *all = &t->all;
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++) {
		if (t->about[i].is_gone)
			continue;
		all->records[kept] = all->records[i];
		all->at[kept++] = all->at[i];
	}
	all->n = kept;
}

void tare_rollup_write_tables(struct tare_segment_writer *w, uint32_t number, struct tare_log *log,
                              const struct tare_rollup_going *going, uint64_t until)
{
	struct tare_layouts layouts;
	struct tables t = { 0 };

	read_tables(&t, log, going);
	thin_clocks(&t, until);
	join_losses(&t);
	leave_lanes(&t);
	leave_gone(&t);
	tare_schema_layouts(tare_log_schema(log), &layouts);
	tare_gathered_write(&t.all, w, TARE_SEGMENT_TABLES, number, &layouts);
	tare_gathered_free(&t.all);
	free(t.about);
	free(t.clocks);
	free(t.clock_at);
}
