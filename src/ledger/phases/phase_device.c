/* SPDX-License-Identifier: Apache-2.0 */
/* What a device had in use where a phase begins and ends, and the most in between. */
#include "ledger/phases/phase_queue.h"

#include <string.h>

static int64_t now_of(const struct tare_device_fold *d)
{
	return d->used - d->used_start;
}

/* Since the last boundary the device was at most there, so this holds for all that are open. */
static void raise_peaks(struct tare_phases_part *phases, struct tare_device_fold *d)
{
	if (d->has_recent)
		tare_phase_peaks_raise(&phases->devices[d->index], &d->recent);
	d->has_recent = false;
	d->recent = (struct tare_high_water){ now_of(d), d->live, 0 };
}

/* Of a device only steps of training, and what is kept of a span, ask for it. */
static bool is_told(struct tare_phases_part *phases, const struct tare_fold *f, const struct tare_phase_frame *x)
{
	return x->known >= 0 && (f->keeps_history || tare_phase_is_step(&phases->known[x->known]));
}

static void begin(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_device_fold *d,
                  const struct tare_phase_boundary *b)
{
	const struct tare_phase_frame *x = &phases->frames[b->frame];

	tare_phase_open_on(&phases->devices[d->index], b->frame);
	if (is_told(phases, f, x))
		tare_phase_change(phases, f, x->known, x->tid, d->index, x->begin_ns, b->t, false);
}

/* What is still open when the device is about to change, and was not when it changed last, has seen nothing yet but what is there. */
static void hold(struct tare_phases_part *phases, const struct tare_device_fold *d, size_t held)
{
	struct tare_phases_device *own = &phases->devices[d->index];

	for (size_t i = held; i < own->open_nr; i++) {
		struct tare_phase_level *l = &phases->frames[own->open[i]].levels[d->index];

		l->from_start = false;
		l->before = now_of(d);
		l->nested = 0;
		memcpy(l->accounts, d->account_now, sizeof(l->accounts));
	}
	tare_phase_peaks_add(own, (struct tare_phase_peak){ .frame_nr = own->open_nr - held,
	                                                    .most = { now_of(d), d->live, 0 } });
}

/* The first mark looks back to the start, where nobody was there to watch. */
static void look_back(const struct tare_device_fold *d, struct tare_phase_level *l, struct tare_high_water *peak)
{
	l->accounts[TARE_ACCOUNT_OTHER] = d->used_start;
	if (!d->has_moment[TARE_MOMENT_PEAK])
		return;
	*peak = (struct tare_high_water){ d->moment_used[TARE_MOMENT_PEAK] - d->used_start,
		                              d->moment_live[TARE_MOMENT_PEAK], d->moment_ns[TARE_MOMENT_PEAK] };
}

static void tell_end(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_device_fold *d,
                     const struct tare_phase_boundary *b, int64_t before, const struct tare_high_water *peak)
{
	const struct tare_phase_frame *x = &phases->frames[b->frame];
	struct tare_phase_change *c;

	if (!is_told(phases, f, x))
		return;
	c = tare_phase_change(phases, f, x->known, x->tid, d->index, x->begin_ns, b->t, true);
	if (!f->keeps_history) /* only what is kept of a span asks for it */
		return;
	c->nth = x->nth;
	c->use = (struct tare_phase_use){ before, peak->used, peak->ns, now_of(d) };
}

static void add_up(struct tare_phase_total *total, int64_t before, int64_t now, int64_t nested,
                   const struct tare_high_water *peak)
{
	if (!total->seen)
		total->peak = *peak;
	tare_high_water_raise(&total->peak, peak);
	tare_phase_add_up(total, before, now, nested);
}

static void tell_watch(struct tare_fold *f, const struct tare_device_fold *d, const struct tare_phase_frame *x,
                       int64_t peak_ns)
{
	for (int i = 0; x->is_watched && i < f->watch_nr && d->index < TARE_PHASE_DEVICES; i++)
		if (f->watches[i].serial == x->serial)
			f->watches[i].peak_ns[d->index] = peak_ns;
}

/* Nothing has changed since it began. */
static void end_of_calm(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_device_fold *d,
                        const struct tare_phase_boundary *b)
{
	const struct tare_phase_frame *x = &phases->frames[b->frame];
	const struct tare_high_water peak = { now_of(d), d->live, x->begin_ns };

	tell_end(phases, f, d, b, peak.used, &peak);
	add_up(&phases->known[b->into].totals[d->index], peak.used, peak.used, 0, &peak);
	tell_watch(f, d, x, peak.ns);
}

static void end_of_change(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_device_fold *d,
                          const struct tare_phase_boundary *b, struct tare_high_water peak)
{
	const struct tare_phase_frame *x = &phases->frames[b->frame];
	struct tare_phase_level *l = &x->levels[d->index];
	struct tare_phase_total *total = &phases->known[b->into].totals[d->index];

	tell_end(phases, f, d, b, l->before, &peak);
	if (l->from_start)
		look_back(d, l, &peak);
	add_up(total, l->before, now_of(d), l->nested, &peak);
	for (int a = 0; a < TARE_ACCOUNT_NR; a++)
		total->parts[a] += d->account_now[a] - l->accounts[a];
	if (x->parent >= 0 && phases->frames[x->parent].is_used && phases->frames[x->parent].serial == x->parent_serial)
		phases->frames[x->parent].levels[d->index].nested += now_of(d) - l->before;
	tell_watch(f, d, x, peak.ns);
}

/* Of those that are open `held` were open when the device changed last. */
static void end(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_device_fold *d,
                const struct tare_phase_boundary *b, size_t *held)
{
	struct tare_phases_device *own = &phases->devices[d->index];
	size_t place = tare_phase_place_on(own, b->frame);
	struct tare_high_water peak = { 0 };

	if (place < *held) {
		peak = tare_phase_peaks_take(own, *held, place, phases->frames[b->frame].begin_ns);
		--*held;
		end_of_change(phases, f, d, b, peak);
	} else if (place < own->open_nr) {
		end_of_calm(phases, f, d, b);
	} else { /* it began before anybody watched */
		end_of_change(phases, f, d, b, peak);
	}
	tare_phase_close_on(own, place);
}

void tare_phases_advance(struct tare_phases_part *phases, struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	struct tare_phases_device *own = &phases->devices[d->index];
	const struct tare_phase_boundary *queue = phases->queue;
	size_t until = phases->queue_base + phases->queue_nr, at = own->next, held = own->open_nr;

	for (; at < until; at++) {
		const struct tare_phase_boundary *b = &queue[at - phases->queue_base];

		if (b->t >= t && t != INT64_MAX)
			break;
		if (at == own->next)
			raise_peaks(phases, d);
		if (b->into < 0)
			begin(phases, f, d, b);
		else
			end(phases, f, d, b, &held);
	}
	if (at == own->next)
		return;
	own->next = at;
	hold(phases, d, held);
	tare_phase_forget_taken(phases, f);
}

void tare_phase_begin_peaks(struct tare_phases_device *own, const struct tare_device_fold *d)
{
	if (tare_phase_peaks_are_whole(own))
		return;
	own->peak_nr = 0;
	tare_phase_peaks_add(own, (struct tare_phase_peak){ .frame_nr = own->open_nr, .most = { now_of(d), d->live, 0 } });
}

/* The device's memory turns out to have been `shift` larger all along. */
void tare_phases_rebase(struct tare_phases_part *phases, const struct tare_device_fold *d, int64_t shift)
{
	const struct tare_phases_device *own = &phases->devices[d->index];

	for (size_t i = 0; i < own->open_nr; i++)
		phases->frames[own->open[i]].levels[d->index].accounts[TARE_ACCOUNT_OTHER] += shift;
}
