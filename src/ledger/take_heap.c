/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass over blocks of the heap, many at once. */
#include "ledger/run.h"

void tare_fold_take_heap(struct tare_fold *f, const struct tare_event *e, int64_t until)
{
	struct tare_device_fold *d = e->device ? tare_fold_known_device(f, e->device) : NULL;
	struct tare_heap_run run;
	int64_t before, last;

	if (!d || !f->source->heap_run)
		return;
	before = tare_fold_nothing_until(f, d);
	if (!f->source->heap_run(f->source->arg, before < until ? before : until, &run))
		return;
	tare_fold_heap_run(f, d, e->process, &run);
	last = run.times[run.n - 1];
	if (f->last_ns < last)
		f->last_ns = last;
	if (d->max_begin < last)
		d->max_begin = last;
}
