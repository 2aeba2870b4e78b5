/* SPDX-License-Identifier: Apache-2.0 */
/* Thins out readings of the clocks of the time whose events went, so that however long a program runs there are few of them. */
#include "rollup/clocks.h"

#include <math.h>

enum {
	MOST = 64,
	NEAR = 3, /* readings before `until` that stay: settled is what lies before the last three of them */
};

#define TOLERANCE_NS 1000.0
#define FAR_NS       1e18 /* of clocks that went back, which is damage */

static double off(uint64_t from, uint64_t at, uint64_t to, double part)
{
	return fabs((double)(int64_t)(at - from) - part * (double)(int64_t)(to - from));
}

/* How far from the line between its neighbours, in ns. */
static double deviation(const struct tare_rollup_clock *before, const struct tare_rollup_clock *at,
                        const struct tare_rollup_clock *after)
{
	double part, monotonic, realtime;

	if (after->ticks <= before->ticks || at->ticks < before->ticks || at->ticks > after->ticks)
		return FAR_NS;
	part = (double)(at->ticks - before->ticks) / (double)(after->ticks - before->ticks);
	monotonic = off(before->monotonic_ns, at->monotonic_ns, after->monotonic_ns, part);
	realtime = off(before->realtime_ns, at->realtime_ns, after->realtime_ns, part);
	return monotonic > realtime ? monotonic : realtime;
}

/* Of neighbours one goes at a time. Returns how many went. */
static size_t thin_once(struct tare_rollup_clock *clocks, size_t n, double tolerance)
{
	size_t before = 0, gone = 0;
	bool is_next = false; /* the one before it went */

	for (size_t i = 1, after; i + 1 < n; i = after) {
		for (after = i + 1; after + 1 < n && clocks[after].is_gone; after++)
			;
		if (clocks[i].is_gone)
			continue;
		if (!is_next && !clocks[after].is_gone && deviation(&clocks[before], &clocks[i], &clocks[after]) <= tolerance) {
			clocks[i].is_gone = is_next = true;
			gone++;
			continue;
		}
		before = i;
		is_next = false;
	}
	return gone;
}

void tare_rollup_thin_clocks(struct tare_rollup_clock *clocks, size_t n, uint64_t until)
{
	size_t old = 0, left;

	while (old < n && clocks[old].ticks <= until)
		old++;
	old = old > NEAR ? old - NEAR : 0;
	left = old;
	for (double tolerance = TOLERANCE_NS; tolerance == TOLERANCE_NS || (left > MOST && tolerance < 2 * FAR_NS);
	     tolerance *= 2) {
		size_t gone;

		while ((gone = thin_once(clocks, old, tolerance)))
			left -= gone;
	}
}
