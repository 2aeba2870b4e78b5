/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the program's time looks at its objects may take: one part in TARE_SCAN_SHARE. */
#ifndef TARE_RECORDER_TORCH_SCAN_BUDGET_H
#define TARE_RECORDER_TORCH_SCAN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum { TARE_SCAN_SHARE = 100 };

struct tare_scan_budget {
	uint64_t spent, last; /* ticks: of all looks, of the last */
};

/* May there be another look, after `run` ticks of the program? The next is taken to cost as the last did, or `least`. */
static inline bool tare_scan_budget_allows(const struct tare_scan_budget *b, uint64_t run, uint64_t least)
{
	return run / TARE_SCAN_SHARE > b->spent + (b->last > least ? b->last : least);
}

/*
 * There was a look. It lasted `ticks`, or `ns` by the clock, of which its thread had a CPU for `cpu_ns`; 0: that is not known. Only
 * that time is spent: while other programs had the CPU, ours would not have had it either.
 */
static inline void tare_scan_budget_spend(struct tare_scan_budget *b, uint64_t ticks, uint64_t ns, uint64_t cpu_ns)
{
	b->last = cpu_ns && cpu_ns < ns ? ticks / 1000 * (cpu_ns * 1000 / ns) : ticks;
	b->spent += b->last;
}

#endif
