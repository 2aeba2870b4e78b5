/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/clockmap.h"
#include "test.h"

#include <stdlib.h>

#define S UINT64_C(1000000000)

/* A counter of 2 GHz that began 7 s before the monotonic clock. */
static uint64_t ticks_at(uint64_t ns)
{
	return (ns + 7 * S) * 2;
}

static void check_near(int64_t got, uint64_t want)
{
	if (llabs(got - (int64_t)want) > 1)
		test_fail(__FILE__, __LINE__, "%lld is not near %llu", (long long)got, (unsigned long long)want);
}

TEST(monotonic_time_is_what_it_is)
{
	struct tare_clockmap map = { .clock = TARE_CLOCK_MONOTONIC_NS };

	tare_clockmap_add(&map, 5 * S, 5 * S, 1700 * S);
	tare_clockmap_settle(&map);
	CHECK_INT(tare_clockmap_ns(&map, 123456789), 123456789);
	CHECK_INT(map.realtime_offset_ns, 1695 * S);
	CHECK(map.is_rate_known);
	tare_clockmap_free(&map);
}

TEST(between_and_beyond_two_pairs)
{
	struct tare_clockmap map = { .clock = TARE_CLOCK_TSC };

	tare_clockmap_add(&map, ticks_at(20 * S), 20 * S, 0);
	tare_clockmap_add(&map, ticks_at(10 * S), 10 * S, 0);
	tare_clockmap_settle(&map);
	for (uint64_t ns = 8 * S; ns < 25 * S; ns += S / 7)
		check_near(tare_clockmap_ns(&map, ticks_at(ns)), ns);
	CHECK_INT(map.realtime_offset_ns, 0);
	tare_clockmap_free(&map);
}

/* Some follow the last, others are too near, or contradict it. */
TEST(pairs_that_come_later_are_as_if_they_had_been_there)
{
	static const uint64_t at[] = { 10 * S, 11 * S,        12 * S,           12 * S + 1000, 13 * S, 9 * S,
		                           14 * S, 14 * S + 2001, 14 * S + 5000000, 15 * S,        16 * S };
	struct tare_clockmap grown = { .clock = TARE_CLOCK_TSC };

	for (size_t n = 1; n <= sizeof(at) / sizeof(at[0]); n++) {
		struct tare_clockmap whole = { .clock = TARE_CLOCK_TSC };

		for (size_t i = 0; i < n; i++)
			tare_clockmap_add(&whole, ticks_at(at[i]) + at[i] % 7, at[i], 0);
		tare_clockmap_settle(&whole);
		tare_clockmap_add(&grown, ticks_at(at[n - 1]) + at[n - 1] % 7, at[n - 1], 0);
		tare_clockmap_go_on(&grown);
		CHECK_INT((int64_t)grown.settled_nr, (int64_t)grown.pair_nr);
		CHECK_INT((int64_t)grown.pair_nr, (int64_t)whole.pair_nr);
		for (size_t i = 0; i < whole.pair_nr; i++) {
			CHECK_INT((int64_t)grown.pairs[i].ticks, (int64_t)whole.pairs[i].ticks);
			CHECK(grown.pairs[i].ns_per_tick == whole.pairs[i].ns_per_tick);
		}
		for (uint64_t ns = 8 * S; ns < 25 * S; ns += S / 7)
			check_near(tare_clockmap_ns(&grown, ticks_at(ns)), (uint64_t)tare_clockmap_ns(&whole, ticks_at(ns)));
		tare_clockmap_free(&whole);
	}
	tare_clockmap_free(&grown);
}

TEST(one_pair_and_a_rate)
{
	struct tare_clockmap map = { .clock = TARE_CLOCK_CNTVCT, .ticks_per_s = 2 * S };

	tare_clockmap_add(&map, ticks_at(10 * S), 10 * S, 0);
	tare_clockmap_settle(&map);
	CHECK(map.is_rate_known);
	check_near(tare_clockmap_ns(&map, ticks_at(12 * S)), 12 * S);
	check_near(tare_clockmap_ns(&map, ticks_at(9 * S)), 9 * S);
	tare_clockmap_free(&map);
}

TEST(no_rate_and_no_pair)
{
	struct tare_clockmap map = { .clock = TARE_CLOCK_TSC };

	tare_clockmap_settle(&map);
	CHECK(!map.is_rate_known);
	CHECK_INT(tare_clockmap_ns(&map, 42), 42);
	tare_clockmap_add(&map, 1000, 5000, 0);
	tare_clockmap_settle(&map);
	CHECK(!map.is_rate_known);
	CHECK_INT(tare_clockmap_ns(&map, 1042), 5042);
	tare_clockmap_free(&map);
}

/* The rate changes while a laptop sleeps; damaged pairs go back in time or far ahead. */
TEST(damaged_pairs_are_dropped)
{
	struct tare_clockmap map = { .clock = TARE_CLOCK_TSC };

	for (uint64_t i = 10; i < 60; i++) {
		if (i == 30)
			tare_clockmap_add(&map, ticks_at(i * S), 3 * S, 0);
		else if (i == 40)
			tare_clockmap_add(&map, ticks_at(i * S), 900 * S, 0);
		else if (i == 50)
			tare_clockmap_add(&map, UINT64_MAX - 5, i * S, 0);
		else
			tare_clockmap_add(&map, ticks_at(i * S), i * S, 0);
	}
	tare_clockmap_settle(&map);
	CHECK_INT(map.pair_nr, 47);
	for (uint64_t ns = 5 * S; ns < 70 * S; ns += S / 3)
		check_near(tare_clockmap_ns(&map, ticks_at(ns)), ns);
	tare_clockmap_free(&map);
}

/* Many processes begin at once: their headers are pairs too, with a jitter of a microsecond. */
TEST(jitter_of_close_pairs_gives_no_wild_rate)
{
	struct tare_clockmap map = { .clock = TARE_CLOCK_TSC };

	for (uint64_t i = 0; i < 100; i++)
		tare_clockmap_add(&map, ticks_at(10 * S + i * 1000), 10 * S + i * 1000 + i * 37 % 900, 0);
	tare_clockmap_add(&map, ticks_at(15 * S), 15 * S, 0);
	tare_clockmap_settle(&map);
	for (uint64_t ns = 9 * S; ns < 16 * S; ns += S / 3)
		CHECK(llabs(tare_clockmap_ns(&map, ticks_at(ns)) - (int64_t)ns) < 2000);
	tare_clockmap_free(&map);
}

TEST(extremes_do_not_overflow)
{
	static const uint64_t some[] = { 0, 1, S, UINT64_MAX / 2, UINT64_MAX };

	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++)
			for (uint32_t clock = 0; clock < 4; clock++) {
				struct tare_clockmap map = { .clock = clock, .ticks_per_s = some[j] };

				tare_clockmap_add(&map, some[i], some[j], some[i]);
				tare_clockmap_add(&map, some[j], some[i], some[j]);
				tare_clockmap_add(&map, S, S, S);
				tare_clockmap_settle(&map);
				for (size_t k = 0; k < 5; k++)
					CHECK(llabs(tare_clockmap_ns(&map, some[k])) < INT64_MAX / 3);
				tare_clockmap_free(&map);
			}
}
