/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster cut into stretches: shared by overlap*.c. */
#ifndef TARE_LEDGER_OVERLAP_H
#define TARE_LEDGER_OVERLAP_H

#include "ledger/settle/settle.h"

#define TARE_NOBODY SIZE_MAX

enum { TARE_WIDE_NS = 100000 }; /* a reading that took longer may have been taken at quite another moment */

/* A reading. It was taken some time between `earliest` and `latest`. */
struct tare_point {
	int64_t t, used, level; /* level: in use by other processes, -1: not known */
	size_t step;
	bool is_after;
	int64_t earliest, latest;
	/* bounds of its time, as earlier readings were before it and later ones behind it */
	int64_t since, until;
};

/* Stretch k ends at point k; stretch 0 is the time between the call before and the cluster. */
struct tare_stretch {
	int64_t rest;                        /* change that no call was given yet */
	int64_t known;                       /* change given to known calls */
	uint32_t unknowns, yielding, knowns; /* numbers of calls under way */
	bool has_growth, has_fall;           /* among the known calls */
	/* change if all known falls, or all known growth, were here; without contexts */
	int64_t lowest, highest;
	/* the device fell below `lowest` and a process was ending: its end is in here */
	bool has_leaver;
	size_t first, last; /* known calls placed here, through member.next */
};

struct tare_member {
	struct tare_applied applied;
	size_t op_first, op_nr;
	/* stretches that the call may have changed; from == to: behind all readings */
	size_t from, to;
	bool may_be_later; /* the call ended after the last reading */
	bool is_context;   /* the call made a context, which takes what other contexts take */
	bool is_sure;      /* its known change can be in no other stretch */
	bool is_given;     /* its change is counted in `known` of its stretch */
	size_t at;         /* the stretch its known change is placed in */
	size_t next;
	int64_t given; /* of an unknown call: what it was given so far */
	/* of an unknown call: how much less or more it may be, as a known change may be in another stretch */
	int64_t low, high;
};

/* A process that was over, and in the books, before the last reading. */
struct tare_leaver {
	int process;
	/* bytes that it had; driver: what starting the driver took, which may stay */
	int64_t bytes, driver;
	/* the first stretch in which its memory can have gone, and the stretch in which it did */
	size_t from, at;
};

/* When a call was made, or so: the stamps say in which order. */
struct tare_made {
	int64_t stamp, since; /* since: surely made later than that */
	uint64_t at, bytes;   /* addresses that it takes or gives back */
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
	size_t work_to; /* in no stretch from here on anything is taken */
	/* unexplained change of the stretches so far, which later stretches may reverse */
	int64_t owed;
	/* what each context made in the cluster takes; 0: what is measured */
	int64_t context_bytes;
	bool is_driver_started; /* on the device, before the cluster */
	/* number of unknown calls that do not yield, and one of them */
	size_t unknown_nr, unknown;
};

/*
 * Does the call take only what no other call can have taken? A wait does; and so does a start of the driver on a device on which it
 * was started before: most of what starting takes is taken for the first process (ended.c).
 */
static inline bool tare_overlap_yields(const struct tare_overlap *o, const struct tare_step *s)
{
	return tare_step_is_sync(s) || (s->class == TARE_CLASS_DRIVER && o->is_driver_started);
}

static inline bool tare_member_is_unknown(const struct tare_overlap *o, size_t i)
{
	return o->members[i].applied.takes_rest && !tare_overlap_yields(o, &o->steps[i]);
}

/*
 * overlap_order.c: sorts readings by the middle of their times; then, when `used` is known, as the values fit
 */
void tare_overlap_sort(struct tare_overlap *o);
void tare_overlap_order(struct tare_overlap *o);
/* The first of `count` points, which are sorted by time, at t or later. */
size_t tare_overlap_point_at(const struct tare_point *points, size_t count, int64_t t);

/* Does the call take or give back whole pages of addresses? */
static inline bool tare_step_is_of_pages(const struct tare_step *s)
{
	return tare_classes[s->class].sizing == TARE_SIZING_PAGES && !(s->flags & TARE_EVENT_FAILED);
}

/* overlap_stamp.c */
void tare_overlap_stamp(const struct tare_overlap *o, struct tare_made *made);

/* overlap_pages.c: corrects the stamps of calls on one page as the readings fit */
void tare_overlap_order_pages(const struct tare_overlap *o, struct tare_made *made);

/* overlap_context.c: contexts that are made at the same time. Needs the points. */
void tare_overlap_contexts(struct tare_overlap *o);
void tare_overlap_context(struct tare_overlap *o, const struct tare_step *s, struct tare_member *m);
void tare_overlap_forget_contexts(struct tare_overlap *o); /* contexts of another size count as measured */

/* overlap_end.c: processes that end meanwhile */
void tare_overlap_find_leavers(struct tare_overlap *o);
int64_t tare_overlap_end(struct tare_overlap *o, size_t k);
/* Finds `work_to`. Needs the stretches of all calls. */
void tare_overlap_find_work(struct tare_overlap *o);
/* Notes the ends of processes that go in this stretch, when its known changes are booked. */
void tare_overlap_pass_leavers(struct tare_overlap *o, size_t k);

/* overlap_assign.c: gives every known change its stretch */
void tare_overlap_assign(struct tare_overlap *o);

/* overlap_collect.c: gives the only unknown call what is left */
void tare_overlap_collect(struct tare_overlap *o);

#endif
