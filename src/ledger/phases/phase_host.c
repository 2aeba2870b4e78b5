/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was in tensors on the CPU where a phase begins and ends, and the most in between; of all processes, as
 * peak:host. The CPU takes boundaries from the same queue as devices do: when a block after them is about to come or
 * go, or at once where no block waits.
 */
#include "ledger/phases/phase_queue.h"

#include <string.h>

/*
 * Since the last boundary the CPU was at most there, so this holds for all that are open. Who began earlier has seen at least what
 * the later ones have, so the first that needs nothing ends it.
 */
static void raise_peaks(struct tare_phases_part *phases)
{
	const struct tare_phases_device *own = &phases->host;

	for (size_t i = own->open_nr; i-- > 0;) {
		struct tare_phase_host_level *l = &phases->frames[own->open[i]].host;

		if (l->peak >= phases->host_most)
			return;
		l->peak = phases->host_most;
		l->peak_ns = phases->host_most_ns;
	}
}

/* What is still open when something is about to change has seen nothing yet but what is there. */
static void hold(struct tare_phases_part *phases, const int *frames, size_t nr, int64_t now)
{
	for (size_t i = 0; i < nr; i++) {
		struct tare_phase_frame *x = &phases->frames[frames[i]];

		x->host = (struct tare_phase_host_level){ .is_open = true, .before = now, .peak = now, .peak_ns = x->begin_ns };
	}
}

static void add_up(struct tare_phase_total *total, const struct tare_phase_host_level *l, int64_t now)
{
	if (!total->seen || total->peak.used < l->peak)
		total->peak = (struct tare_high_water){ l->peak, l->peak, l->peak_ns };
	tare_phase_add_up(total, l->before, now, l->nested);
}

/* Only what is kept of a span asks for it. */
static void tell_end(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_phase_frame *x,
                     const struct tare_phase_host_level *l, int64_t t, int64_t now)
{
	struct tare_phase_change *c;

	if (x->known < 0 || !f->keeps_history)
		return;
	c = tare_phase_change(phases, f, x->known, x->tid, TARE_PHASE_ON_CPU, x->begin_ns, t, true);
	c->nth = x->nth;
	c->use = (struct tare_phase_use){ l->before, l->peak, l->peak_ns, now };
}

static void tell_watch(struct tare_fold *f, const struct tare_phase_frame *x, int64_t peak_ns)
{
	for (int i = 0; x->is_watched && i < f->watch_nr; i++)
		if (f->watches[i].serial == x->serial)
			f->watches[i].host_peak_ns = peak_ns;
}

/* Nothing has changed since it began. */
static void end_of_calm(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_phase_boundary *b,
                        int64_t now)
{
	const struct tare_phase_frame *x = &phases->frames[b->frame];
	const struct tare_phase_host_level l = { .before = now, .peak = now, .peak_ns = x->begin_ns };

	tell_end(phases, f, x, &l, b->t, now);
	add_up(&phases->known[b->into].host, &l, now);
	tell_watch(f, x, l.peak_ns);
}

/* The first mark looks back to the start. */
static struct tare_phase_host_level look_back(const struct tare_fold *f)
{
	return (struct tare_phase_host_level){
		.is_open = true,
		.peak = f->host.most,
		.peak_ns = f->host.moment_ns[TARE_MOMENT_HOST],
	};
}

static void end_of_change(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_phase_boundary *b,
                          int64_t now)
{
	struct tare_phase_frame *x = &phases->frames[b->frame];
	struct tare_phase_host_level *l = &x->host;

	if (!l->is_open && l->from_start)
		*l = look_back(f);
	if (!l->is_open)
		return;
	tell_end(phases, f, x, l, b->t, now);
	add_up(&phases->known[b->into].host, l, now);
	if (x->parent >= 0 && phases->frames[x->parent].is_used && phases->frames[x->parent].serial == x->parent_serial)
		phases->frames[x->parent].host.nested += now - l->before;
	tell_watch(f, x, l->peak_ns);
}

/* Of those that are open `held` were open when something changed last. */
static void end(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_phase_boundary *b, int64_t now,
                size_t *held)
{
	size_t place = tare_phase_place_on(&phases->host, b->frame);

	if (place < *held || place == phases->host.open_nr)
		end_of_change(phases, f, b, now);
	else
		end_of_calm(phases, f, b, now);
	*held -= place < *held;
	tare_phase_close_on(&phases->host, place);
}

/* Takes the boundaries before t. */
static void advance(struct tare_phases_part *phases, struct tare_fold *f, int64_t t)
{
	struct tare_phases_device *own = &phases->host;
	size_t until = phases->queue_base + phases->queue_nr, at = own->next, held = own->open_nr;
	int64_t now = f->host.live;

	if (phases->host_most < now) {
		phases->host_most = now;
		phases->host_most_ns = phases->host_since_ns;
	}
	for (; at < until; at++) {
		const struct tare_phase_boundary *b = &phases->queue[at - phases->queue_base];

		if (b->t >= t && t != INT64_MAX)
			break;
		if (at == own->next)
			raise_peaks(phases);
		if (b->into < 0)
			tare_phase_open_on(own, b->frame);
		else
			end(phases, f, b, now, &held);
		phases->host_most = now;
		phases->host_most_ns = b->t;
	}
	own->next = at;
	hold(phases, own->open + held, own->open_nr - held, now);
}

void tare_phases_host(struct tare_phases_part *phases, struct tare_fold *f, int64_t t)
{
	advance(phases, f, t);
	if (t != INT64_MAX)
		phases->host_since_ns = t;
}

void tare_phases_host_catch_up(struct tare_phases_part *phases, struct tare_fold *f)
{
	if (f->host.queue_at == f->host.queue_nr)
		advance(phases, f, INT64_MAX);
}
