/* SPDX-License-Identifier: Apache-2.0 */
/* Readings, and what changes between calls: unexplained, unless one of three rules explains it. */
#include "ledger/settle/settle.h"

#include "base/sat.h"

#include <stdlib.h>

/*
 * The device's memory turns out to have been `shift` larger all along: the first reading, or the
 * first one of a better source.
 */
static void rebase(struct tare_fold *f, struct tare_device_fold *d, int64_t shift)
{
	struct tare_bucket *before = &f->buckets[d->before];

	f->changed[d->before] = 1;
	before->now.evidence = 1 + TARE_EVIDENCE_WITNESS;
	before->now.bytes += shift;
	before->now.low += shift;
	before->now.high += shift;
	for (int m = 0; m < TARE_MOMENT_NR; m++) {
		before->kept[m].evidence = 1 + TARE_EVIDENCE_WITNESS;
		before->kept[m].bytes += shift;
		before->kept[m].low += shift;
		before->kept[m].high += shift;
		d->moment_used[m] += shift;
	}
	d->account_now[TARE_ACCOUNT_OTHER] += shift;
	tare_parts_rebase(f, d, shift);
	if (d->samples.width)
		tare_samples_shift(&d->samples, TARE_ACCOUNT_OTHER, shift);
	d->used += shift;
	d->used_start += shift;
	d->sum = tare_sat_add(d->sum, shift);
	for (int i = 0; i < 4; i++)
		d->source_offset[i] += shift;
}

/*
 * Rule "sources": NVML and cuMemGetInfo count differently by a constant. The best source that ever
 * speaks is the truth; the others are shifted to it where they first speak. `now` is what is known
 * to be in use at that moment.
 */
int64_t tare_fold_normal(struct tare_fold *f, struct tare_device_fold *d, uint64_t used, int source, int64_t now)
{
	int64_t value = (int64_t)used;

	if (!d->is_measured || source < d->primary) {
		rebase(f, d, value - (d->is_measured ? now : d->used));
		d->is_measured = true;
		d->primary = source;
		d->source_offset[source] = 0;
		d->source_known[source] = true;
		return value;
	}
	if (!d->source_known[source]) {
		d->source_known[source] = true;
		d->source_offset[source] = now - value;
	}
	return value + d->source_offset[source];
}

int tare_fold_step_source(const struct tare_device_fold *d, const struct tare_step *s)
{
	if (s->flags & TARE_EVENT_BY_CUDA)
		return TARE_SOURCE_CUDA;
	return d->device->flags & TARE_DEVICE_V1 ? TARE_SOURCE_NVML1 : TARE_SOURCE_NVML2;
}

/* The part of a change that reverses an earlier unexplained one: no rule need explain that part. */
static int64_t taken_back(const struct tare_device_fold *d, int64_t change)
{
	int64_t unexplained = d->used - d->sum;

	if ((change > 0) == (unexplained > 0))
		return 0;
	return llabs(change) < llabs(unexplained) ? change : -unexplained;
}

/*
 * The device changed by `change` while no call ran; `explained` of it is booked already. The rest is not
 * booked to the next call: that would balance every book and prove nothing.
 */
void tare_fold_between_calls(struct tare_fold *f, struct tare_device_fold *d, int64_t t, int64_t change,
                             int64_t explained)
{
	int64_t rest = change - explained, back, paused;

	d->used += explained;
	tare_fold_take_ended(f, d, t, false, &rest); /* first: it may set a moment */
	back = taken_back(d, rest);
	d->used += change - explained;
	d->last_ns = t;
	rest -= tare_fold_share_between_calls(f, d, rest);
	paused = tare_fold_paused_change(f, d, t, rest);
	rest -= paused;
	if (!paused)
		rest -= tare_fold_managed_touch(f, d, -1, rest - back);
	d->unexplained_open += rest;
	d->unexplained_between = tare_sat_add(d->unexplained_between, tare_sat_abs(rest));
	tare_fold_one_memory(f, d, t);
}
