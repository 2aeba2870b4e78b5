/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readings of a cluster in the order in which they were taken. Each was taken at some time between two:
 * mostly within some microseconds, but a thread that lost the CPU, or waited for the driver, may have read
 * the counter many milliseconds before it could say when. Those are left out where others were taken meanwhile, and
 * else put in where the counter fits.
 */
#include "ledger/settle/overlap.h"

#include "base/bisect.h"
#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

/* At the same time, a call that ends is before one that begins. */
TARE_COMPARATOR(by_time, struct tare_point, TARE_RISING(t) TARE_FALLING(is_after) TARE_RISING(step))

static bool is_wide(const struct tare_point *p)
{
	return p->step != TARE_NOBODY && p->latest - p->earliest > TARE_WIDE_NS;
}

/* By how well their time is known, the best first; then by time. */
TARE_COMPARATOR(by_width_and_time, struct tare_point, TARE_RISING_BY(is_wide(it)) TARE_COMPARED(by_time(x, y)))

void tare_overlap_sort(struct tare_overlap *o)
{
	TARE_SORT(o->points, o->point_nr, by_width_and_time);
}

/*
 * Two readings may have been taken in either order if the times at which they can have been overlap.
 * Then they were taken in the order in which the counter jumps about less.
 */
static void order_neighbours(const struct tare_overlap *o, struct tare_point *points, size_t count)
{
	for (size_t k = 0; k + 1 < count; k++) {
		struct tare_point *p = &points[k], *q = p + 1, swap;
		int64_t before = k ? p[-1].used : o->d->used;
		int64_t behind = k + 2 < count ? q[1].used : q->used;

		if (p->latest <= q->earliest || p->step == q->step)
			continue;
		if (llabs(q->used - before) + llabs(behind - p->used) >= llabs(p->used - before) + llabs(behind - q->used))
			continue;
		swap = *p;
		*p = *q;
		*q = swap;
		k -= k > 1 ? 2 : k + 1; /* the point may have to go further */
	}
}

/* A ring through all that have a place, in order; `count` of them stands for both its ends. */
struct line {
	struct tare_point *points;
	size_t *next, *prev, count;
	int64_t start; /* in use before all points */
};

static void put_before(struct line *l, size_t p, size_t at)
{
	l->next[p] = at;
	l->prev[p] = l->prev[at];
	l->next[l->prev[p]] = p;
	l->prev[at] = p;
}

/*
 * How good a place in the line is, the least is best: by how much more the counter would jump about, and how
 * far the value is from its neighbours.
 */
struct place {
	size_t at; /* the point before this one */
	int64_t jumps, misses, steps;
};

/* By how much more the counter jumps about with p before the point `at`. */
static int64_t jumps_at(const struct line *l, const struct tare_point *p, size_t at)
{
	int64_t before = l->prev[at] == l->count ? l->start : l->points[l->prev[at]].used;
	int64_t behind = at == l->count ? p->used : l->points[at].used;
	int64_t without = at == l->count ? 0 : llabs(behind - before);

	return llabs(p->used - before) + llabs(behind - p->used) - without;
}

static void try_place(const struct line *l, const struct tare_point *p, size_t at, int64_t steps, struct place *best)
{
	int64_t before = l->prev[at] == l->count ? l->start : l->points[l->prev[at]].used;
	int64_t behind = at == l->count ? before : l->points[at].used;
	int64_t to = llabs(p->used - before), from = llabs(behind - p->used);
	struct place own = { at, jumps_at(l, p, at), to < from ? to : from, steps };

	if (own.jumps != best->jumps     ? own.jumps < best->jumps
	    : own.misses != best->misses ? own.misses < best->misses
	                                 : own.steps < best->steps)
		*best = own;
}

/*
 * Inserts a point. `at`: the first point behind it, if it was taken in the middle of its time. Returns by how much
 * more the counter jumps about then.
 */
static int64_t insert(struct line *l, size_t point, size_t at)
{
	const struct tare_point *p = &l->points[point];
	struct place best = { at, INT64_MAX, 0, 0 };
	int64_t steps = 0;

	/*
	 * Points that were surely taken before it stay before it, and those taken after it behind it.
	 */
	while (l->prev[at] != l->count && l->points[l->prev[at]].earliest >= p->latest)
		at = l->prev[at];
	while (at != l->count && l->points[at].latest <= p->earliest)
		at = l->next[at];
	best.at = at;
	try_place(l, p, at, 0, &best);
	for (size_t k = at;
	     l->prev[k] != l->count && l->points[l->prev[k]].latest > p->earliest && l->points[l->prev[k]].step != p->step;
	     k = l->prev[k])
		try_place(l, p, l->prev[k], ++steps, &best);
	steps = 0;
	for (size_t k = at; k != l->count && l->points[k].earliest < p->latest && l->points[k].step != p->step;
	     k = l->next[k])
		try_place(l, p, l->next[k], ++steps, &best);
	put_before(l, point, best.at);
	return best.jumps;
}

/* Returns by how much less the counter jumps about without the point. */
static int64_t take_out(struct line *l, size_t p)
{
	size_t at = l->next[p];

	l->next[l->prev[p]] = at;
	l->prev[at] = l->prev[p];
	return jumps_at(l, &l->points[p], at);
}

/* LATE_NS: in a reading that took longer the thread lost the CPU, or waited for the driver. */
enum { RUN_MAX = 16, LATE_NS = 20000 };

/* The first point behind `first` at which the counter says something else. */
static size_t run_end(const struct line *l, size_t first)
{
	size_t end = l->next[first];

	while (end != l->count && l->points[end].used == l->points[first].used)
		end = l->next[end];
	return end;
}

/* Is the counter higher there than before and behind, or lower? */
static bool stands_out(const struct line *l, size_t first, size_t end)
{
	int64_t used = l->points[first].used;
	int64_t before = l->prev[first] == l->count ? l->start : l->points[l->prev[first]].used;

	if (end == l->count || used == before)
		return false;
	return used > before ? used > l->points[end].used : used < l->points[end].used;
}

/* Lists the points before `end` if each of them took long and is of a call of its own. Returns how many; 0: not so. */
static size_t list_late(const struct line *l, size_t first, size_t end, size_t *run)
{
	size_t count = 0;

	for (size_t k = first; k != end; k = l->next[k]) {
		const struct tare_point *p = &l->points[k];

		if (count == RUN_MAX || p->latest - p->earliest <= LATE_NS)
			return 0;
		for (size_t i = 0; i < count; i++)
			if (l->points[run[i]].step == p->step)
				return 0;
		run[count++] = k;
	}
	return count;
}

/*
 * Puts the points from `first` to before `end`, which say the same, where they fit better, if they do: neighbours
 * that change places never pass a third reading.
 */
static void move_run(struct line *l, size_t first, size_t end)
{
	size_t run[RUN_MAX], count = list_late(l, first, end, run);
	int64_t jumps = 0;

	for (size_t i = 0; i < count; i++)
		jumps -= take_out(l, run[i]);
	for (size_t i = 0; i < count; i++)
		jumps += insert(l, run[i], end);
	if (jumps < 0)
		return;
	for (size_t i = 0; i < count; i++)
		take_out(l, run[i]);
	for (size_t i = 0; i < count; i++)
		put_before(l, run[i], end);
}

static void move_runs(struct line *l)
{
	size_t end;

	for (size_t k = l->next[l->count]; k != l->count; k = end) {
		end = run_end(l, k);
		if (stands_out(l, k, end))
			move_run(l, k, end);
	}
}

size_t tare_overlap_point_at(const struct tare_point *points, size_t count, int64_t t)
{
	size_t from = 0;

	TARE_BISECT(from, count, i, points[i].t < t);
	return from;
}

/* Was the point put before one that seemed to be taken earlier? */
static bool is_moved(const struct line *l, size_t k)
{
	size_t behind = l->next[k];

	return behind != l->count && !is_wide(&l->points[behind]) && l->points[behind].t < l->points[k].t;
}

static void write_back(struct tare_overlap *o, const struct line *l)
{
	TARE_FREED_HERE struct tare_point *sorted = tare_xcalloc(l->count, sizeof(*sorted));
	size_t count = 0;

	for (size_t k = l->next[l->count]; k != l->count; k = l->next[k]) {
		struct tare_point *p = &sorted[count];

		*p = l->points[k];
		if (is_wide(p) || is_moved(l, k)) {
			p->t = count ? p[-1].t : p->earliest;
			if (p->t < p->earliest)
				p->t = p->earliest;
			if (p->t > p->latest)
				p->t = p->latest;
		}
		count++;
	}
	for (size_t k = 0; k < count; k++)
		o->points[k] = sorted[k];
}

enum { TURNS = 3 };

static bool is_beside(const struct tare_point *a, const struct tare_point *b)
{
	return a->latest > b->earliest && a->earliest < b->latest && a->step != b->step;
}

/*
 * May a point whose time is known better have been taken at the same time? The first `sure_nr` points are
 * sorted by time.
 */
static bool is_beside_better(const struct tare_point *points, size_t sure_nr, size_t count, const struct tare_point *p)
{
	for (size_t k = tare_overlap_point_at(points, sure_nr, p->earliest - TARE_WIDE_NS);
	     k < sure_nr && points[k].t <= p->latest + TARE_WIDE_NS; k++)
		if (is_beside(&points[k], p))
			return true;
	for (size_t k = sure_nr; k < count; k++)
		if (is_beside(&points[k], p))
			return true;
	return false;
}

TARE_COMPARATOR(by_width, struct tare_point, TARE_RISING_BY(it->latest - it->earliest) TARE_COMPARED(by_time(x, y)))

/*
 * Drops readings that took long where others, whose time is known better, were taken meanwhile: they tell
 * less, and in a wrong place they would be false. Returns how many are left.
 */
static size_t drop_wide(struct tare_point *points, size_t sure_nr, size_t n)
{
	size_t count = sure_nr;

	TARE_SORT(points + sure_nr, n - sure_nr, by_width);
	for (size_t k = sure_nr; k < n; k++) {
		const struct tare_point p = points[k];

		if (!is_beside_better(points, sure_nr, count, &p))
			points[count++] = p;
	}
	return count;
}

/*
 * Puts the points whose time is known well in order, then inserts the others by how well theirs is known.
 */
static void order_all(struct tare_overlap *o, size_t sure_nr, size_t n)
{
	struct line l = { .points = o->points, .count = n, .start = o->d->used };

	l.next = tare_xcalloc(n + 1, sizeof(*l.next));
	l.prev = tare_xcalloc(n + 1, sizeof(*l.prev));
	l.next[n] = l.prev[n] = n;
	for (size_t k = 0; k < sure_nr; k++)
		put_before(&l, k, n);
	move_runs(&l);
	for (size_t k = sure_nr; k < n; k++) {
		size_t at = tare_overlap_point_at(o->points, sure_nr, o->points[k].t);

		insert(&l, k, at == sure_nr ? n : at);
	}
	/* Points that were inserted first had not seen the others, so they are placed again. */
	for (int turn = 0; turn < TURNS; turn++)
		for (size_t k = sure_nr; k < n; k++) {
			size_t at = l.next[k];

			take_out(&l, k);
			insert(&l, k, at);
		}
	write_back(o, &l);
	free(l.next);
	free(l.prev);
}

static void keep_in_order(struct tare_point *points, size_t count)
{
	for (size_t k = 1; k < count; k++)
		if (points[k].t < points[k - 1].t)
			points[k].t = points[k - 1].t;
}

void tare_overlap_order(struct tare_overlap *o)
{
	size_t count = o->point_nr, sure_nr = 0, left;

	if (count && o->points[count - 1].step == TARE_NOBODY) /* it stands behind all points */
		count--;
	while (sure_nr < count && !is_wide(&o->points[sure_nr]))
		sure_nr++;
	order_neighbours(o, o->points, sure_nr);
	keep_in_order(o->points, sure_nr);
	left = drop_wide(o->points, sure_nr, count);
	if (count < o->point_nr)
		o->points[left] = o->points[count];
	o->point_nr -= count - left;
	count = left;
	order_all(o, sure_nr, count);
	keep_in_order(o->points, o->point_nr);
}
