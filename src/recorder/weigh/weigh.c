/* SPDX-License-Identifier: Apache-2.0 */
/* How long weighing may take, and how long it took. */
#include "recorder/weigh/weigh.h"

#include "recorder/base/confined.h"
#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/recorder.h"
#include "recorder/unwind/unwind_stack.h"
#include "record/clock.h"

#define DEBT_MS      10
#define READ_MOST_US 100 /* what is charged for one reading at most, see tare_weigh_spend() */
#define SHORT_US     3   /* 1,955 changes on an H200 lay in calls of 7.5 us and more */

static struct {
	uint64_t ticks, charged_ticks, driver_ticks;
} spent;
TARE_OF_PROCESS(spent);

static uint64_t us_ticks;

void tare_weigh_start(void)
{
	uint64_t ticks_per_s = tare_clock_ticks_per_s();

	/* A TSC does not say its rate; 3 GHz is near enough for this. */
	us_ticks = (ticks_per_s ? ticks_per_s : 3000000000u) / 1000000;
}

bool tare_weigh_may_call(void)
{
	return tare_may_syscall() && tare_stack_has(TARE_STACK_FOREIGN);
}

/*
 * A program starts with many calls that matter and little time behind it, so what is needed may
 * borrow a little from the time to come; checks have half of what is allowed and borrow nothing, and
 * what is merely welcome has a quarter.
 */
bool tare_weigh_allowed(enum tare_weigh_need need)
{
	uint64_t elapsed = tare_clock_ticks() - tare_fork_now.born;
	uint64_t charged = __atomic_load_n(&spent.charged_ticks, __ATOMIC_RELAXED);
	uint64_t allowed =
		elapsed / TARE_WEIGH_SHARE + __atomic_load_n(&spent.driver_ticks, __ATOMIC_RELAXED) / TARE_WEIGH_DRIVER_SHARE;

	if (tare_config.no_weigh || !tare_weigh_may_call())
		return false;
	if (tare_config.simulated || need == TARE_WEIGH_ALWAYS)
		return true; /* a simulated call takes no time that a share could be taken of */
	if (need == TARE_WEIGH_NEEDED)
		allowed += 1000 * DEBT_MS * us_ticks;
	else
		allowed /= need == TARE_WEIGH_USEFUL ? 2 : 4;
	return charged <= allowed;
}

void tare_weigh_driver_took(uint64_t ticks)
{
	__atomic_fetch_add(&spent.driver_ticks, ticks, __ATOMIC_RELAXED);
}

bool tare_weigh_is_short(uint64_t ticks)
{
	return ticks < SHORT_US * us_ticks && !tare_config.simulated;
}

static uint64_t last_used[TARE_WEIGH_DEVICES];
TARE_OF_PROCESS(last_used);

uint64_t tare_weigh_last_used(int device)
{
	return __atomic_load_n(&last_used[device], __ATOMIC_RELAXED);
}

void tare_weigh_saw(int device, uint64_t used)
{
	__atomic_store_n(&last_used[device], used, __ATOMIC_RELAXED);
}

void tare_weigh_account(uint64_t *spent_ticks, uint64_t *run_ticks)
{
	*spent_ticks = __atomic_load_n(&spent.ticks, __ATOMIC_RELAXED);
	*run_ticks = tare_clock_ticks() - tare_fork_now.born;
}

/*
 * A reading that took long waited for a lock of the driver that another process holds, as the program's
 * own call would have done a moment later: the program lost little by that.
 */
void tare_weigh_spend(uint64_t since)
{
	uint64_t ticks = tare_clock_ticks() - since, most = READ_MOST_US * us_ticks;

	__atomic_fetch_add(&spent.ticks, ticks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&spent.charged_ticks, ticks < most ? ticks : most, __ATOMIC_RELAXED);
}
