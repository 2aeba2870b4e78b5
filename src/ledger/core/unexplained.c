/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "line, unexplained": what changed inside a call, and no account explains, stays unexplained; but it is
 * known at which line. It is kept by context and line, beside the accounts, and enters no sum of a device.
 */
#include "ledger/core/fold.h"

#include "base/sat.h"

void tare_fold_unexplained(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s, int context,
                           int64_t bytes)
{
	int bucket;

	d->unexplained_inside = tare_sat_add(d->unexplained_inside, tare_sat_abs(bytes));
	if (!bytes || context < 0)
		return;
	bucket = tare_fold_bucket_at(f, context, TARE_BUCKET_UNEXPLAINED, 0, s->call_site);
	if (bytes < 0)
		tare_fold_book_fall(f, bucket, bytes, TARE_EVIDENCE_WEIGHED);
	else
		tare_fold_book_bytes(f, bucket, bytes, TARE_EVIDENCE_WEIGHED);
}

int64_t tare_fold_unexplained_in(const struct tare_fold *f, int context)
{
	int64_t bytes = 0;

	for (int i = f->contexts[context].buckets; i >= 0; i = f->buckets[i].next_of_context)
		if (f->buckets[i].account == TARE_BUCKET_UNEXPLAINED)
			bytes += f->buckets[i].now.bytes;
	return bytes;
}
