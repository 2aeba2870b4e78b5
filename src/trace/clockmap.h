/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_CLOCKMAP_H
#define TARE_TRACE_CLOCKMAP_H

#include "record/format.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * From the ticks of one clock of one machine to nanoseconds of its CLOCK_MONOTONIC: piecewise linear
 * between instants at which both were read. {0} is an empty map.
 */
struct tare_clockmap_pair {
	uint64_t ticks, monotonic_ns, realtime_ns;
	double ns_per_tick; /* from here to the next pair */
};

struct tare_clockmap {
	int number, machine; /* for whoever has several */
	uint8_t boot_id[16];
	uint32_t clock;
	uint64_t ticks_per_s; /* 0: not known */
	struct tare_clockmap_pair *pairs;
	size_t pair_nr, pair_cap;
	size_t settled_nr;  /* of them; what came later was only added */
	bool is_last_close; /* the last pair is close to the one before it, … */
	bool has_replaced;  /* … in place of which it stands: */
	struct tare_clockmap_pair replaced;
	size_t last;                /* pair that was used last */
	int64_t realtime_offset_ns; /* add it to a monotonic time; 0 if not known */
	int64_t realtime_moved_ns;  /* by how much that offset changed from first to last */
	bool is_rate_known;         /* else a tick is taken for a nanosecond */
};

void tare_clockmap_add(struct tare_clockmap *map, uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns);

/*
 * To be called after the last pair and before the first question. Pairs that contradict most
 * others (a damaged record) are dropped.
 */
void tare_clockmap_settle(struct tare_clockmap *map);

/* The same after pairs that came later, in time that does not depend on how many there were. */
void tare_clockmap_go_on(struct tare_clockmap *map);

int64_t tare_clockmap_ns(struct tare_clockmap *map, uint64_t ticks);

/* 36 years. A stamp beyond is damage; sums and differences of a few such times do not overflow. */
#define TARE_CLOCK_FAR_NS 0x1p60

/* A piece of a map that is straight: ticks from `from` up to before `until`, which many in a row are in. */
struct tare_clock_line {
	uint64_t from, until;
	uint64_t ticks; /* when it was `ns` */
	int64_t ns;
	double ns_per_tick; /* 0: ticks are ns */
};
struct tare_clock_line tare_clockmap_line(struct tare_clockmap *map, uint64_t ticks);

/* pre: ticks are in the line. */
static inline int64_t tare_clock_line_ns(const struct tare_clock_line *l, uint64_t ticks)
{
	double ns;

	if (l->ns_per_tick == 0)
		return ticks < (uint64_t)TARE_CLOCK_FAR_NS ? (int64_t)ticks : (int64_t)TARE_CLOCK_FAR_NS;
	if (ticks >= l->ticks)
		ns = (double)(ticks - l->ticks) * l->ns_per_tick;
	else
		ns = -(double)(l->ticks - ticks) * l->ns_per_tick;
	if (ns > TARE_CLOCK_FAR_NS)
		ns = TARE_CLOCK_FAR_NS;
	else if (ns < -TARE_CLOCK_FAR_NS)
		ns = -TARE_CLOCK_FAR_NS;
	return l->ns + (int64_t)ns;
}

void tare_clockmap_free(struct tare_clockmap *map);

#endif
