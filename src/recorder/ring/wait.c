/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a thread wait for room where logs outgrow their cap. */
#include "recorder/ring/wait.h"

#include <errno.h>

#include "recorder/base/sys.h"
#include "recorder/ring/control.h"
#include "recorder/ring/file.h"
#include "record/allowance.h"
#include "record/clock.h"

#define STEP_NS 1000000
/* `tare` says every 20 ms that it lives, and later where others have the processors. */
#define BEAT_NS UINT64_C(500000000)
/* `tare` has made room where so many bytes more are allowed than when it was last seen to have made some. */
#define ROOM INT64_C(65536)

/* Of the process, by all threads; a forked child goes on with what its parent has waited. */
static struct {
	uint64_t sum_ns;          /* so long it has waited */
	uint64_t counted_ns;      /* CLOCK_MONOTONIC: until then waiting is in the sum */
	uint64_t limit, sum_then; /* how much was allowed when room was made last, and the sum of then */
	uint64_t refused;         /* ticks when a wait ended in vain last; 0: never */
} waited;

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void see_room(const struct tare_control *control)
{
	uint64_t limit = load(&control->log_limit);

	if ((int64_t)(limit - load(&waited.limit)) < ROOM)
		return;
	__atomic_store_n(&waited.limit, limit, __ATOMIC_RELAXED);
	__atomic_store_n(&waited.sum_then, load(&waited.sum_ns), __ATOMIC_RELAXED);
}

static void count(uint64_t from, uint64_t now)
{
	uint64_t counted = load(&waited.counted_ns);

	from = counted > from ? counted : from;
	if (now > from &&
	    __atomic_compare_exchange_n(&waited.counted_ns, &counted, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_fetch_add(&waited.sum_ns, now - from, __ATOMIC_RELAXED);
}

/* Of a child that was forked meanwhile no log is open yet. */
static bool may_wait(uint64_t now)
{
	uint64_t opened = load(&tare_ring.opened_ns), sum = load(&waited.sum_ns);

	return opened && now > opened && tare_wait_may(now - opened, sum, sum - load(&waited.sum_then));
}

static bool is_being_made(const struct tare_control *control)
{
	return __atomic_load_n(&control->makes_room, __ATOMIC_RELAXED) && tare_control_has_beaten_within(control, BEAT_NS);
}

bool tare_wait_is_possible(void)
{
	uint64_t refused = load(&waited.refused);

	return __atomic_load_n(&tare_control_page()->makes_room, __ATOMIC_RELAXED) &&
	       (!refused || tare_clock_ticks() - refused >= TARE_SOME_TICKS);
}

static long sleep_a_step(void)
{
	struct timespec step = { 0, STEP_NS };

	return tare_sys6(SYS_nanosleep, (long)&step, 0, 0, 0, 0, 0);
}

bool tare_wait_for_room(uint64_t size)
{
	const struct tare_control *control = tare_control_page();
	uint64_t now;
	long rc = 0;

	if (!tare_wait_is_possible())
		return false;
	see_room(control);
	now = tare_sys_now_ns(CLOCK_MONOTONIC);
	while (is_being_made(control) && may_wait(now) && (rc == 0 || rc == -EINTR)) {
		uint64_t before = now;

		rc = sleep_a_step();
		now = tare_sys_now_ns(CLOCK_MONOTONIC);
		count(before, now);
		see_room(control);
		if (tare_allowance_has(control, size))
			return true;
	}
	__atomic_store_n(&waited.refused, tare_clock_ticks() | 1, __ATOMIC_RELAXED);
	return false;
}
