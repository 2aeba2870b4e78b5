/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of a device: what the books hold at one is kept from then on, and which moment is a peak. */
#include "ledger/core/fold.h"

static const struct {
	const char *name;
	bool is_peak;
} moments[TARE_MOMENT_NR] = {
#define TARE_MOMENT(KEY, name, is_peak) [TARE_MOMENT_##KEY] = { name, is_peak },
#include "ledger/core/moments.def"
};

const char *tare_moment_name(enum tare_moment m)
{
	return moments[m].name;
}

bool tare_moment_is_peak(enum tare_moment m)
{
	return moments[m].is_peak;
}

void tare_device_set_moment(struct tare_fold *f, struct tare_device_fold *d, enum tare_moment m, int64_t t)
{
	d->moment_nr[m]++;
	d->kept_blocks.at[m] = f->block_serial;
	d->moment_used[m] = d->used;
	d->moment_live[m] = d->live;
	d->moment_ns[m] = t;
	d->has_moment[m] = true;
}
