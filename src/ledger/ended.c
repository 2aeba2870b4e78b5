/* SPDX-License-Identifier: Apache-2.0 */
/* What of processes that have ended leaves the books, and when. */
#include "ledger/fold.h"

#include <stdlib.h>

/* It ended in order, or nothing more can come from its log. */
static bool is_over(const struct tare_process_fold *p, int64_t t)
{
	if (!p || p->process->role != TARE_ROLE_PROGRAM)
		return false;
	return p->is_ended || (p->process->last_ns > 0 && p->process->last_ns < t);
}

bool tare_fold_is_any_over(const struct tare_fold *f, int64_t t)
{
	for (int i = 0; i < f->process_nr; i++)
		if (is_over(f->processes[i], t))
			return true;
	return false;
}

static void remove_process(struct tare_fold *f, struct tare_device_fold *d, int process)
{
	tare_fold_aside_end(d, process);
	tare_fold_take_back_blocks(f, d, process, -1);
	for (size_t i = 0; i < f->context_nr; i++) {
		struct tare_context *c = &f->contexts[i];

		if (c->process != process || c->device != d->index)
			continue;
		while (c->objects >= 0)
			tare_fold_object_remove(f, c->objects);
		c->is_live = false;
	}
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		struct tare_bucket *b = &f->buckets[i];
		struct tare_amount by;

		if (b->process != process)
			continue;
		by = (struct tare_amount){ .bytes = -b->now.bytes,
					   .low = -b->now.low,
					   .high = -b->now.high,
					   .count = -b->now.count,
					   .ns = -b->now.ns };
		tare_fold_book(f, i, &by);
	}
}

static int64_t driver_bytes(const struct tare_fold *f, const struct tare_device_fold *d,
			    int process)
{
	int64_t sum = 0;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].process == process &&
		    f->buckets[i].account == TARE_ACCOUNT_DRIVER)
			sum += f->buckets[i].now.bytes;
	return sum;
}

/*
 * Rule "driver start": most of it is taken for whoever is first, and stays until the last one is gone. What
 * of a process's row did not fall with it is from then on another's that is still there. Returns that.
 */
static int64_t hand_over(struct tare_fold *f, struct tare_device_fold *d, int from, int64_t stays,
			 int64_t t)
{
	if (stays <= 0 || stays > driver_bytes(f, d, from))
		return 0;
	for (int i = 0; i < f->process_nr; i++) {
		int context;

		if (i == from || is_over(f->processes[i], t) || driver_bytes(f, d, i) <= 0)
			continue;
		context = tare_fold_context(f, i, d->index, 0);
		tare_fold_book_bytes(f, tare_fold_bucket(f, context, TARE_ACCOUNT_DRIVER, 0), stays,
				     TARE_EVIDENCE_INFERRED);
		return stays;
	}
	return 0;
}

/*
 * Rule "process end": the driver frees what an ended process had, some time after its last record.
 * A fall of at least half of what is booked for it shows that this has happened. Of several that
 * ended, it is the one nearest in size, or all if they are nearer together. Inside a call that makes
 * something any fall shows it (is_sure): such a call gives nothing back.
 */
void tare_fold_take_ended(struct tare_fold *f, struct tare_device_fold *d, int64_t t, bool is_sure,
			  int64_t *change)
{
	for (int i = 0; *change < 0 && i < f->process_nr; i++)
		if (is_over(f->processes[i], t))
			tare_fold_share_end(f, i);
	while (*change < 0) {
		int64_t fall = -*change, all = 0, best_bytes = 0;
		int best = -1;

		for (int i = 0; i < f->process_nr; i++) {
			int64_t bytes;

			if (!is_over(f->processes[i], t))
				continue;
			bytes = tare_fold_process_bytes(f, d, i);
			if (bytes <= 0)
				continue;
			all += bytes;
			if (best < 0 || llabs(bytes - fall) < llabs(best_bytes - fall)) {
				best = i;
				best_bytes = bytes;
			}
		}
		if (best < 0 || (!is_sure && fall < best_bytes / 2))
			return;
		if (!d->is_marked[TARE_MARK_END])
			tare_fold_mark(f, d, TARE_MARK_END, t);
		for (int i = 0; i < f->process_nr && all > best_bytes; i++) {
			if (i == best || llabs(all - fall) > llabs(best_bytes - fall) ||
			    !is_over(f->processes[i], t))
				continue;
			*change += tare_fold_process_bytes(f, d, i);
			remove_process(f, d, i);
		}
		best_bytes -= hand_over(f, d, best, best_bytes + *change, t);
		remove_process(f, d, best);
		*change += best_bytes;
	}
}
