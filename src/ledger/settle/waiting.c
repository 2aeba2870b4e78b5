/* SPDX-License-Identifier: Apache-2.0 */
/* What waits for a device to advance, and until when nothing does; and a look at the books, which is such a thing. */
#include "ledger/settle/settle.h"

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

void tare_fold_look(struct tare_fold *f, struct tare_device_fold *d, const struct tare_block *b)
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
