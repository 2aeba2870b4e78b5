/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of a device: what the books hold at one is kept from then on, and which moment is a peak. */
#include "ledger/core/fold.h"

#include "base/sat.h"

static const struct {
	const char *name;
	bool is_peak;
} marks[TARE_MARK_NR] = {
#define TARE_MARK(KEY, name, is_peak) [TARE_MARK_##KEY] = { name, is_peak },
#include "ledger/core/marks.def"
#undef TARE_MARK
};

const char *tare_mark_name(enum tare_mark m)
{
	return marks[m].name;
}

bool tare_mark_is_peak(enum tare_mark m)
{
	return marks[m].is_peak;
}

void tare_device_mark(struct tare_fold *f, struct tare_device_fold *d, enum tare_mark m, int64_t t)
{
	d->mark_nr[m]++;
	if (t > f->told_ns)
		d->is_told[m] = false;
	d->mark_used[m] = d->used;
	d->mark_live[m] = d->live;
	d->mark_ns[m] = t;
	d->is_marked[m] = true;
}

/*
 * Rule "peak": the counter wavers by 64 KiB that are nobody's. A moment that is higher by no more is not
 * taken for one at which more was in blocks, but the other way round.
 */
static bool is_fuller(const struct tare_most *now, const struct tare_most *most)
{
	if (now->live > most->live)
		return now->used + TARE_COUNTER_STEP >= most->used;
	return now->used > most->used + (now->live < most->live ? TARE_COUNTER_STEP : 0);
}

bool tare_most_take(struct tare_most *most, const struct tare_most *now)
{
	if (!is_fuller(now, most))
		return false;
	*most = *now;
	return true;
}

/* The same since somebody looked, and for what the recorded processes have. */
static void take_most(struct tare_device_fold *d, int64_t t)
{
	const struct tare_most now = { d->used - d->used_start, d->live, t };
	const struct tare_most own = { tare_sat_sub(d->sum, d->account_now[TARE_ACCOUNT_OTHER]),
				       d->live, t };

	if (tare_most_take(&d->recent, &now))
		d->has_recent = true;
	tare_most_take(&d->own_peak, &own);
}

bool tare_device_peak(struct tare_device_fold *d, int64_t t)
{
	const struct tare_most now = { d->used, d->live, t };
	const struct tare_most marked = { d->mark_used[TARE_MARK_PEAK],
					  d->mark_live[TARE_MARK_PEAK], 0 };

	take_most(d, t);
	return !d->is_marked[TARE_MARK_PEAK] || is_fuller(&now, &marked);
}
