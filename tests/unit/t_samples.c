/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of time: those of a fold that goes on from a state say the same as those of one that began at the first event. */
#include "ledger/core/samples.h"
#include "test.h"

#include "base/arena.h"
#include "ledger/ledger.h"

#include <stdlib.h>

enum { CHANGES = 5000, LAST = 1 << 20 };

/* What is in use, and until when; the times of a series are in order. */
struct change {
	int64_t t, used;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return *seed >> 33;
}

static void make_series(struct change *out, int64_t first, uint64_t seed)
{
	for (int i = 0; i < CHANGES; i++) {
		out[i].t = first + (LAST - first) / CHANGES * i + (int64_t)next_random(&seed) % ((LAST - first) / CHANGES);
		out[i].used = (int64_t)(next_random(&seed) % 100000);
	}
}

static void hold(struct tare_samples *s, const struct change *series, int from, int to)
{
	for (int i = from; i < to; i++)
		tare_samples_hold(s, series[i].t, series[i].used, 0, NULL);
}

/* The same moments of each column, and the same line of time. */
static void check_same(const struct tare_samples *a, const struct tare_samples *b)
{
	struct tare_timeline x = { 0 }, y = { 0 };
	struct tare_arena memory = { 0 };

	tare_fold_timeline(a, &memory, &x);
	tare_fold_timeline(b, &memory, &y);
	CHECK_INT(x.nr, y.nr);
	CHECK_INT(x.from_ns, y.from_ns);
	CHECK_INT(x.width_ns, y.width_ns);
	for (int i = 0; i < x.nr; i++)
		CHECK_INT(x.used[i], y.used[i]);
	for (size_t i = 0; i < (size_t)TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR; i++) {
		CHECK_INT(tare_sample_at(a, i)->used, tare_sample_at(b, i)->used);
		CHECK_INT(tare_sample_at(a, i)->t, tare_sample_at(b, i)->t);
	}
	tare_arena_free(&memory);
}

/* A state that another followed at the same time is the least of no instant. */
TEST(what_did_not_last_is_not_the_least)
{
	struct tare_samples s;

	tare_samples_begin(&s, 0, LAST, INT64_MIN, 0);
	tare_samples_hold(&s, 0, 0, 0, NULL);
	tare_samples_hold(&s, 10, 500, 0, NULL);
	tare_samples_hold(&s, 20, 500, 400, NULL);
	CHECK_INT(tare_sample_at(&s, TARE_SAMPLE_LEAST)->used, 500);
	CHECK_INT(tare_sample_at(&s, TARE_SAMPLE_LEAST)->live, 0);
	CHECK_INT(tare_sample_at(&s, TARE_SAMPLE_LEAST)->t, 0);
	CHECK_INT(tare_sample_at(&s, TARE_SAMPLE_MOST)->live, 400);
	tare_samples_free(&s);
}

/* What ends where a column begins is not in it: no instant of that column has it. */
TEST(what_ends_with_a_column_is_not_in_the_next)
{
	size_t places[TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR];
	struct tare_samples s = { 0 };
	int64_t width;
	size_t nr;

	tare_samples_begin(&s, 0, LAST, INT64_MIN, 0);
	width = s.width;
	CHECK(width > 8);
	tare_samples_hold(&s, width, 512, 0, NULL);
	tare_samples_hold(&s, width + 5, 0, 0, NULL);
	tare_samples_hold(&s, 3 * width, 7, 0, NULL);
	nr = tare_samples_list(&s, places);
	CHECK_INT(nr, 4);
	CHECK_INT(tare_sample_at(&s, places[0])->used, 512);
	CHECK_INT(tare_sample_at(&s, places[1])->used, 0);
	CHECK_INT(tare_sample_at(&s, places[1])->t, width);
	CHECK_INT(tare_sample_at(&s, places[2])->used, 7);
	CHECK_INT(tare_sample_at(&s, places[2])->t, width + 5);
	CHECK_INT(tare_sample_at(&s, places[3])->used, 7);
	CHECK_INT(tare_sample_at(&s, places[3])->t, 2 * width);
	tare_samples_free(&s);
}

/* Columns for a time that ends at the series' place `cut`, and then wider ones up to its end. */
static void check_cut(int64_t first, int cut, uint64_t seed)
{
	static struct change series[CHANGES];
	struct tare_samples all = { 0 }, grown = { 0 };

	make_series(series, first, seed);
	tare_samples_begin(&all, first, LAST, INT64_MIN, 0);
	hold(&all, series, 0, CHANGES);
	tare_samples_begin(&grown, first, series[cut - 1].t, INT64_MIN, 0);
	hold(&grown, series, 0, cut);
	tare_samples_stretch(&grown, first, LAST);
	hold(&grown, series, cut, CHANGES);
	check_same(&grown, &all);
	tare_samples_free(&all);
	tare_samples_free(&grown);
}

TEST(wider_columns_have_what_narrower_ones_had)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		check_cut((int64_t)(seed * 977 % 300000), 1 + (int)(seed * 7919 % CHANGES), seed);
}

TEST(all_columns_are_within_the_time)
{
	for (int64_t end = 1; end < 100000; end += 997) {
		struct tare_samples s = { 0 };

		tare_samples_begin(&s, end / 3, end, INT64_MIN, 0);
		CHECK(s.start <= end / 3);
		CHECK(s.start + s.width > end / 3);
		CHECK(s.start + s.width * TARE_HISTORY_COLUMNS > end);
		CHECK(s.width == 1 || s.start + s.width * (TARE_HISTORY_COLUMNS / 2 - 1) <= end);
		tare_samples_free(&s);
	}
}
