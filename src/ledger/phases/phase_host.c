/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was in tensors on the CPU where a phase begins and ends, and the most in between; of all processes, as
 * peak:host. The CPU takes boundaries from the same queue as devices do: when a block after them is about to come or
 * go, or at once where no block waits.
 */
#include "ledger/phases/phases.h"

#include "base/array.h"

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

static void begin(struct tare_phases_part *phases, const struct tare_phase_boundary *b, int64_t now)
{
	struct tare_phases_device *own = &phases->host;

	phases->frames[b->frame].host = (struct tare_phase_host_level){
		.is_open = true, .before = now, .peak = now, .peak_ns = b->t
	};
	tare_phase_open_on(own, b->frame);
}

static void add_change(int64_t *sum, int64_t *min, int64_t *max, int64_t by, bool is_first)
{
	*sum += by;
	*min = is_first || *min > by ? by : *min;
	*max = is_first || *max < by ? by : *max;
}

static void add_up(struct tare_phase_total *total, const struct tare_phase_host_level *l,
		   int64_t now)
{
	bool is_first = !total->seen++;
	int64_t change = now - l->before;

	if (is_first)
		total->before = l->before;
	total->after = now;
	add_change(&total->change, &total->change_min, &total->change_max, change, is_first);
	add_change(&total->own, &total->own_min, &total->own_max, change - l->nested, is_first);
	if (is_first || total->peak.used < l->peak)
		total->peak = (struct tare_high_water){ l->peak, l->peak, l->peak_ns };
}

/* Only what is kept of a span asks for it. */
static void tell_end(struct tare_phases_part *phases, struct tare_fold *f,
		     const struct tare_phase_frame *x, int64_t t, int64_t now)
{
	struct tare_phase_change *c;

	if (x->known < 0 || !f->keeps_history)
		return;
	c = tare_phase_change(phases, f, x->known, x->tid, TARE_PHASE_ON_CPU, x->begin_ns, t, true);
	c->nth = x->nth;
	c->use = (struct tare_phase_use){ x->host.before, x->host.peak, x->host.peak_ns, now };
}

static void end(struct tare_phases_part *phases, struct tare_fold *f,
		const struct tare_phase_boundary *b, int64_t now)
{
	struct tare_phase_frame *x = &phases->frames[b->frame];
	struct tare_phase_host_level *l = &x->host;

	/* The first mark looks back to the start. */
	if (!l->is_open && l->from_start)
		*l = (struct tare_phase_host_level){ .is_open = true,
						     .peak = f->host.most,
						     .peak_ns =
							     f->host.moment_ns[TARE_MOMENT_HOST] };
	tare_phase_close_on(&phases->host, b->frame);
	if (l->is_open) {
		tell_end(phases, f, x, b->t, now);
		add_up(&phases->known[b->into].host, l, now);
		if (x->parent >= 0 && phases->frames[x->parent].is_used &&
		    phases->frames[x->parent].serial == x->parent_serial)
			phases->frames[x->parent].host.nested += now - l->before;
		for (int i = 0; x->is_watched && i < f->watch_nr; i++)
			if (f->watches[i].serial == x->serial)
				f->watches[i].host_peak_ns = l->peak_ns;
	}
	if (--x->devices_left == 0)
		tare_phase_free_frame(phases, b->frame);
}

/* Takes the boundaries before t. */
static void advance(struct tare_phases_part *phases, struct tare_fold *f, int64_t t)
{
	struct tare_phases_device *own = &phases->host;

	if (phases->host_most < f->host.live) {
		phases->host_most = f->host.live;
		phases->host_most_ns = phases->host_since_ns;
	}
	while (own->next < phases->queue_base + phases->queue_nr) {
		struct tare_phase_boundary b = phases->queue[own->next - phases->queue_base];

		if (b.t >= t && t != INT64_MAX)
			return;
		raise_peaks(phases);
		if (b.into < 0)
			begin(phases, &b, f->host.live);
		else
			end(phases, f, &b, f->host.live);
		phases->host_most = f->host.live;
		phases->host_most_ns = b.t;
		own->next++;
	}
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
