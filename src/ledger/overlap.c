/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster of calls that overlap. All readings of its members, in order of time, cut it into
 * stretches. In each stretch the device changed by a known amount and a known set of calls was under
 * way:
 *
 *   - a call whose change is known (exact, computed) has it in a stretch in which it was under way;
 *   - what is left of a stretch belongs to the unknown call that was under way;
 *   - if there were several, each gets a share and its row says between which bounds it lies;
 *   - if there was none, it is unexplained.
 */
#include "ledger/fold.h"

#include "base/xalloc.h"

#include <stdlib.h>

#define NOBODY SIZE_MAX

struct point {
	int64_t t, used, level; /* level: in use by others, -1: not told */
	size_t step;
	bool is_after;
};

/* Stretch k ends at point k; stretch 0 is the quiet time before the cluster. */
struct stretch {
	int64_t rest; /* change not yet given to anybody */
	int64_t known; /* given to known calls */
	size_t unknowns, syncs; /* under way */
	size_t first, last; /* known calls placed here, through member.next */
};

struct member {
	struct tare_applied applied;
	size_t op_first, op_nr;
	size_t from, to; /* stretches in which it was under way; from == to: behind all readings */
	bool may_be_later; /* it ended after the last reading */
	size_t next;
};

struct overlap {
	struct tare_fold *f;
	struct tare_device_fold *d;
	struct tare_step *steps;
	struct member *members;
	size_t *order; /* members by stamp */
	size_t step_nr;
	struct point *points;
	size_t point_nr;
	struct stretch *stretches; /* point_nr, and one more for what came after the last point */
	struct tare_ops ops;
	size_t unknown_nr, unknown; /* calls that are not waits: how many, and one of them */
};

struct stamped {
	int64_t t;
	size_t step;
};

static int by_stamp(const void *a, const void *b)
{
	const struct stamped *p = a, *q = b;

	if (p->t != q->t)
		return p->t < q->t ? -1 : 1;
	return p->step < q->step ? -1 : p->step > q->step;
}

/* At the same time, a call that ends is before one that begins. */
static int by_time(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->t != q->t)
		return p->t < q->t ? -1 : 1;
	if (p->is_after != q->is_after)
		return p->is_after ? -1 : 1;
	return p->step < q->step ? -1 : p->step > q->step;
}

static bool is_weighed(const struct tare_step *s)
{
	return s->flags & TARE_EVENT_WEIGHED;
}

static bool is_of_one_process(const struct overlap *o)
{
	for (size_t i = 1; i < o->step_nr; i++)
		if (o->steps[i].process != o->steps[0].process)
			return false;
	return true;
}

static void make_points(struct overlap *o)
{
	int64_t now = o->d->used;

	bool is_alone = is_of_one_process(o);

	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_step *s = &o->steps[i];
		bool is_told = is_alone && tare_fold_peer_is_told(o->f, o->d, s);

		if (!is_weighed(s))
			continue;
		o->points[o->point_nr++] = (struct point){
			s->weigh_begin, 0, is_told ? (int64_t)s->peers_before : -1, i, false
		};
		o->points[o->point_nr++] = (struct point){
			s->weigh_end, 0, is_told ? (int64_t)s->peers_after : -1, i, true
		};
	}
	qsort(o->points, o->point_nr, sizeof(*o->points), by_time);
	for (size_t k = 0; k < o->point_nr; k++) {
		struct point *p = &o->points[k];
		const struct tare_step *s = &o->steps[p->step];

		p->used = tare_fold_normal(o->f, o->d, p->is_after ? s->after : s->before,
					   tare_fold_step_source(o->d, s), k ? now : o->d->used);
		now = p->used;
	}
}

static void sort_by_stamp(struct overlap *o)
{
	struct stamped *list = tare_xcalloc(o->step_nr, sizeof(*list));

	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_step *s = &o->steps[i];

		list[i] = (struct stamped){ s->effect == TARE_EFFECT_DEL ? s->begin : s->end, i };
	}
	qsort(list, o->step_nr, sizeof(*list), by_stamp);
	for (size_t i = 0; i < o->step_nr; i++)
		o->order[i] = list[i].step;
	free(list);
}

/* The end of a context clears buckets, so what came before it must stand in them already. */
static bool has_context_end(const struct overlap *o)
{
	for (size_t i = 0; i < o->step_nr; i++)
		if (o->steps[i].class == TARE_CLASS_CONTEXT &&
		    o->steps[i].effect != TARE_EFFECT_NEW)
			return true;
	return false;
}

/* Known changes, in the order in which they were stamped: an address is freed before it is reused. */
static void apply_all(struct overlap *o)
{
	struct tare_fold *f = o->f;
	bool is_immediate = has_context_end(o);

	sort_by_stamp(o);
	for (size_t i = 0; i < o->step_nr; i++) {
		struct tare_step *s = &o->steps[o->order[i]];
		struct member *m = &o->members[o->order[i]];

		tare_fold_apply(f, s, &m->applied);
		m->op_first = o->ops.count;
		if (is_immediate)
			tare_fold_book_ops(f, f->ops.items, f->ops.count);
		else
			for (size_t k = 0; k < f->ops.count; k++)
				tare_fold_op(&o->ops, f->ops.items[k].bucket, &f->ops.items[k].by);
		m->op_nr = o->ops.count - m->op_first;
		if (m->applied.takes_rest && !tare_step_is_sync(s)) {
			o->unknown_nr++;
			o->unknown = o->order[i];
		}
	}
}

/* Which stretches an unweighed call touches: it has no readings of its own. */
static void place_unweighed(const struct overlap *o, const struct tare_step *s, struct member *m)
{
	m->from = 0;
	while (m->from < o->point_nr && o->points[m->from].t <= s->begin)
		m->from++;
	m->to = m->from;
	while (m->to < o->point_nr && (m->to == m->from || o->points[m->to - 1].t < s->end))
		m->to++;
	m->may_be_later = !o->point_nr || o->points[o->point_nr - 1].t < s->end;
}

static void make_stretches(struct overlap *o)
{
	int64_t used = o->d->used, level = o->d->is_level_known ? o->d->level : -1;

	for (size_t k = 0; k <= o->point_nr; k++)
		o->stretches[k] = (struct stretch){ .first = NOBODY, .last = NOBODY };
	for (size_t k = 0; k < o->point_nr; k++) {
		const struct point *p = &o->points[k];
		struct member *m = &o->members[p->step];

		*(p->is_after ? &m->to : &m->from) = k + 1;
		o->stretches[k].rest = p->used - used;
		used = p->used;
		if (p->level >= 0) {
			o->stretches[k].rest -= level >= 0 ? p->level - level : 0;
			level = p->level;
		}
	}
	for (size_t i = 0; i < o->step_nr; i++) {
		struct member *m = &o->members[i];

		if (!is_weighed(&o->steps[i])) {
			place_unweighed(o, &o->steps[i], m);
			continue;
		}
		if (!m->applied.takes_rest)
			continue;
		for (size_t k = m->from; k < m->to; k++)
			(*(tare_step_is_sync(&o->steps[i]) ? &o->stretches[k].syncs :
							     &o->stretches[k].unknowns))++;
	}
}

static int64_t fit(const struct stretch *s, int64_t want)
{
	if ((s->rest > 0) != (want > 0))
		return 0;
	return llabs(s->rest) < llabs(want) ? s->rest : want;
}

static void give(struct stretch *s, int64_t bytes, int64_t *left)
{
	s->rest -= bytes;
	s->known += bytes;
	*left -= bytes;
}

/*
 * Finds the stretch in which a known change happened: one where it fits exactly, at best one in which
 * only known calls were under way; else it fills what only known calls can have done, and the rest
 * goes where most of it fits. Returns the stretch to book it in.
 */
static size_t place_known(struct overlap *o, struct member *m)
{
	int64_t left = m->applied.known;
	size_t best = m->to > m->from ? m->to - 1 : o->point_nr;

	for (int pass = 0; left && pass < 2; pass++) {
		for (size_t k = m->from; k < m->to; k++) {
			struct stretch *s = &o->stretches[k];

			if ((s->unknowns > 0) == pass && s->rest == left) {
				give(s, left, &left);
				return k;
			}
		}
	}
	for (size_t k = m->from; left && k < m->to; k++) {
		struct stretch *s = &o->stretches[k];
		int64_t part = s->unknowns ? 0 : fit(s, left);

		if (part) {
			give(s, part, &left);
			best = k;
		}
	}
	if (!left)
		return best;
	for (size_t k = m->from; k < m->to; k++)
		if (llabs(fit(&o->stretches[k], left)) > llabs(fit(&o->stretches[best], left)))
			best = k;
	if (m->may_be_later && (m->from == m->to || !fit(&o->stretches[best], left)))
		best = o->point_nr;
	give(&o->stretches[best], left, &left);
	return best;
}

static void place_all(struct overlap *o)
{
	for (size_t i = 0; i < o->step_nr; i++) {
		struct member *m = &o->members[o->order[i]];
		struct stretch *s = &o->stretches[place_known(o, m)];

		m->next = NOBODY;
		if (s->last == NOBODY)
			s->first = o->order[i];
		else
			o->members[s->last].next = o->order[i];
		s->last = o->order[i];
	}
}

/* One unknown call: it gets all that the known ones leave, wherever in the cluster it showed. */
static void collect(struct overlap *o)
{
	struct member *m = &o->members[o->unknown];

	for (size_t k = 1; k < o->point_nr; k++) {
		struct stretch *s = &o->stretches[k];

		if (s->unknowns || s->syncs)
			continue;
		o->stretches[m->to - 1].rest += s->rest;
		s->rest = 0;
	}
}

/* The part of its own length that a call spends in this stretch: a short call in a long one counts. */
static double weight(const struct overlap *o, const struct member *m, size_t k)
{
	double length = (double)(o->points[m->to - 1].t - o->points[m->from - 1].t);
	double inside = (double)(o->points[k].t - o->points[k - 1].t);

	return length > 0 ? inside / length + 1e-9 : 1;
}

/* A wait gets nothing while another unknown call is under way. */
static bool has_share(const struct overlap *o, size_t k, size_t step)
{
	return o->members[step].applied.takes_rest &&
	       !(o->stretches[k].unknowns && tare_step_is_sync(&o->steps[step]));
}

static void share(struct overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	const struct stretch *s = &o->stretches[k];
	size_t sharers = s->unknowns ? s->unknowns : s->syncs;
	int64_t left = s->rest, low = left, high = left;
	double sum = 0;

	if (sharers > 1) {
		low = s->rest < 0 ? s->rest : 0;
		high = s->rest > 0 ? s->rest : 0;
	}
	for (size_t i = 0; i < active_nr; i++)
		if (has_share(o, k, active[i]))
			sum += weight(o, &o->members[active[i]], k);
	for (size_t i = 0; i < active_nr && s->rest; i++) {
		struct member *m = &o->members[active[i]];
		int64_t part = left;

		if (!has_share(o, k, active[i]))
			continue;
		if (--sharers)
			part = (int64_t)((double)s->rest * weight(o, m, k) / sum);
		left -= part;
		tare_fold_weigh(o->f, &o->steps[active[i]], &m->applied, part, low, high);
	}
}

static void book_known(struct overlap *o, size_t k)
{
	for (size_t i = o->stretches[k].first; i != NOBODY; i = o->members[i].next)
		tare_fold_book_ops(o->f, o->ops.items + o->members[i].op_first,
				   o->members[i].op_nr);
}

static void settle_stretch(struct overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	const struct stretch *s = &o->stretches[k];
	const struct point *p = &o->points[k];
	struct tare_device_fold *d = o->d;
	int64_t peers = 0;

	tare_fold_advance(o->f, d, p->t);
	book_known(o, k);
	if (p->level >= 0)
		peers = tare_fold_peer_level(o->f, d, (uint64_t)p->level);
	if (!k) {
		tare_fold_quiet(o->f, d, p->t, p->used - d->used, s->known + peers);
	} else {
		if (s->unknowns || s->syncs)
			share(o, k, active, active_nr);
		else
			d->inside_sum += llabs(s->rest);
		d->used = p->used;
	}
	tare_fold_peak(o->f, d, p->t);
}

static void walk(struct overlap *o)
{
	size_t *active = tare_xcalloc(o->step_nr, sizeof(*active)), active_nr = 0;

	for (size_t k = 0; k < o->point_nr; k++) {
		const struct point *p = &o->points[k];

		settle_stretch(o, k, active, active_nr);
		if (!p->is_after)
			active[active_nr++] = p->step;
		for (size_t i = 0; p->is_after && i < active_nr; i++)
			if (active[i] == p->step)
				active[i] = active[--active_nr];
	}
	free(active);
}

void tare_fold_overlap(struct tare_fold *f, struct tare_device_fold *d)
{
	size_t n = d->cluster.count;
	struct overlap o = { .f = f, .d = d, .steps = d->cluster.items, .step_nr = n };
	int64_t end = d->cluster_until - f->weigh;

	o.members = tare_xcalloc(n, sizeof(*o.members));
	o.order = tare_xcalloc(n, sizeof(*o.order));
	o.points = tare_xcalloc(2 * n, sizeof(*o.points));
	make_points(&o);
	apply_all(&o);
	o.stretches = tare_xcalloc(o.point_nr + 1, sizeof(*o.stretches));
	make_stretches(&o);
	place_all(&o);
	if (o.unknown_nr == 1)
		collect(&o);
	walk(&o);

	/* Computed changes after the last reading. */
	tare_fold_advance(f, d, end);
	book_known(&o, o.point_nr);
	d->used += o.stretches[o.point_nr].known;
	d->last_ns = end;
	tare_fold_peak(f, d, end);
	free(o.members);
	free(o.order);
	free(o.points);
	free(o.stretches);
	free(o.ops.items);
}
