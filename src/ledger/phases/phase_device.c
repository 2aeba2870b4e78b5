/* SPDX-License-Identifier: Apache-2.0 */
/* What a device had in use where a phase begins and ends, and the most in between. */
#include "ledger/phases/phase.h"

#include "base/array.h"
#include "ledger/fold.h"

#include <string.h>

static int64_t now_of(const struct tare_device_fold *d)
{
	return d->used - d->used_start;
}

void tare_fold_phase_queue(struct tare_fold *f, int64_t t, int frame, int into)
{
	struct tare_phases *p = &f->phases;
	int devices = 0;

	for (int i = 0; i < f->device_nr; i++)
		devices += f->devices[i] != NULL;
	if (into >= 0)
		p->frames[frame].devices_left = devices;
	if (!devices) {
		if (into >= 0)
			tare_fold_phase_free_frame(f, frame);
		return;
	}
	p->queue = tare_array_reserve(p->queue, &p->queue_cap, p->queue_nr + 1, sizeof(*p->queue));
	p->queue[p->queue_nr++] = (struct tare_phase_boundary){ t, frame, into };
}

/* Since the last boundary the device was at most there, so this holds for all that are open. */
void tare_fold_phase_peaks(struct tare_fold *f, struct tare_device_fold *d)
{
	if (d->phase_has_peak)
		for (size_t i = 0; i < d->phase_open_nr; i++)
			tare_most_take(&f->phases.frames[d->phase_open[i]].levels[d->index].peak,
				       &d->phase_peak);
	d->phase_has_peak = false;
	d->phase_peak = (struct tare_most){ now_of(d), d->live, 0 };
}

static void tell(struct tare_fold *f, const struct tare_device_fold *d,
		 const struct tare_phase_frame *x, int64_t t, bool is_end)
{
	if (x->known >= 0)
		tare_fold_phase_change(f, x->known, x->tid, d->index, x->begin_ns, t, is_end);
}

static void begin(struct tare_fold *f, struct tare_device_fold *d,
		  const struct tare_phase_boundary *b)
{
	struct tare_phase_level *l = &f->phases.frames[b->frame].levels[d->index];

	*l = (struct tare_phase_level){ .before = now_of(d), .peak = { now_of(d), d->live, b->t } };
	memcpy(l->accounts, d->account_now, sizeof(l->accounts));
	d->phase_open = tare_array_reserve(d->phase_open, &d->phase_open_cap, d->phase_open_nr + 1,
					   sizeof(*d->phase_open));
	d->phase_open[d->phase_open_nr++] = b->frame;
	tell(f, d, &f->phases.frames[b->frame], b->t, false);
}

static void close_open(struct tare_device_fold *d, int frame)
{
	for (size_t i = d->phase_open_nr; i-- > 0;) {
		if (d->phase_open[i] != frame)
			continue;
		memmove(&d->phase_open[i], &d->phase_open[i + 1],
			(d->phase_open_nr - i - 1) * sizeof(*d->phase_open));
		d->phase_open_nr--;
		return;
	}
}

/* The first mark looks back to the start, where nobody was there to watch. */
static void look_back(const struct tare_device_fold *d, struct tare_phase_level *l)
{
	l->accounts[TARE_ACCOUNT_OTHER] = d->used_start;
	if (!d->is_marked[TARE_MARK_PEAK])
		return;
	l->peak = (struct tare_most){ d->mark_used[TARE_MARK_PEAK] - d->used_start,
				      d->mark_live[TARE_MARK_PEAK], d->mark_ns[TARE_MARK_PEAK] };
}

static void add_change(int64_t *sum, int64_t *min, int64_t *max, int64_t by, bool is_first)
{
	*sum += by;
	if (is_first || *min > by)
		*min = by;
	if (is_first || *max < by)
		*max = by;
}

static void end(struct tare_fold *f, struct tare_device_fold *d,
		const struct tare_phase_boundary *b)
{
	struct tare_phases *p = &f->phases;
	struct tare_phase_frame *x = &p->frames[b->frame];
	struct tare_phase_level *l = &x->levels[d->index];
	struct tare_phase_total *total = &p->known[b->into].totals[d->index];
	bool is_first = !total->seen;
	int64_t change = now_of(d) - l->before;

	tell(f, d, x, b->t, true);
	if (l->from_start)
		look_back(d, l);
	close_open(d, b->frame);
	total->seen++;
	if (is_first)
		total->before = l->before;
	total->after = now_of(d);
	add_change(&total->change, &total->change_min, &total->change_max, change, is_first);
	add_change(&total->own, &total->own_min, &total->own_max, change - l->nested, is_first);
	if (is_first)
		total->peak = l->peak;
	tare_most_take(&total->peak, &l->peak);
	for (int a = 0; a < TARE_ACCOUNT_NR; a++)
		total->parts[a] += d->account_now[a] - l->accounts[a];
	if (x->parent >= 0 && p->frames[x->parent].is_used &&
	    p->frames[x->parent].serial == x->parent_serial)
		p->frames[x->parent].levels[d->index].nested += change;
	for (int i = 0; x->is_watched && i < f->watch_nr && d->index < TARE_PHASE_DEVICES; i++)
		if (f->watches[i].serial == x->serial)
			f->watches[i].peak_ns[d->index] = l->peak.ns;
	if (--x->devices_left == 0)
		tare_fold_phase_free_frame(f, b->frame);
}

/* What every device has taken need not be kept. */
static void shorten(struct tare_fold *f)
{
	struct tare_phases *p = &f->phases;
	size_t least = SIZE_MAX;

	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && f->devices[i]->phase_next < least)
			least = f->devices[i]->phase_next;
	if (least == SIZE_MAX || least - p->queue_base < 1024 ||
	    least - p->queue_base < p->queue_nr / 2)
		return;
	least -= p->queue_base;
	memmove(p->queue, p->queue + least, (p->queue_nr - least) * sizeof(*p->queue));
	p->queue_nr -= least;
	p->queue_base += least;
}

void tare_fold_phase_advance(struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	struct tare_phases *p = &f->phases;
	bool is_any = false;

	while (d->phase_next < p->queue_base + p->queue_nr) {
		struct tare_phase_boundary b = p->queue[d->phase_next - p->queue_base];

		if (b.t >= t && t != INT64_MAX)
			break;
		tare_fold_phase_peaks(f, d);
		if (b.into < 0)
			begin(f, d, &b);
		else
			end(f, d, &b);
		d->phase_next++;
		is_any = true;
	}
	if (is_any)
		shorten(f);
}

/* The device's memory turns out to have been `shift` larger all along. */
void tare_fold_phase_rebase(struct tare_fold *f, struct tare_device_fold *d, int64_t shift)
{
	d->account_now[TARE_ACCOUNT_OTHER] += shift;
	for (size_t i = 0; i < d->phase_open_nr; i++)
		f->phases.frames[d->phase_open[i]].levels[d->index].accounts[TARE_ACCOUNT_OTHER] +=
			shift;
}
