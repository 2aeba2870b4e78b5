/* SPDX-License-Identifier: Apache-2.0 */
/* Times of events: any are given back, in any order. */
#include "replay/times.h"
#include "test.h"

#include <stdlib.h>

#define COUNT 2000

/* Forwards and, now and then, somewhere else; missing; back before the first of its block. */
static int64_t time_at(size_t i)
{
	static const int64_t odd[] = { 0, INT64_MAX, INT64_MIN, -1, UINT32_MAX, 1700000000000000 };

	return i % 7 == 3 ? odd[i / 7 % (sizeof(odd) / sizeof(odd[0]))] : 1700000000000000 + (int64_t)i * 20000000;
}

TEST(any_time_is_given_back)
{
	struct tare_times times = { 0 };

	for (size_t i = 0; i < COUNT; i++)
		tare_times_add(&times, time_at(i));
	CHECK_INT(times.count, COUNT);
	for (size_t i = COUNT; i--;)
		CHECK_INT(tare_times_at(&times, i), time_at(i));
	tare_times_free(&times);
	CHECK_INT(times.count, 0);
}

TEST(what_goes_on_steadily_needs_no_exceptions)
{
	struct tare_times times = { 0 };

	for (size_t i = 0; i < COUNT; i++)
		tare_times_add(&times, 1700000000000000 + (int64_t)i * 1000000);
	CHECK_INT(times.far.count, 0);
	CHECK_INT(tare_times_at(&times, COUNT - 1), 1700000000000000 + (COUNT - 1) * 1000000ll);
	tare_times_free(&times);
}
