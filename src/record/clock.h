/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stamp of a record: ticks of the CPU's counter, read in a few nanoseconds. Recorder and tool
 * must read the same clock, so it is chosen here for both, by architecture.
 */
#ifndef TARE_RECORD_CLOCK_H
#define TARE_RECORD_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "record/format.h"

#if defined(__x86_64__)
#define TARE_CLOCK_HERE TARE_CLOCK_TSC
static inline uint64_t tare_clock_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}
static inline uint64_t tare_clock_ticks_per_s(void)
{
	return 0; /* from clock records */
}
#elif defined(__aarch64__)
#define TARE_CLOCK_HERE TARE_CLOCK_CNTVCT
static inline uint64_t tare_clock_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
static inline uint64_t tare_clock_ticks_per_s(void)
{
	uint64_t frequency;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency;
}
#else
#error "Tare knows the clocks of x86_64 and aarch64"
#endif

#endif
