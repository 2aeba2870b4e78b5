/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments of a device, in order of time: the books decide which is a peak, and the parts are told.
 */
#include "ledger/settle/settle.h"

static void take_snapshot(struct tare_fold *f, struct tare_device_fold *d, int64_t t, struct tare_ledger *out)
{
	tare_fold_snapshot(f, d, TARE_MOMENT_NOW, t, out);
	tare_tensors_shown(&f->parts->tensors, f, d, out);
}

/*
 * Something is about to happen on the device at t: instants before it see it as it is now. Until the
 * first reading nothing is known, and then it holds for all instants before.
 */
void tare_fold_advance(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (d->will_be_measured && !d->is_measured && t != INT64_MAX)
		return;
	tare_parts_advance(f, d, t);
	tare_parts_phases(f);
	while (d->instant_next < f->timed_nr && f->timed[d->instant_next].t_ns < t) {
		const struct tare_timed *at = &f->timed[d->instant_next++];

		if (at->device < 0 || at->device == d->index)
			take_snapshot(f, d, at->t_ns, at->out);
	}
}

void tare_fold_set_moment(struct tare_fold *f, struct tare_device_fold *d, enum tare_moment m, int64_t t)
{
	if (m != TARE_MOMENT_HOST)
		tare_fold_host_until(f, t);
	tare_device_set_moment(f, d, m, t);
	if (m != TARE_MOMENT_HOST)
		tare_host_set_moment(f, m);
}

static void look_for_peak(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (tare_device_peak(d, t))
		tare_fold_set_moment(f, d, TARE_MOMENT_PEAK, t);
}

void tare_fold_peak(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	look_for_peak(f, d, t);
	tare_parts_used(f, d, t);
}

/* The device is still at its maximum, or again, and more is in blocks. */
void tare_fold_plateau(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (d->has_moment[TARE_MOMENT_PEAK])
		look_for_peak(f, d, t);
}

/* Rule "peak:tensors" */
void tare_fold_peak_tensors(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (d->live > d->moment_live[TARE_MOMENT_TENSORS])
		tare_fold_set_moment(f, d, TARE_MOMENT_TENSORS, t);
}

int64_t tare_fold_calm_live(const struct tare_device_fold *d)
{
	int64_t live = d->moment_live[TARE_MOMENT_TENSORS];

	if (!d->has_moment[TARE_MOMENT_PEAK])
		return live;
	if (d->used > d->moment_used[TARE_MOMENT_PEAK] || d->used - d->used_start > d->recent.used ||
	    tare_device_own(d) > d->own_peak.used)
		return INT64_MIN;
	if (d->moment_live[TARE_MOMENT_PEAK] < live)
		live = d->moment_live[TARE_MOMENT_PEAK];
	if (d->recent.live < live)
		live = d->recent.live;
	return d->own_peak.live < live ? d->own_peak.live : live;
}
