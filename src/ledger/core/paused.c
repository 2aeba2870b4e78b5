/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "paused", the books: what a device gains or loses while recording is paused, beyond what is recorded, up to
 * the first reading behind the pause, is measured and nobody's in particular: one row of the device.
 */
#include "ledger/core/fold.h"

int tare_fold_paused_bucket(struct tare_fold *f, struct tare_device_fold *d)
{
	if (d->paused < 0)
		d->paused = tare_fold_bucket_of_device(f, d->index, TARE_ACCOUNT_PAUSED, 0);
	return d->paused;
}

/* What is there of memory that was taken while recording was paused. */
int64_t tare_fold_paused_bytes(const struct tare_fold *f, const struct tare_device_fold *d)
{
	return d->paused < 0 ? 0 : f->buckets[d->paused].now.bytes;
}

/*
 * `change` came between two readings and no other rule explains it. Returns what of it is the
 * pause's: all, if there was one in between; of a fall after a process has ended, what it left there.
 */
int64_t tare_fold_paused_change(struct tare_fold *f, struct tare_device_fold *d, int64_t t, int64_t change)
{
	int64_t held = tare_fold_paused_bytes(f, d), part = 0;

	if (d->is_pause_open)
		part = change;
	else if (change < 0 && held > 0 && tare_fold_is_any_over(f, t))
		part = change < -held ? -held : change;
	if (part)
		tare_fold_book_bytes(f, tare_fold_paused_bucket(f, d), part, TARE_EVIDENCE_WEIGHED);
	if (!f->is_paused)
		d->is_pause_open = false;
	return part;
}
