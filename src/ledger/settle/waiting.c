/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of tensors, and the moments at which the books are to be looked at, that wait for calls to be settled: they are
 * applied in order, and the parts are told.
 */
#include "ledger/settle/settle.h"

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
			tare_blocks_prefetch_block(&f->processes[d->blocks[i].process]->on_device[d->index]->blocks,
			                           d->blocks[i].address);
	tare_fold_tensor_until(f, d, INT64_MAX);
	if (f->ahead == d)
		f->ahead = NULL;
}
