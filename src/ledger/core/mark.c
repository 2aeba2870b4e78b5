/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of a device: what the books hold at one is kept from then on, and which moment is a peak. */
#include "ledger/core/fold.h"

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
	d->kept_blocks.at[m] = f->block_serial;
	if (t > f->checkpoint_sums_ns)
		d->has_checkpoint_sums[m] = false;
	d->mark_used[m] = d->used;
	d->mark_live[m] = d->live;
	d->mark_ns[m] = t;
	d->is_marked[m] = true;
}
