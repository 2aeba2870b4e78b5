/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "local memory": a launch makes the driver hold local memory for every thread that fits on the
 * GPU, and it keeps the largest it ever needed. 132 multiprocessors x 2048 threads x 32 KiB are
 * 8448 MiB; 264 MiB, 1 KiB for each, were there before, and +8184 MiB is what was measured. Sixteen
 * measured sizes (tests/gpu/facts) fix the rounding.
 */
#include "ledger/core/fold.h"

#include "base/sat.h"
#include "record/bound.h"

enum { LOCAL_STEP = 16, LOCAL_EXTRA = 1 << 20 };

static int64_t round_up(int64_t bytes, int64_t step)
{
	return (bytes + step - 1) / step * step;
}

int64_t tare_fold_local_need(const struct tare_fold *f, const struct tare_context *c, int64_t local)
{
	const struct tare_device *d = f->devices[c->device]->device;
	int64_t threads = tare_sat_mul(d->multiprocessors, d->threads_per_multiprocessor);
	int64_t bytes = tare_sat_mul(threads, round_up(local, LOCAL_STEP));

	return round_up((bytes < TARE_BOUND_BYTES ? bytes : TARE_BOUND_BYTES) + LOCAL_EXTRA, f->page);
}
