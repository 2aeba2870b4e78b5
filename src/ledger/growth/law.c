/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "growth": when a course is said to grow. What counts is the level to which it never falls back. From some column
 * on that has to rise all the way to the end: in each quarter of the turns by a fair part of the whole. So a cache
 * that fills and a warm-up are none, because their last quarter is flat; nor is a sawtooth, because it was as high
 * before.
 *
 * A list that doubles when it is full rises rarely, and has not risen for up to half of the time. What is in it is known when it is full:
 * at the end of each stair. So the line through the ends of the stairs is asked, too, and has to be straighter.
 */
#include "ledger/growth/growth.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

enum {
	QUARTERS = 4,
	LEAST_COLUMNS = 8, /* between which it grows */
	LEAST_RISES = 5,
};

/* Of what a growth brings, the least and most that a quarter of its turns may have. */
struct share {
	double least, most;
};
static const struct share share_of_levels = { 0.1, 0.4 }, share_of_ends = { 0.18, 0.32 };

/* What of a course is asked. */
struct course {
	const struct tare_growth_question *of;
	const int64_t *levels;
	const int64_t *stairs; /* the levels as they are, in which rises are counted */
	struct share share;
};

/* The last column that counts: where there is most, of those in which it may have been tidied up. */
static int last_of(const struct tare_growth_question *q)
{
	int last = q->end - 1, room = (int)((q->end - q->first) * q->tidied);

	for (int i = last - 1; i >= q->first && i >= q->end - 1 - room; i--)
		if (q->bytes[i] > q->bytes[last])
			last = i;
	return last;
}

/* What it never falls below again. */
static int64_t *levels_of(const struct tare_growth_question *q, int last)
{
	int64_t *levels = tare_xcalloc((size_t)q->end + 1, sizeof(*levels));

	levels[last] = q->bytes[last];
	for (int i = last - 1; i >= q->first; i--)
		levels[i] = q->bytes[i] < levels[i + 1] ? q->bytes[i] : levels[i + 1];
	return levels;
}

/* From one end of a stair to the next, `bytes` more. */
static void join(const struct tare_growth_question *q, int64_t *ends, int from, int to, int64_t bytes)
{
	int64_t turns = q->turns[to] - q->turns[from];

	for (int i = from + 1; i <= to; i++) {
		double part = turns ? (double)(q->turns[i] - q->turns[from]) / (double)turns : 1;

		ends[i] = ends[from] + llround((double)bytes * part);
	}
}

static double rate_between(const struct tare_growth_question *q, const int64_t *ends, int from, int to)
{
	int64_t turns = q->turns[to] - q->turns[from];

	return turns ? (double)(ends[to] - ends[from]) / (double)turns : 0;
}

/*
 * The last stair goes on as the one before, up to its level. Where it is overdue, by that and by the mean of all, it is full and what it was for has
 * come to an end.
 */
static void end_last(const struct tare_growth_question *q, int64_t *ends, int before, int from, int last, int64_t rise)
{
	double rate = rate_between(q, ends, before, from), mean = rate_between(q, ends, q->first, from);
	int64_t most = llround(rate * (double)(q->turns[last] - q->turns[from]));
	int full = from + 1;

	rise = most < rise ? most : rise;
	mean = mean < rate ? mean : rate;
	while (full < last && mean * (double)(q->turns[full] - q->turns[from]) < (double)rise)
		full++;
	join(q, ends, from, full, rise);
	join(q, ends, full, last, 0);
}

/* The levels where a stair ends, and between these a straight line. */
static int64_t *ends_of(const struct tare_growth_question *q, const int64_t *levels, int last)
{
	int64_t *ends = tare_xcalloc((size_t)q->end + 1, sizeof(*ends));
	int before = q->first, at = q->first;

	ends[at] = levels[at];
	for (int i = q->first + 1; i < last; i++)
		if (levels[i + 1] != levels[i]) {
			join(q, ends, at, i, levels[i] - levels[at]);
			before = at;
			at = i;
		}
	end_last(q, ends, before, at, last, levels[last] - levels[at]);
	return ends;
}

/* The share of the growth that the n-th quarter of the turns has. */
static double share_of(const struct course *c, int first, int last, int n)
{
	const struct tare_growth_question *q = c->of;
	const int64_t *levels = c->levels;
	int64_t span = q->turns[last] - q->turns[first], at[2];

	for (int k = 0; k < 2; k++) {
		int64_t turn = q->turns[first] + span * (n + k) / QUARTERS;
		int i = first;

		while (i < last && q->turns[i] < turn)
			i++;
		at[k] = levels[i];
	}
	return (double)(at[1] - at[0]) / (double)(levels[last] - levels[first]);
}

static bool is_steady(const struct course *c, int first, int last)
{
	for (int n = 0; n < QUARTERS; n++) {
		double share = share_of(c, first, last, n);

		if (share < c->share.least || share > c->share.most)
			return false;
	}
	return true;
}

static int64_t most_of(const struct tare_growth_question *q, int first, int end)
{
	int64_t most = 0;

	for (int i = first; i < end; i++)
		most = q->bytes[i] > most ? q->bytes[i] : most;
	return most;
}

/* Was it about as high before? */
static bool was_there(const struct tare_growth_question *q, int64_t growth, int first, int last)
{
	return most_of(q, q->first, first) > most_of(q, first, last + 1) - growth / 2;
}

/* Turns in which the level rose. */
static int rises_of(const struct course *c, int first, int last)
{
	int rises = 0;
	int64_t turn = -1;

	for (int i = first + 1; i <= last; i++)
		if (c->stairs[i] > c->stairs[i - 1] && c->of->turns[i] != turn) {
			rises++;
			turn = c->of->turns[i];
		}
	return rises;
}

/* The line through the levels: how steep it is, and how much of what they vary by it explains. */
static double fit(const struct course *c, int first, int last, double *explained)
{
	const struct tare_growth_question *q = c->of;
	const int64_t *levels = c->levels;
	double n = last - first + 1, x = 0, y = 0, xx = 0, xy = 0, yy = 0;

	for (int i = first; i <= last; i++) {
		x += (double)(q->turns[i] - q->turns[first]) / n;
		y += (double)(levels[i] - levels[first]) / n;
	}
	for (int i = first; i <= last; i++) {
		double dx = (double)(q->turns[i] - q->turns[first]) - x;
		double dy = (double)(levels[i] - levels[first]) - y;

		xx += dx * dx;
		xy += dx * dy;
		yy += dy * dy;
	}
	*explained = xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
	return xx > 0 ? xy / xx : 0;
}

/* How sure is it? A growth that becomes slower may end; few rises may be chance. */
static double confidence_of(const struct course *c, int first, int last, double explained)
{
	double slowing = QUARTERS * share_of(c, first, last, QUARTERS - 1);
	double few = exp2(-rises_of(c, first, last) / 2.0);

	return explained * (slowing < 1 ? slowing : 1) * (1 - few);
}

/* Without the columns in front in which next to nothing of the growth came. */
static int begin_of(const int64_t *levels, int first, int last)
{
	int64_t little = (levels[last] - levels[first]) / 50, level = levels[first];

	while (first + LEAST_COLUMNS < last && levels[first + 1] - level < little)
		first++;
	return first;
}

/* From which column on it grows; -1: it does not. */
static int first_of(const struct course *c, int last)
{
	const struct tare_growth_question *q = c->of;
	const int64_t *levels = c->levels;
	int64_t span = (int64_t)(q->least_part_of_turns * (double)(q->turns[last] - q->turns[q->first]));

	for (int i = q->first; i + LEAST_COLUMNS <= last; i++) {
		int64_t growth = levels[last] - levels[i];
		int64_t turns = q->turns[last] - q->turns[i];

		if (growth < q->least || (double)growth < q->least_part * (double)levels[last] || turns < q->least_turns ||
		    turns < span)
			return -1;
		if (is_steady(c, i, last) && !was_there(q, growth, i, last) && rises_of(c, i, last) >= LEAST_RISES)
			return i;
	}
	return -1;
}

static struct tare_growth_answer judge(const struct course *c, int last)
{
	struct tare_growth_answer a = { .first = first_of(c, last), .last = last };
	double explained;

	if (a.first < 0)
		return a;
	a.first = begin_of(c->levels, a.first, a.last);
	a.bytes = c->levels[a.last] - c->levels[a.first];
	a.per_turn = fit(c, a.first, a.last, &explained);
	a.confidence = confidence_of(c, a.first, a.last, explained);
	return a;
}

struct tare_growth_answer tare_growth_judge(const struct tare_growth_question *q)
{
	struct tare_growth_answer by_levels = { 0 }, by_ends;
	int64_t *levels, *ends;
	int last;

	if (q->end - q->first < LEAST_COLUMNS)
		return by_levels;
	last = last_of(q);
	levels = levels_of(q, last);
	ends = ends_of(q, levels, last);
	by_levels = judge(&(struct course){ q, levels, levels, share_of_levels }, last);
	by_ends = judge(&(struct course){ q, ends, levels, share_of_ends }, last);
	free(levels);
	free(ends);
	return by_ends.confidence > by_levels.confidence ? by_ends : by_levels;
}
