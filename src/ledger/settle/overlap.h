/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster cut into stretches: shared by overlap*.c. */
#ifndef TARE_LEDGER_OVERLAP_H
#define TARE_LEDGER_OVERLAP_H

#include "ledger/settle/settle.h"

#define TARE_NOBODY SIZE_MAX

enum {
	TARE_WIDE_NS = 100000
}; /* a reading that took longer may have been taken at quite another moment */

/* A reading. It was taken some time between `earliest` and `latest`. */
struct tare_point {
	int64_t t, used, level; /* level: in use by others, -1: not told */
	size_t step;
	bool is_after;
	int64_t earliest, latest;
	/* between which it was, as those before it were earlier, and those behind it later */
	int64_t since, until;
};

/* Stretch k ends at point k; stretch 0 is the quiet time before the cluster. */
struct tare_stretch {
	int64_t rest;                     /* change not yet given to anybody */
	int64_t known;                    /* given to known calls */
	uint32_t unknowns, syncs, knowns; /* under way */
	bool has_growth, has_fall;        /* among the known */
	int64_t lowest, highest;          /* if all of them fell here, or grew; but for contexts */
	bool has_leaver; /* the device lost more than that, and a process was ending: its end is in here */
	size_t first, last; /* known calls placed here, through member.next */
};

struct tare_member {
	struct tare_applied applied;
	size_t op_first, op_nr;
	size_t from, to; /* stretches in which it may have acted; from == to: behind all readings */
	bool may_be_later; /* it ended after the last reading */
	bool is_context;   /* it made one, which takes what others take */
	bool is_sure;      /* its known change can be nowhere else */
	bool is_given;     /* it is in its stretch's `known` */
	size_t at;         /* the stretch its known change is placed in */
	size_t next;
	int64_t given; /* unknown: what it was found to have taken so far */
	int64_t low,
		high; /* unknown: how much less or more it may be, as a known one may be elsewhere */
};

/* A process that was over, and in the books, before the last reading. */
struct tare_leaver {
	int process;
	int64_t bytes,
		driver; /* what it had; driver: what starting the driver took, which may stay */
	size_t from,
		at; /* the first stretch in which it can have gone, and the one in which it did */
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
	/* point_nr, and one more for what came after the last point */
	struct tare_stretch *stretches;
	struct tare_ops ops;
	struct tare_leaver *leavers;
	size_t leaver_nr;
	int64_t owed; /* what nobody had in the stretches so far, and what follows may take back */
	int64_t context_bytes; /* what each context that is made here takes; 0: what is measured */
	size_t unknown_nr, unknown; /* calls that are not waits: how many, and one of them */
};

static inline bool tare_member_is_unknown(const struct tare_overlap *o, size_t i)
{
	return o->members[i].applied.takes_rest && !tare_step_is_sync(&o->steps[i]);
}

void tare_overlap_count_unknown(struct tare_overlap *o, size_t i);

/* overlap_order.c: by the middle of the time in which each was taken; then as the counter fits, once `used` is known */
void tare_overlap_sort(struct tare_overlap *o);
void tare_overlap_order(struct tare_overlap *o);

/* overlap_context.c: contexts that are made at the same time. Needs the points. */
void tare_overlap_contexts(struct tare_overlap *o);
void tare_overlap_context(struct tare_overlap *o, const struct tare_step *s, struct tare_member *m);
void tare_overlap_forget_contexts(
	struct tare_overlap *o); /* that are of another size: what was measured */

/* overlap_end.c: processes that end meanwhile */
void tare_overlap_find_leavers(struct tare_overlap *o);
int64_t tare_overlap_end(struct tare_overlap *o, size_t k);

/* overlap_assign.c: gives every known change its stretch */
void tare_overlap_place(struct tare_overlap *o);

#endif
