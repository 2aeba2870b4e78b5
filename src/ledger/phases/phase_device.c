/* SPDX-License-Identifier: Apache-2.0 */
/* What a device had in use where a phase begins and ends, and the most in between. */
#include "ledger/phases/phases.h"

#include "base/array.h"

#include <string.h>

void tare_phase_open_on(struct tare_phases_device *own, int frame)
{
	own->open =
		tare_array_reserve(own->open, &own->open_cap, own->open_nr + 1, sizeof(*own->open));
	own->open[own->open_nr++] = frame;
}

void tare_phase_close_on(struct tare_phases_device *own, int frame)
{
	for (size_t i = own->open_nr; i-- > 0;) {
		if (own->open[i] != frame)
			continue;
		memmove(&own->open[i], &own->open[i + 1],
			(own->open_nr - i - 1) * sizeof(*own->open));
		own->open_nr--;
		return;
	}
}

static int64_t now_of(const struct tare_device_fold *d)
{
	return d->used - d->used_start;
}

/* What every device has taken need not be kept. */
static void shorten(struct tare_phases_part *phases, struct tare_fold *f)
{
	size_t least = phases->host.next;

	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && phases->devices[i].next < least)
			least = phases->devices[i].next;
	if (least - phases->queue_base < 1024 || least - phases->queue_base < phases->queue_nr / 2)
		return;
	least -= phases->queue_base;
	memmove(phases->queue, phases->queue + least,
		(phases->queue_nr - least) * sizeof(*phases->queue));
	phases->queue_nr -= least;
	phases->queue_base += least;
}

void tare_phase_queue(struct tare_phases_part *phases, struct tare_fold *f, int64_t t, int frame,
		      int into)
{
	int devices = 1; /* the CPU */

	for (int i = 0; i < f->device_nr; i++)
		devices += f->devices[i] != NULL;
	if (into >= 0)
		phases->frames[frame].devices_left = devices;
	phases->queue = tare_array_reserve(phases->queue, &phases->queue_cap, phases->queue_nr + 1,
					   sizeof(*phases->queue));
	phases->queue[phases->queue_nr++] = (struct tare_phase_boundary){ t, frame, into };
	tare_phases_host_catch_up(phases, f);
	shorten(phases, f);
}

/* Since the last boundary the device was at most there, so this holds for all that are open. */
void tare_phase_peaks(struct tare_phases_part *phases, struct tare_device_fold *d)
{
	const struct tare_phases_device *own = &phases->devices[d->index];

	if (d->has_recent)
		for (size_t i = 0; i < own->open_nr; i++)
			tare_high_water_raise(&phases->frames[own->open[i]].levels[d->index].peak,
					      &d->recent);
	d->has_recent = false;
	d->recent = (struct tare_high_water){ now_of(d), d->live, 0 };
}

static void tell_begin(struct tare_phases_part *phases, struct tare_fold *f,
		       const struct tare_device_fold *d, const struct tare_phase_frame *x,
		       int64_t t)
{
	if (x->known >= 0)
		tare_phase_change(phases, f, x->known, x->tid, d->index, x->begin_ns, t, false);
}

static void tell_end(struct tare_phases_part *phases, struct tare_fold *f,
		     const struct tare_device_fold *d, const struct tare_phase_frame *x, int64_t t)
{
	const struct tare_phase_level *l = &x->levels[d->index];
	struct tare_phase_change *c;

	if (x->known < 0)
		return;
	c = tare_phase_change(phases, f, x->known, x->tid, d->index, x->begin_ns, t, true);
	if (!f->keeps_history) /* only what is kept of a span asks for it */
		return;
	c->nth = x->nth;
	c->use = (struct tare_phase_use){ l->before, l->peak.used, l->peak.ns, now_of(d) };
}

static void begin(struct tare_phases_part *phases, struct tare_fold *f, struct tare_device_fold *d,
		  const struct tare_phase_boundary *b)
{
	struct tare_phase_level *l = &phases->frames[b->frame].levels[d->index];
	struct tare_phases_device *own = &phases->devices[d->index];

	l->from_start = false;
	l->before = now_of(d);
	l->nested = 0;
	l->peak = (struct tare_high_water){ now_of(d), d->live, b->t };
	memcpy(l->accounts, d->account_now, sizeof(l->accounts));
	tare_phase_open_on(own, b->frame);
	tell_begin(phases, f, d, &phases->frames[b->frame], b->t);
}

/* The first mark looks back to the start, where nobody was there to watch. */
static void look_back(const struct tare_device_fold *d, struct tare_phase_level *l)
{
	l->accounts[TARE_ACCOUNT_OTHER] = d->used_start;
	if (!d->has_moment[TARE_MOMENT_PEAK])
		return;
	l->peak = (struct tare_high_water){ d->moment_used[TARE_MOMENT_PEAK] - d->used_start,
					    d->moment_live[TARE_MOMENT_PEAK],
					    d->moment_ns[TARE_MOMENT_PEAK] };
}

static void add_change(int64_t *sum, int64_t *min, int64_t *max, int64_t by, bool is_first)
{
	*sum += by;
	if (is_first || *min > by)
		*min = by;
	if (is_first || *max < by)
		*max = by;
}

static void end(struct tare_phases_part *phases, struct tare_fold *f, struct tare_device_fold *d,
		const struct tare_phase_boundary *b)
{
	struct tare_phase_frame *x = &phases->frames[b->frame];
	struct tare_phase_level *l = &x->levels[d->index];
	struct tare_phase_total *total = &phases->known[b->into].totals[d->index];
	bool is_first = !total->seen;
	int64_t change = now_of(d) - l->before;

	tell_end(phases, f, d, x, b->t);
	if (l->from_start)
		look_back(d, l);
	tare_phase_close_on(&phases->devices[d->index], b->frame);
	total->seen++;
	if (is_first)
		total->before = l->before;
	total->after = now_of(d);
	add_change(&total->change, &total->change_min, &total->change_max, change, is_first);
	add_change(&total->own, &total->own_min, &total->own_max, change - l->nested, is_first);
	if (is_first)
		total->peak = l->peak;
	tare_high_water_raise(&total->peak, &l->peak);
	for (int a = 0; a < TARE_ACCOUNT_NR; a++)
		total->parts[a] += d->account_now[a] - l->accounts[a];
	if (x->parent >= 0 && phases->frames[x->parent].is_used &&
	    phases->frames[x->parent].serial == x->parent_serial)
		phases->frames[x->parent].levels[d->index].nested += change;
	for (int i = 0; x->is_watched && i < f->watch_nr && d->index < TARE_PHASE_DEVICES; i++)
		if (f->watches[i].serial == x->serial)
			f->watches[i].peak_ns[d->index] = l->peak.ns;
	if (--x->devices_left == 0)
		tare_phase_free_frame(phases, b->frame);
}

void tare_phases_advance(struct tare_phases_part *phases, struct tare_fold *f,
			 struct tare_device_fold *d, int64_t t)
{
	struct tare_phases_device *own = &phases->devices[d->index];
	bool is_any = false;

	while (own->next < phases->queue_base + phases->queue_nr) {
		struct tare_phase_boundary b = phases->queue[own->next - phases->queue_base];

		if (b.t >= t && t != INT64_MAX)
			break;
		tare_phase_peaks(phases, d);
		if (b.into < 0)
			begin(phases, f, d, &b);
		else
			end(phases, f, d, &b);
		own->next++;
		is_any = true;
	}
	if (is_any)
		shorten(phases, f);
}

/* The device's memory turns out to have been `shift` larger all along. */
void tare_phases_rebase(struct tare_phases_part *phases, const struct tare_device_fold *d,
			int64_t shift)
{
	const struct tare_phases_device *own = &phases->devices[d->index];

	for (size_t i = 0; i < own->open_nr; i++)
		phases->frames[own->open[i]].levels[d->index].accounts[TARE_ACCOUNT_OTHER] += shift;
}
