/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of tensors, and moments at which the books are to be looked at, wait for the calls before them to be
 * settled: the segment of a block may be made by one of these. What waits is applied in order, and the parts
 * are told.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"

#include <string.h>

/* Mostly nothing waits for that. */
void tare_fold_advance_past(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	bool is_unread = d->will_be_measured && !d->is_measured;
	bool is_awaited = t > tare_parts_calm_until(f, d);
	bool is_instant = d->instant_next < f->timed_nr && f->timed[d->instant_next].t_ns < t;

	if (is_unread || is_awaited || is_instant || t <= f->known_ns ||
	    !tare_samples_pass(&d->samples, t, d->used, d->live))
		tare_fold_advance(f, d, t);
	if (f->host.queue_nr)
		tare_fold_host_until(f, t);
}

int64_t tare_fold_calm_until(const struct tare_fold *f, const struct tare_device_fold *d, int64_t t)
{
	bool is_unread = d->will_be_measured && !d->is_measured;
	int64_t calm = tare_parts_calm_until(f, d);

	if (is_unread || f->host.queue_nr || t <= f->known_ns)
		return INT64_MIN;
	if (d->instant_next < f->timed_nr && f->timed[d->instant_next].t_ns < calm)
		calm = f->timed[d->instant_next].t_ns;
	return calm;
}

/* A part looks at the books of a moment. */
static void look(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b)
{
	struct tare_asked look = { (enum tare_looker)b->looker, (size_t)b->look };
	struct tare_ledger rows;

	if (!tare_parts_looks_at_rows(look.looker)) {
		tare_parts_look(f, look, NULL);
		return;
	}
	tare_fold_snapshot_begin(f, "look", &rows);
	tare_fold_snapshot(f, d, TARE_MOMENT_NOW, b->t, &rows);
	tare_parts_look(f, look, &rows);
	tare_ledger_free(&rows);
}

static void apply_block(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b)
{
	struct tare_block_change c;

	tare_fold_advance_past(f, d, b->t);
	if (b->look) {
		look(f, d, b);
		return;
	}
	if (b->flags & TARE_TENSOR_FINALIZING && !d->has_moment[TARE_MOMENT_END])
		tare_fold_set_moment(f, d, TARE_MOMENT_END, b->t);
	if (tare_tensor_take(&f->parts->tensors, f, d, b, &c))
		tare_parts_block(f, &c);
	if (b->bytes <= 0)
		return; /* a block that is freed makes no peak */
	tare_fold_plateau(f, d, b->t);
	tare_fold_peak_tensors(f, d, b->t);
}

/*
 * With many blocks the memory of each is far away. So blocks are applied by so many at once, and what each
 * needs is fetched while those before it are applied.
 */
enum { AHEAD = 16 };

/* The place in which the next block waits. */
static struct tare_block *queue(struct tare_device_fold *d)
{
	d->blocks =
		tare_array_reserve(d->blocks, &d->block_cap, d->block_nr + 1, sizeof(*d->blocks));
	return &d->blocks[d->block_nr++];
}

/* Settles the calls that are over at t. */
static void settle(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	if (f->ahead != d)
		tare_fold_tensor_catch_up(f);
	if (d->cluster.count && tare_fold_cluster_is_complete(d, t))
		tare_fold_cluster_close(f, d);
}

void tare_fold_wait(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b)
{
	settle(f, d, b->t);
	if (!d->cluster.count) {
		tare_fold_tensor_flush(f, d);
		apply_block(f, d, b);
	} else {
		*queue(d) = *b;
	}
}

/*
 * A block waits if there are calls that are not settled: its segment may be made by one of these.
 */
void tare_fold_tensor(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	if (e->rec.tensor->bytes > (int64_t)1 << 44)
		return; /* damage */
	settle(f, d, e->at_ns);
	tare_tensor_block(f, d, e, queue(d));
	if (d->cluster.count)
		return;
	f->ahead = d;
	tare_blocks_prefetch(&tare_fold_process_on(f, e->process->index, d->index)->blocks,
			     e->rec.tensor->block);
	if (d->block_nr >= AHEAD)
		tare_fold_tensor_flush(f, d);
}

void tare_fold_tensor_until(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	size_t nr = 0;

	while (nr < d->block_nr && d->blocks[nr].t <= t)
		apply_block(f, d, &d->blocks[nr++]);
	d->block_nr -= nr;
	if (nr && d->block_nr)
		memmove(d->blocks, d->blocks + nr, d->block_nr * sizeof(*d->blocks));
}

void tare_fold_tensor_flush(struct tare_fold *f, struct tare_device_fold *d)
{
	for (size_t i = 0; f->ahead == d && i < d->block_nr; i++)
		if (d->blocks[i].bytes <= 0)
			tare_blocks_prefetch_block(
				&f->processes[d->blocks[i].process]->on_device[d->index]->blocks,
				d->blocks[i].address);
	tare_fold_tensor_until(f, d, INT64_MAX);
	if (f->ahead == d)
		f->ahead = NULL;
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
