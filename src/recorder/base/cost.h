/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long hooks take for their own, by the processor's clock. Only in libtare_recorder_cost.so,
 * which is measured by tests/gpu/overhead.sh and not shipped. In the recorder nothing of it is left.
 */
#ifndef TARE_RECORDER_BASE_COST_H
#define TARE_RECORDER_BASE_COST_H

#include <stdint.h>

#include "record/clock.h"

enum tare_cost_kind {
	TARE_COST_HANDED_OUT, /* blocks of tensors … */
	TARE_COST_TAKEN_BACK,
	TARE_COST_LAUNCH, /* looks whether something is launched for the first time */
	TARE_COST_CALL,   /* other calls of the driver, their records and readings */
	TARE_COST_NR
};

#ifdef TARE_COST_COUNTERS
static inline uint64_t tare_cost_begin(void)
{
	return tare_clock_ticks();
}
void tare_cost_end(enum tare_cost_kind kind, uint64_t begin, uint64_t times);
#else
static inline uint64_t tare_cost_begin(void)
{
	return 0;
}
static inline void tare_cost_end(enum tare_cost_kind kind, uint64_t begin, uint64_t times)
{
	(void)kind, (void)begin, (void)times;
}
#endif

#endif
