/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of time: of each the moment with least and with most. */
#include "ledger/core/samples.h"

#include "base/arena.h"
#include "base/xalloc.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

static void enter(struct tare_samples *s, size_t column)
{
	s->column = column;
	s->column_end = column + 1 == TARE_HISTORY_COLUMNS ? INT64_MAX : s->start + (int64_t)(column + 1) * s->width;
}

static size_t column_of(const struct tare_samples *s, int64_t t)
{
	size_t column = t < s->start ? 0 : (size_t)((t - s->start) / s->width);

	return column < TARE_HISTORY_COLUMNS ? column : TARE_HISTORY_COLUMNS - 1;
}

/* The columns' width is a power of two, and each begins at a multiple of it: so wider ones are made of whole narrower ones. */
static int64_t width_of(int64_t start, int64_t end)
{
	int64_t width = 1;

	while (end / width - start / width >= TARE_HISTORY_COLUMNS)
		width *= 2;
	return width;
}

void tare_samples_begin(struct tare_samples *s, int64_t start, int64_t end, int64_t known, int part_nr)
{
	int64_t width = width_of(start, end);

	*s = (struct tare_samples){ .start = start / width * width, .width = width, .part_nr = part_nr };
	s->items = tare_xcalloc(TARE_HISTORY_COLUMNS, sizeof(*s->items));
	if (part_nr)
		s->parts = tare_xcalloc((size_t)(TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR * part_nr), sizeof(*s->parts));
	s->until = known > s->start ? known : s->start;
	enter(s, column_of(s, s->until));
}

void tare_samples_forget_parts(struct tare_samples *s)
{
	free(s->parts);
	s->parts = NULL;
	s->part_nr = 0;
}

static void put(struct tare_samples *s, int which, const struct tare_sample *sample, const int64_t *parts)
{
	s->items[s->column][which] = *sample;
	if (s->part_nr)
		memcpy(s->parts + (s->column * TARE_SAMPLE_NR + (size_t)which) * (size_t)s->part_nr, parts,
		       (size_t)s->part_nr * sizeof(*parts));
}

static bool is_more(const struct tare_sample *a, const struct tare_sample *b)
{
	return a->used != b->used ? a->used > b->used : a->live > b->live;
}

/* Another state followed at the same time, so no instant has this one: what is least there is that of the other. */
static bool did_not_last(const struct tare_sample *kept, const struct tare_sample *now)
{
	return kept->t == now->t;
}

void tare_samples_hold(struct tare_samples *s, int64_t t, int64_t used, int64_t live, const int64_t *parts)
{
	for (;;) {
		struct tare_sample now = { true, s->until, used, live };
		struct tare_sample *kept = s->items[s->column];

		if (!kept[TARE_SAMPLE_LEAST].is_there || is_more(&kept[TARE_SAMPLE_LEAST], &now) ||
		    did_not_last(&kept[TARE_SAMPLE_LEAST], &now))
			put(s, TARE_SAMPLE_LEAST, &now, parts);
		if (!kept[TARE_SAMPLE_MOST].is_there || is_more(&now, &kept[TARE_SAMPLE_MOST]))
			put(s, TARE_SAMPLE_MOST, &now, parts);
		if (t < s->column_end)
			break;
		s->until = s->column_end;
		enter(s, s->column + 1);
		/* There it is no more: what comes now holds from the column's beginning on. */
		if (s->until == t)
			break;
	}
	if (s->until < t)
		s->until = t;
}

static void take_kept(struct tare_samples *s, const struct tare_samples *from, size_t place)
{
	const struct tare_sample *old = tare_sample_at(from, place);
	const struct tare_sample *kept;

	if (!old->is_there)
		return;
	s->column = column_of(s, old->t);
	kept = s->items[s->column];
	if (!kept[TARE_SAMPLE_LEAST].is_there || is_more(&kept[TARE_SAMPLE_LEAST], old))
		put(s, TARE_SAMPLE_LEAST, old, tare_sample_parts(from, place));
	if (!kept[TARE_SAMPLE_MOST].is_there || is_more(old, &kept[TARE_SAMPLE_MOST]))
		put(s, TARE_SAMPLE_MOST, old, tare_sample_parts(from, place));
}

/* Nothing happened before the columns began, or they would have begun earlier: what they begin with held from `start` on. */
static void hold_begin(struct tare_samples *s, const struct tare_samples *old)
{
	const struct tare_sample *least = tare_sample_at(old, TARE_SAMPLE_LEAST),
							 *most = tare_sample_at(old, TARE_SAMPLE_MOST);
	size_t first = most->t < least->t ? TARE_SAMPLE_MOST : TARE_SAMPLE_LEAST;
	const struct tare_sample *begin = tare_sample_at(old, first);

	if (s->start < old->start && begin->is_there && begin->t == old->start)
		tare_samples_hold(s, old->start, begin->used, begin->live, tare_sample_parts(old, first));
}

static bool is_empty(const struct tare_samples *s)
{
	for (size_t i = 0; i < (size_t)TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR; i++)
		if (tare_sample_at(s, i)->is_there)
			return false;
	return true;
}

void tare_samples_stretch(struct tare_samples *s, int64_t start, int64_t end)
{
	struct tare_samples old = *s;
	int64_t width = width_of(start, end);

	if (width == old.width && start / width * width == old.start)
		return; /* the columns are these */
	tare_samples_begin(s, start, end, INT64_MIN, old.part_nr);
	hold_begin(s, &old);
	if (!is_empty(&old) && old.until > s->start)
		s->until = old.until;
	for (size_t i = 0; i < (size_t)TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR; i++)
		take_kept(s, &old, i);
	enter(s, column_of(s, s->until));
	tare_samples_free(&old);
}

void tare_samples_shift(struct tare_samples *s, int part, int64_t by)
{
	for (size_t i = 0; i < TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR; i++) {
		s->items[i / TARE_SAMPLE_NR][i % TARE_SAMPLE_NR].used += by;
		if (s->part_nr)
			s->parts[i * (size_t)s->part_nr + (size_t)part] += by;
	}
}

const struct tare_sample *tare_sample_at(const struct tare_samples *s, size_t place)
{
	return &s->items[place / TARE_SAMPLE_NR][place % TARE_SAMPLE_NR];
}

const int64_t *tare_sample_parts(const struct tare_samples *s, size_t place)
{
	return s->parts + place * (size_t)s->part_nr;
}

size_t tare_samples_list(const struct tare_samples *s, size_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < TARE_HISTORY_COLUMNS; i++) {
		const struct tare_sample *least = &s->items[i][TARE_SAMPLE_LEAST], *most = &s->items[i][TARE_SAMPLE_MOST];
		bool is_falling = most->t < least->t;

		if (!least->is_there)
			continue;
		out[n++] = i * TARE_SAMPLE_NR + (is_falling ? TARE_SAMPLE_MOST : TARE_SAMPLE_LEAST);
		if (is_more(most, least))
			out[n++] = i * TARE_SAMPLE_NR + (is_falling ? TARE_SAMPLE_LEAST : TARE_SAMPLE_MOST);
	}
	return n;
}

void tare_samples_free(struct tare_samples *s)
{
	free(s->items);
	free(s->parts);
	*s = (struct tare_samples){ 0 };
}

int64_t tare_kinds_at(const struct tare_kinds *k, enum tare_category category, size_t point)
{
	return point < k->panel->point_nr ? k->bytes[point * TARE_CATEGORY_NR + category] : k->peak[category];
}

/*
 * Columns of another width may have got no moment of those that were kept, and still nothing is missing there: what was there last
 * holds. -1: there is nothing before.
 */
static int64_t last_before(const struct tare_samples *s, int column)
{
	const struct tare_sample *least, *most;

	while (column-- > 0) {
		least = &s->items[column][TARE_SAMPLE_LEAST];
		most = &s->items[column][TARE_SAMPLE_MOST];
		if (most->is_there)
			return least->is_there && least->t > most->t ? least->used : most->used;
	}
	return -1;
}

void tare_fold_timeline(const struct tare_samples *s, struct tare_arena *memory, struct tare_timeline *out)
{
	int first = 0, last = -1;

	for (int i = 0; s->width && i < TARE_HISTORY_COLUMNS; i++)
		if (s->items[i][TARE_SAMPLE_MOST].is_there)
			last = i;
	while (first < last && !s->items[first][TARE_SAMPLE_MOST].is_there)
		first++;
	if (last < first)
		return;
	*out = (struct tare_timeline){
		.from_ns = s->start + first * s->width, .to_ns = s->until, .width_ns = s->width, .nr = last - first + 1
	};
	out->used = tare_arena_alloc(memory, (size_t)out->nr * sizeof(*out->used));
	for (int i = first; i <= last; i++)
		out->used[i - first] =
			s->items[i][TARE_SAMPLE_MOST].is_there ? s->items[i][TARE_SAMPLE_MOST].used : last_before(s, i);
}
