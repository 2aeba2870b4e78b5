/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of tensors, and moments at which the books are to be looked at, as they come: each waits for the calls before it
 * to be settled, as the segment of a block may be made by one of these.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"

/* The place in which the next block waits. */
static struct tare_block *queue(struct tare_device_fold *d)
{
	return &TARE_APPEND(d->blocks, d->block_nr, d->block_cap);
}

/* Settles the calls that are over at t. */
static void settle(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (d->cluster.count && tare_fold_cluster_is_complete(d, t))
		tare_fold_cluster_close(f, d);
}

void tare_fold_wait(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b)
{
	settle(f, d, b->t);
	*queue(d) = *b;
	if (!d->cluster.count)
		tare_fold_tensor_until(f, d, INT64_MAX);
}

/*
 * A block waits if there are calls that are not settled: its segment may be made by one of these.
 */
void tare_fold_tensor(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	settle(f, d, e->at_ns);
	tare_tensor_block(f, d, e, queue(d));
	if (!d->cluster.count)
		tare_fold_tensor_until(f, d, INT64_MAX);
}

/* ---- blocks in the memory of the CPU ---- */

/*
 * Applies the blocks of CPU memory that need not wait. Calls under way on a device may turn out to be a peak,
 * which must not have later blocks.
 */
void tare_fold_host_settle(struct tare_fold *f)
{
	const struct tare_host_fold *h = &f->host;
	int64_t until = INT64_MAX;

	for (int i = 0; h->queue_nr && i < f->device_nr; i++) {
		struct tare_device_fold *d = f->devices[i];
		const struct tare_step *s = d ? d->cluster.items : NULL;

		if (d && tare_fold_cluster_is_complete(d, h->queue[h->queue_nr - 1].t))
			tare_fold_cluster_close(f, d);
		if (d && d->cluster.count && until > s->begin - s->reading_before)
			until = s->begin - s->reading_before;
	}
	tare_fold_host_until(f, until);
}

void tare_fold_host_tensor(struct tare_fold *f, const struct tare_event *e)
{
	tare_host_wait(f, e);
	tare_fold_host_settle(f);
}

/* ---- looks through the program's objects ---- */

/*
 * Before a scan is applied: settles what can be settled. A scan finds only blocks that do not wait; the next
 * one, a second later at most, finds the others.
 */
void tare_fold_scan_settle(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_process_fold *p = tare_fold_process(f, e->process);

	for (int i = 0; i < p->on_device_nr; i++)
		if (p->on_device[i] && tare_fold_cluster_is_complete(f->devices[i], e->at_ns))
			tare_fold_cluster_close(f, f->devices[i]);
	tare_fold_host_settle(f);
}
