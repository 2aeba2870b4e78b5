/* SPDX-License-Identifier: Apache-2.0 */
/* A reading of a device between calls, as it comes: it settles the calls before it, and waits for a list of processes. */
#include "ledger/settle/settle.h"

void tare_fold_reading(struct tare_fold *f, struct tare_device_fold *d, int64_t from, int64_t t, uint64_t used,
                       int source, uint64_t others)
{
	if (used == TARE_NOT_KNOWN || source < TARE_SOURCE_NVML2 || source > TARE_SOURCE_CUDA)
		return;
	if (from < d->last_ns)
		return; /* the reading may be older than what is known */
	if (d->cluster.count) {
		if (from <= d->cluster_until)
			return; /* a call is under way: its own readings say more */
		tare_fold_cluster_close_by(f, d, t, used, source);
	}
	if (d->has_reading || tare_fold_list_is_older(d, from))
		tare_fold_reading_flush(f, d);
	d->has_reading = true;
	d->reading_ns = t;
	d->reading_used = (int64_t)used;
	d->reading_source = source;
	d->reading_peers = others;
}
