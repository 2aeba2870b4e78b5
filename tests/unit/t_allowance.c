/* SPDX-License-Identifier: Apache-2.0 */
#include "record/allowance.h"

#include <pthread.h>

#include "test.h"

TEST(allowance_of_a_recording_without_a_cap_has_no_end)
{
	struct tare_control control = { 0 };

	CHECK(tare_allowance_has(&control, UINT64_MAX / 2));
	CHECK(tare_allowance_take(&control, 1000));
	CHECK(tare_allowance_take(&control, 1000));
	CHECK_INT(control.log_written, 2000);
}

TEST(allowance_takes_nothing_where_it_does_not_suffice)
{
	struct tare_control control = { .log_limit = 100 };

	CHECK(tare_allowance_take(&control, 60));
	CHECK(!tare_allowance_has(&control, 41));
	CHECK(!tare_allowance_take(&control, 41));
	CHECK_INT(control.log_written, 60);
	CHECK(tare_allowance_has(&control, 40));
	CHECK(tare_allowance_take(&control, 40));
	CHECK(!tare_allowance_take(&control, 1));
	control.log_limit = 101;
	CHECK(tare_allowance_take(&control, 1));
}

TEST(allowance_has_more_before_a_record_is_lost)
{
	struct tare_control control = { .log_limit = 100, .log_most = 150, .log_written = 90 };

	CHECK(!tare_allowance_take(&control, 20));
	CHECK(tare_allowance_is_below(&control, 60, tare_allowance_limit(&control, true)));
	CHECK(tare_allowance_take_below(&control, 60, tare_allowance_limit(&control, true)));
	CHECK(!tare_allowance_take_below(&control, 1, tare_allowance_limit(&control, true)));
	control.log_most = 0; /* of a tare that does not tell it */
	CHECK_INT(tare_allowance_limit(&control, true), 100);
	control.log_limit = 0;
	CHECK(tare_allowance_take_below(&control, 1, tare_allowance_limit(&control, true)));
}

TEST(allowance_is_less_by_what_had_to_be_made)
{
	struct tare_control control = { .log_limit = 100 };

	tare_allowance_add(&control, 130);
	CHECK(!tare_allowance_has(&control, 1));
	CHECK(!tare_allowance_take(&control, 1));
	CHECK_INT(control.log_written, 130);
}

enum { THREADS = 4, TURNS = 20000, SIZE = 7 };

static struct tare_control shared = { .log_limit = THREADS * TURNS * SIZE / 2 };

static void *take_all(void *taken)
{
	for (int i = 0; i < TURNS; i++)
		*(uint64_t *)taken += tare_allowance_take(&shared, SIZE) ? SIZE : 0;
	return NULL;
}

TEST(allowance_is_not_passed_by_all_together)
{
	pthread_t threads[THREADS];
	uint64_t taken[THREADS] = { 0 }, sum = 0;

	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, take_all, &taken[i]) == 0);
	for (int i = 0; i < THREADS; i++) {
		CHECK(pthread_join(threads[i], NULL) == 0);
		sum += taken[i];
	}
	CHECK_INT(shared.log_written, sum);
	CHECK(sum <= shared.log_limit);
	/* Who does not get enough may have stood in another's way for a moment. */
	CHECK(sum > shared.log_limit - THREADS * SIZE * 2);
}
