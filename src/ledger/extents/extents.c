/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the least and the most that was in use of each device, and of tensors on the CPU, between two states and in
 * long phases.
 */
#include "ledger/extents/extents.h"

#include "base/array.h"

enum { ENDED_MOST = 8 };

static struct tare_extents_device *extent_of(struct tare_extents_part *p, int device)
{
	if (device >= p->device_nr) {
		p->devices = tare_xrealloc(p->devices, (size_t)device + 1, sizeof(*p->devices));
		while (p->device_nr <= device)
			p->devices[p->device_nr++] = (struct tare_extents_device){ 0 };
	}
	return &p->devices[device];
}

/* What is in use has been there up to t. What a device had first is what it is shown with at all moments before. */
static void hold(struct tare_extents_device *x, int64_t used, int64_t t)
{
	if (!x->is_known)
		*x = (struct tare_extents_device){ .is_known = true, .low = { used, 0 }, .high = { used, 0 } };
	if (used < x->low.used)
		x->low = (struct tare_extent_value){ used, x->since };
	if (used > x->high.used)
		x->high = (struct tare_extent_value){ used, x->since };
	if (x->from > t)
		x->from = t;
	x->since = t;
}

/* What a state has in use has been there since a moment before it. */
static void hold_begin(struct tare_extents_device *x, int64_t used, int64_t t)
{
	*x = (struct tare_extents_device){
		.is_known = true, .from = t, .since = t, .low = { used, t }, .high = { used, t }
	};
}

void tare_extents_begin(struct tare_extents_part *p, const struct tare_fold *f)
{
	if (!f->keeps_history)
		return;
	hold_begin(&p->cpu, f->host.live, f->last_ns);
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && f->devices[i]->is_measured)
			hold_begin(extent_of(p, i), f->devices[i]->used, f->last_ns);
}

void tare_extents_advance(struct tare_extents_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                          int64_t t)
{
	if (f->keeps_history && t != INT64_MAX)
		hold(extent_of(p, d->index), d->used, t);
}

void tare_extents_host(struct tare_extents_part *p, const struct tare_fold *f, int64_t t)
{
	if (f->keeps_history && t != INT64_MAX)
		hold(&p->cpu, f->host.live, t);
}

void tare_extents_used(struct tare_extents_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                       int64_t t)
{
	tare_extents_advance(p, f, d, t);
}

static void add_to(struct tare_phase_use *use, int64_t shift)
{
	use->before += shift;
	use->peak += shift;
	use->after += shift;
}

void tare_extents_rebase(struct tare_extents_part *p, const struct tare_device_fold *d, int64_t shift)
{
	struct tare_extents_device *b = extent_of(p, d->index);

	b->low.used += shift;
	b->high.used += shift;
	for (size_t i = 0; i < p->ended_nr; i++)
		if (p->ended[i].device == d->index)
			add_to(&p->ended[i].use, shift);
}

/* Of each device those that lasted longest: a free place, or that of the shortest, if it is shorter than this one. */
static struct tare_extents_ended *place_for(struct tare_extents_part *p, int device, int64_t ns)
{
	struct tare_extents_ended *shortest = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < p->ended_nr; i++) {
		struct tare_extents_ended *e = &p->ended[i];

		if (e->device != device)
			continue;
		nr++;
		if (!shortest || e->t - e->begin_ns < shortest->t - shortest->begin_ns)
			shortest = e;
	}
	if (nr == ENDED_MOST)
		return ns > shortest->t - shortest->begin_ns ? shortest : NULL;
	return &TARE_APPEND(p->ended, p->ended_nr, p->ended_cap);
}

void tare_extents_long_phase(struct tare_extents_part *p, const struct tare_fold *f, const struct tare_phase_change *c)
{
	const struct tare_device_fold *d = c->device >= 0 && c->device < f->device_nr ? f->devices[c->device] : NULL;
	bool is_of_cpu = c->device == TARE_PHASE_ON_CPU && c->use.peak > 0;
	struct tare_extents_ended *at;

	if (c->is_mark || (!d && !is_of_cpu))
		return;
	at = place_for(p, d ? c->device : -1, c->t - c->begin_ns);
	if (!at)
		return;
	*at = (struct tare_extents_ended){ d ? c->device : -1, c->name, c->nth, c->begin_ns, c->t, c->use };
	if (d)
		add_to(&at->use, d->used_start);
}

static void list_instant(const struct tare_extents_ended *e, const char *point, int64_t t, int64_t used,
                         struct tare_extent_list *out)
{
	TARE_FREED_BY(tare_str_free) struct tare_str what = { 0 };

	tare_str_addf(&what, TARE_EXTENT_PHASE, e->name, (unsigned long long)e->nth, point);
	tare_extent_add(out, &(struct tare_extent){ .device = e->device,
	                                            .from_ns = t,
	                                            .until_ns = t,
	                                            .low = { used, t },
	                                            .high = { used, t },
	                                            .what = what.data });
}

static void list_ended(const struct tare_extents_part *p, struct tare_extent_list *out)
{
	for (size_t i = 0; i < p->ended_nr; i++) {
		const struct tare_extents_ended *e = &p->ended[i];

		list_instant(e, "begin", e->begin_ns, e->use.before, out);
		list_instant(e, "peak", e->use.peak_ns, e->use.peak, out);
		list_instant(e, "end", e->t, e->use.after, out);
	}
}

/* What a state has in use was there from its moment on, also where its last call ended a little later. */
static void list_span(struct tare_extents_device *x, int device, int64_t used, int64_t from, int64_t until,
                      struct tare_extent_list *out)
{
	hold(x, used, until);
	if (from != INT64_MIN && x->from > from)
		x->from = from;
	tare_extent_add(out, &(struct tare_extent){
							 .device = device, .from_ns = x->from, .until_ns = until, .low = x->low, .high = x->high });
}

void tare_extents_list(struct tare_extents_part *p, const struct tare_fold *f, int64_t from, int64_t until,
                       struct tare_extent_list *out)
{
	for (int i = 0; i < f->device_nr; i++) {
		const struct tare_device_fold *d = f->devices[i];

		if (d && (!d->will_be_measured || d->is_measured))
			list_span(extent_of(p, i), i, d->used, from, until, out);
	}
	if (p->cpu.high.used > 0 || f->host.live > 0)
		list_span(&p->cpu, -1, f->host.live, from, until, out);
	list_ended(p, out);
}

const char *tare_extents_check(const struct tare_extents_part *p, const struct tare_fold *f)
{
	(void)f;
	for (int i = 0; i < p->device_nr; i++)
		if (p->devices[i].low.used > p->devices[i].high.used)
			return "the least that was in use is more than the most";
	return NULL;
}
