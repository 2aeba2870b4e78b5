/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/fit.h"

#include "test.h"

#define MIB INT64_C(1048576)

static int64_t taken(int64_t bytes, int64_t free, int64_t step)
{
	return bytes > free ? (bytes - free + step - 1) / step * step : 0;
}

TEST(a_rule_is_found_again)
{
	struct tare_fit_law law = { 2 * MIB, 1, 1, 16384 };
	struct tare_fit_point points[80];
	struct tare_fit fit;

	for (int i = 0; i < 80; i++) {
		int64_t n = 250 * (i + 1), bytes = taken(n * 2360, 2411725, 2 * MIB);

		points[i] = (struct tare_fit_point){ n, bytes, bytes };
	}
	tare_fit_steps(&law, points, 80, &fit);
	CHECK_INT(fit.miss, 0);
	CHECK(fit.slope_low <= 2360 && fit.slope_high >= 2360);
	CHECK(fit.slope_high - fit.slope_low < 24);
	CHECK(fit.free_low <= 2411725 && fit.free_high >= 2411725);
}

TEST(few_points_leave_much_open)
{
	struct tare_fit_law law = { 2 * MIB, 1, 1, 16384 };
	struct tare_fit_point point = { 1000, 2 * MIB, 2 * MIB };
	struct tare_fit fit;

	tare_fit_steps(&law, &point, 1, &fit);
	CHECK_INT(fit.miss, 0);
	CHECK_INT(fit.slope_low, 1);
	CHECK_INT(fit.slope_high, 16384);
}

TEST(readings_that_fit_no_rule_say_how_far_off_it_is)
{
	struct tare_fit_law law = { 2 * MIB, 1, 1, 16384 };
	struct tare_fit_point points[] = { { 1000, 4 * MIB, 4 * MIB },
		                               { 2000, 20 * MIB, 20 * MIB },
		                               { 3000, 20 * MIB, 20 * MIB } };
	struct tare_fit fit;
	char room[48];

	tare_fit_steps(&law, points, 3, &fit);
	CHECK(fit.miss > 2 * MIB && fit.miss < 4 * MIB); /* 16 MiB for the second thousand only */
	CHECK(fit.slope_low >= 1 && fit.slope_high <= 16384);
	CHECK_HAS(tare_fit_miss(&fit, room), ", to ");
	fit.miss = 0;
	CHECK_STR(tare_fit_miss(&fit, room), "");
}

/* What the H200 answered: tests/gpu/facts/h200.facts. Two and two, in contexts of their own. */
TEST(the_graphs_of_an_h200)
{
	static const struct tare_fit_point points[] = {
		{ 300, 0, 0 },
		{ 600, 0, 0 },
		{ 1000, 0, 0 },
		{ 2000, 2 * MIB, 2 * MIB },
		{ 2000, 4 * MIB, 4 * MIB },
		{ 4000, 8 * MIB, 8 * MIB },
		{ 5000, 12 * MIB, 12 * MIB },
		{ 10000, 24 * MIB, 24 * MIB },
		{ 10000, 22 * MIB, 22 * MIB },
		{ 20000, 44 * MIB, 44 * MIB },
		{ 20000, 44 * MIB, 44 * MIB },
		{ 40000, 90 * MIB, 90 * MIB },
	};
	struct tare_fit_law law = { 2 * MIB, 1, 1, 16384 };
	struct tare_fit fit;

	tare_fit_steps(&law, points, sizeof(points) / sizeof(points[0]), &fit);
	CHECK(fit.miss > 0 && fit.miss <= 2 * MIB);
	CHECK(fit.slope > 2300 && fit.slope < 2460);
	CHECK(fit.slope_low <= 2360 && fit.slope_high >= 2360);
	CHECK(fit.free_low <= 2411725 && fit.free_high >= 2411725);
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		int64_t off = taken(points[i].n * fit.slope, fit.free, law.step) - points[i].low;

		CHECK(off >= -2 * MIB && off <= 2 * MIB);
	}
}

TEST(the_streams_of_an_h200)
{
	static const int at[] = { 2,  6,  10, 14, 18, 22, 26, 30, 34,  36,  38,  42,  46,  50,  54,  58,  62,  66, 70,
		                      74, 78, 79, 82, 86, 90, 94, 98, 102, 106, 110, 114, 118, 122, 122, 126, 130, 134 };
	int64_t grew[136] = { 0 };
	struct tare_fit_pair pair;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		grew[at[i] - 1]++;
	CHECK(tare_fit_two_kinds(grew, 136, &pair));
	CHECK_INT(pair.free, 1);
	CHECK_INT(pair.per_step, 4);
	CHECK_INT(pair.free_2, 35);
	CHECK_INT(pair.per_step_2, 43);
}

TEST(streams_of_one_kind)
{
	int64_t grew[40] = { 0 };
	struct tare_fit_pair pair;

	CHECK(!tare_fit_two_kinds(grew, 40, &pair));
	grew[3] = 1;
	CHECK(!tare_fit_two_kinds(grew, 40, &pair)); /* once: no period */
	grew[13] = grew[23] = grew[33] = 1;
	CHECK(tare_fit_two_kinds(grew, 40, &pair));
	CHECK_INT(pair.free, 3);
	CHECK_INT(pair.per_step, 10);
	CHECK_INT(pair.per_step_2, 0);
	grew[20] = 1;
	CHECK(tare_fit_two_kinds(grew, 40, &pair));
	CHECK_INT(pair.free_2, 20);
	CHECK_INT(pair.per_step_2, -1);
	grew[21] = 1;
	grew[25] = 1;
	CHECK(!tare_fit_two_kinds(grew, 40, &pair));
}

TEST(round_numbers)
{
	CHECK_INT(tare_fit_roundest(921600, 1048576), 1048576);
	CHECK_INT(tare_fit_roundest(5, 5), 5);
	CHECK_INT(tare_fit_roundest(1000, 1031), 1024);
	CHECK_INT(tare_fit_roundest(0, 100), 0);
	CHECK_INT(tare_fit_roundest(1, 7), 4);
}
