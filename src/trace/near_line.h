/* SPDX-License-Identifier: Apache-2.0 */
/* Times of many records in a row: what is the same for all stamps between two readings of a clock is found once. */
#ifndef TARE_TRACE_NEAR_LINE_H
#define TARE_TRACE_NEAR_LINE_H

#include "trace/recording_private.h"

/* A few days of a clock that is not mad: times that far apart are exact, and no bound is near. */
#define TARE_NEAR_TICKS (UINT64_C(1) << 50)
#define TARE_USUAL_NS   1024.0 /* of a tick, or less */

/* Stamps from `ticks` to before ticks + span; span 0: none. */
struct tare_near_line {
	uint64_t ticks, span;
	int64_t ns;
	double ns_per_tick;
};

/* `ns`: of the stamp, as tare_recording_ns() says. */
static inline struct tare_near_line tare_near_line(const struct tare_rprocess *p, uint64_t stamp, int64_t ns)
{
	struct tare_clock_line line = tare_clockmap_line(p->clock, stamp);
	uint64_t span = line.until - line.ticks < TARE_NEAR_TICKS ? line.until - line.ticks : TARE_NEAR_TICKS;

	if (line.ns_per_tick == 0 || line.ns_per_tick > TARE_USUAL_NS)
		return (struct tare_near_line){ 0 };
	return (struct tare_near_line){ line.ticks, span, line.ns + ns - tare_clock_line_ns(&line, stamp),
		                            line.ns_per_tick };
}

static inline bool tare_near_line_has(const struct tare_near_line *l, uint64_t stamp)
{
	return stamp - l->ticks < l->span;
}

/* pre: it has the stamp. */
static inline int64_t tare_near_line_ns(const struct tare_near_line *l, uint64_t stamp)
{
	return l->ns + (int64_t)((double)(int64_t)(stamp - l->ticks) * l->ns_per_tick);
}

#endif
