/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster cut into stretches: shared by overlap.c and place.c. */
#ifndef TARE_LEDGER_OVERLAP_H
#define TARE_LEDGER_OVERLAP_H

#include "ledger/fold.h"

#define TARE_NOBODY SIZE_MAX

/* A reading. It was taken some time between `earliest` and `latest`. */
struct tare_point {
	int64_t t, used, level; /* level: in use by others, -1: not told */
	size_t step;
	bool is_after;
	int64_t earliest, latest;
};

/* Stretch k ends at point k; stretch 0 is the quiet time before the cluster. */
struct tare_stretch {
	int64_t rest;                     /* change not yet given to anybody */
	int64_t known;                    /* given to known calls */
	uint32_t unknowns, syncs, knowns; /* under way */
	bool has_growth, has_fall;        /* among the known */
	size_t first, last;               /* known calls placed here, through member.next */
};

struct tare_member {
	struct tare_applied applied;
	size_t op_first, op_nr;
	size_t from, to; /* stretches in which it was under way; from == to: behind all readings */
	bool may_be_later; /* it ended after the last reading */
	bool is_sure;      /* its known change can be nowhere else */
	bool is_given;     /* it is in its stretch's `known` */
	size_t at;         /* the stretch its known change is placed in */
	size_t next;
	int64_t low,
		high; /* unknown: how much less or more it may be, as a known one may be elsewhere */
};

struct tare_overlap {
	struct tare_fold *f;
	struct tare_device_fold *d;
	struct tare_step *steps;
	struct tare_member *members;
	size_t *order; /* members by stamp */
	size_t step_nr;
	struct tare_point *points;
	size_t point_nr;
	struct tare_stretch
		*stretches; /* point_nr, and one more for what came after the last point */
	struct tare_ops ops;
	size_t unknown_nr, unknown; /* calls that are not waits: how many, and one of them */
};

static inline bool tare_member_is_unknown(const struct tare_overlap *o, size_t i)
{
	return o->members[i].applied.takes_rest && !tare_step_is_sync(&o->steps[i]);
}

/* place.c: gives every known change its stretch */
void tare_overlap_place(struct tare_overlap *o);

#endif
