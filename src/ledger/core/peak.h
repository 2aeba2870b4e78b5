/* SPDX-License-Identifier: Apache-2.0 */
/* Which moment is a peak. Asked for every block. */
#ifndef TARE_LEDGER_CORE_PEAK_H
#define TARE_LEDGER_CORE_PEAK_H

#include "base/sat.h"
#include "ledger/core/fold_state.h"

/*
 * Rule "peak": the counter wavers by 64 KiB that are nobody's. A moment that is higher by no more is not
 * taken for one at which more was in blocks, but the other way round.
 */
static inline bool tare_high_water_is_above(const struct tare_high_water *now, const struct tare_high_water *most)
{
	if (now->live > most->live)
		return now->used + TARE_COUNTER_STEP >= most->used;
	return now->used > most->used + (now->live < most->live ? TARE_COUNTER_STEP : 0);
}

/* Takes `now` if it is more. */
static inline bool tare_high_water_raise(struct tare_high_water *most, const struct tare_high_water *now)
{
	if (!tare_high_water_is_above(now, most))
		return false;
	*most = *now;
	return true;
}

/* What the recorded processes have. */
static inline int64_t tare_device_own(const struct tare_device_fold *d)
{
	return tare_sat_sub(d->sum, d->account_now[TARE_ACCOUNT_OTHER]);
}

/* The same since somebody looked, and for what the recorded processes have. */
static inline void tare_device_most(struct tare_device_fold *d, int64_t t)
{
	const struct tare_high_water now = { d->used - d->used_start, d->live, t };
	const struct tare_high_water own = { tare_device_own(d), d->live, t };

	if (tare_high_water_raise(&d->recent, &now))
		d->has_recent = true;
	tare_high_water_raise(&d->own_peak, &own);
}

/* Is this moment its maximum? */
static inline bool tare_device_peak(struct tare_device_fold *d, int64_t t)
{
	const struct tare_high_water now = { d->used, d->live, t };
	const struct tare_high_water at_peak = { d->moment_used[TARE_MOMENT_PEAK], d->moment_live[TARE_MOMENT_PEAK], 0 };

	tare_device_most(d, t);
	return !d->has_moment[TARE_MOMENT_PEAK] || tare_high_water_is_above(&now, &at_peak);
}

#endif
