/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the time that hooks take for their own, in the build that is measured. */
#include "recorder/base/cost.h"

#include "recorder/recorder.h"

/* A thread's own; those after the last share it. */
enum { THREADS = 256 };
static struct {
	uint64_t ticks[TARE_COST_NR], times[TARE_COST_NR], intervals[TARE_COST_NR];
} __attribute__((aligned(64))) slots[THREADS];
static uint32_t threads;
static TARE_TLS uint32_t own; /* plus 1 */

void tare_cost_end(enum tare_cost_kind kind, uint64_t begin, uint64_t times)
{
	uint64_t ticks = tare_clock_ticks() - begin;

	if (unlikely(!own)) {
		own = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
		if (own > THREADS)
			own = THREADS;
	}
	__atomic_add_fetch(&slots[own - 1].ticks[kind], ticks, __ATOMIC_RELAXED);
	__atomic_add_fetch(&slots[own - 1].times[kind], times, __ATOMIC_RELAXED);
	__atomic_add_fetch(&slots[own - 1].intervals[kind], 1, __ATOMIC_RELAXED);
}

/* For each kind: ticks, times, and how often the clock was read around them. Returns the ticks now. */
TARE_EXPORT uint64_t tare_cost_read(uint64_t out[3 * TARE_COST_NR]);

uint64_t tare_cost_read(uint64_t out[3 * TARE_COST_NR])
{
	uint32_t i, k;

	for (k = 0; k < TARE_COST_NR; k++) {
		out[3 * k] = out[3 * k + 1] = out[3 * k + 2] = 0;
		for (i = 0; i < THREADS; i++) {
			out[3 * k] += __atomic_load_n(&slots[i].ticks[k], __ATOMIC_RELAXED);
			out[3 * k + 1] += __atomic_load_n(&slots[i].times[k], __ATOMIC_RELAXED);
			out[3 * k + 2] += __atomic_load_n(&slots[i].intervals[k], __ATOMIC_RELAXED);
		}
	}
	return tare_clock_ticks();
}

/* Ticks of a hundred intervals with nothing in them. */
TARE_EXPORT uint64_t tare_cost_of_nothing(void);

uint64_t tare_cost_of_nothing(void)
{
	uint64_t ticks = 0;
	int i;

	for (i = 0; i < 100; i++) {
		uint64_t begin = tare_cost_begin();

		ticks += tare_clock_ticks() - begin;
	}
	return ticks;
}
