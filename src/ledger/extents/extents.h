/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of each device, and of tensors on the CPU, the least and the most that was in use since the state that a fold went on from, and how much
 * was in use where long phases began, at their maximum and where they ended: what is kept of a span of time whose events are dropped.
 */
#ifndef TARE_LEDGER_EXTENTS_H
#define TARE_LEDGER_EXTENTS_H

#include "base/extent.h"
#include "ledger/core/fold.h"

struct tare_extents_device {
	bool is_known;
	int64_t from, since; /* of what was in use first; since when what is in use now is */
	struct tare_extent_value low, high;
};

/* A phase that ended; device -1: for tensors on the CPU. */
struct tare_extents_ended {
	int device;
	const char *name;
	uint64_t nth; /* among those of its name, from 1 */
	int64_t begin_ns, t;
	struct tare_phase_use use; /* all that was in use */
};

/* The part. Nothing of it is in a state: it begins anew there. */
struct tare_extents_part {
	TARE_ONLY_FREED struct tare_extents_device *devices;
	TARE_NOT_SAVED int device_nr;
	TARE_NOT_SAVED struct tare_extents_device cpu;    /* tensors there */
	TARE_ONLY_FREED struct tare_extents_ended *ended; /* the phases that lasted longest */
	TARE_NOT_SAVED size_t ended_nr, ended_cap;
};

void tare_extents_begin(struct tare_extents_part *p, const struct tare_fold *f);
void tare_extents_advance(struct tare_extents_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                          int64_t t);
void tare_extents_host(struct tare_extents_part *p, const struct tare_fold *f, int64_t t);
void tare_extents_used(struct tare_extents_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                       int64_t t);
void tare_extents_rebase(struct tare_extents_part *p, const struct tare_device_fold *d, int64_t shift);
/* A phase of a second or more; shorter ones end so often that the span tells as much. */
void tare_extents_long_phase(struct tare_extents_part *p, const struct tare_fold *f, const struct tare_phase_change *c);
static inline void tare_extents_phase(struct tare_extents_part *p, const struct tare_fold *f,
                                      const struct tare_phase_change *c)
{
	if (f->keeps_history && c->is_end && c->t - c->begin_ns >= INT64_C(1000000000))
		tare_extents_long_phase(p, f, c);
}
const char *tare_extents_check(const struct tare_extents_part *p, const struct tare_fold *f);

/* What there is of every device from a state at `from`, INT64_MIN: from the begin, up to `until`, added to a list. */
void tare_extents_list(struct tare_extents_part *p, const struct tare_fold *f, int64_t from, int64_t until,
                       struct tare_extent_list *out);

#endif
