/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "contexts alike": contexts of one device take the same. When processes make theirs at the same time, what
 * another one took tells more than shares would.
 */
#include "ledger/settle/overlap.h"

enum { CONTEXT_MIN_BYTES = 32 << 20 };

static bool is_making(const struct tare_step *s)
{
	return s->class == TARE_CLASS_CONTEXT && s->effect == TARE_EFFECT_NEW &&
	       (s->flags & TARE_EVENT_WEIGHED) && !(s->flags & TARE_EVENT_FAILED);
}

/* One that is there, and was weighed alone. */
static int64_t weighed_before(const struct tare_fold *f, const struct tare_device_fold *d)
{
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];

		if (b->account == TARE_ACCOUNT_CONTEXT && b->now.bytes >= CONTEXT_MIN_BYTES &&
		    b->now.low == b->now.high && b->now.evidence == 1 + TARE_EVIDENCE_WEIGHED)
			return b->now.bytes;
	}
	return 0;
}

static bool is_making_one(const struct tare_overlap *o, const struct tare_point *from,
			  const struct tare_point *to)
{
	for (size_t i = 0; i < o->step_nr; i++)
		if (is_making(&o->steps[i]) && o->steps[i].weigh_begin < to->t &&
		    o->steps[i].weigh_end > from->t)
			return true;
	return false;
}

/* The change that is there most often while contexts are made; of several the smallest. */
static int64_t usual_change(const struct tare_overlap *o)
{
	size_t best_nr = 0;
	int64_t best = 0;

	for (size_t k = 1; k < o->point_nr; k++) {
		int64_t change = o->points[k].used - o->points[k - 1].used;
		size_t count = 0;

		if (change < CONTEXT_MIN_BYTES ||
		    !is_making_one(o, &o->points[k - 1], &o->points[k]))
			continue;
		for (size_t i = 1; i < o->point_nr; i++)
			count += o->points[i].used - o->points[i - 1].used == change;
		if (count > best_nr || (count == best_nr && change < best)) {
			best_nr = count;
			best = change;
		}
	}
	return best;
}

void tare_overlap_contexts(struct tare_overlap *o)
{
	size_t making = 0;

	for (size_t i = 0; i < o->step_nr; i++)
		making += is_making(&o->steps[i]);
	if (making < 2 && !(making && tare_fold_is_any_leaving(o->f, o->d, INT64_MAX)))
		return;
	o->context_bytes = weighed_before(o->f, o->d);
	if (!o->context_bytes)
		o->context_bytes = usual_change(o);
}

/* It was not there before: a primary context can be retained many times. */
static bool is_new(const struct tare_ops *ops)
{
	for (size_t i = 0; i < ops->count; i++)
		if (ops->items[i].by.count > 0)
			return true;
	return false;
}

/* The call, which is in f->ops, made a context: what that takes, if it can be placed. */
void tare_overlap_context(struct tare_overlap *o, const struct tare_step *s, struct tare_member *m)
{
	struct tare_applied *a = &m->applied;

	if (!o->context_bytes || !is_making(s) || !is_new(&o->f->ops))
		return;
	tare_fold_op_bytes(o->f, a->bucket, o->context_bytes, 0, TARE_EVIDENCE_INFERRED);
	a->known += o->context_bytes;
	a->takes_rest = false;
	m->is_context = true;
}

/* How far a change is from what the other calls that were under way can have made of the device. */
static int64_t misfit(const struct tare_stretch *s, int64_t change)
{
	return change < s->lowest    ? s->lowest - change
	       : change > s->highest ? change - s->highest
				     : 0;
}

/* Did the device grow by contexts? If processes end meanwhile, it may be by less. */
static bool has_context(const struct tare_overlap *o, size_t k)
{
	const struct tare_stretch *s = &o->stretches[k];
	int64_t count = (s->rest + o->context_bytes / 2) / o->context_bytes;

	if (count > 0 && misfit(s, s->rest - count * o->context_bytes) <= TARE_COUNTER_STEP)
		return true;
	return misfit(s, s->rest - o->context_bytes) < misfit(s, s->rest) &&
	       tare_fold_is_any_leaving(o->f, o->d, tare_point_until(&o->points[k]));
}

/* Of those that are under way and have no stretch yet, the one that ends first. */
static struct tare_member *next_to_end(const struct tare_overlap *o, size_t k)
{
	struct tare_member *best = NULL;

	for (size_t i = 0; i < o->step_nr; i++) {
		struct tare_member *m = &o->members[i];

		if (m->is_context && !m->is_given && m->from <= k && k < m->to &&
		    (!best || m->to < best->to))
			best = m;
	}
	return best;
}

static void put(struct tare_overlap *o, struct tare_member *m, size_t k)
{
	struct tare_stretch *s = &o->stretches[k];

	m->at = k;
	m->is_given = m->is_sure = true;
	s->rest -= m->applied.known;
	s->known += m->applied.known;
}

/* Nothing there looks like a context: it took what was measured. */
static void forget(struct tare_overlap *o, struct tare_member *m)
{
	for (size_t i = m->op_first; i < m->op_first + m->op_nr; i++)
		if (o->ops.items[i].by.bytes == m->applied.known &&
		    o->ops.items[i].bucket == m->applied.bucket)
			o->ops.items[i].by.bytes = o->ops.items[i].by.low =
				o->ops.items[i].by.high = 0;
	m->applied.known = 0;
	m->applied.takes_rest = true;
	m->is_context = m->is_floating = false;
}

/* Gives every context a stretch in which the device grew by as much. */
void tare_overlap_place_contexts(struct tare_overlap *o)
{
	bool is_any = false;

	for (size_t i = 0; i < o->step_nr && !is_any; i++)
		is_any = o->members[i].is_context;
	if (!is_any)
		return;
	for (size_t k = 0; k < o->point_nr; k++) {
		struct tare_member *m;

		while ((m = next_to_end(o, k)) && has_context(o, k))
			put(o, m, k);
	}
	for (size_t i = 0; i < o->step_nr; i++) {
		struct tare_member *m = &o->members[i];

		if (!m->is_context || m->is_given)
			continue;
		if (tare_fold_is_any_leaving(o->f, o->d, tare_point_until(&o->points[m->to - 1])))
			m->is_floating = m->is_given = m->is_sure = true;
		else
			forget(o, m);
	}
}

/* A context and an end of processes in one stretch show as their difference: so what is left there tells. */
void tare_overlap_settle_floating(struct tare_overlap *o, size_t k, size_t member)
{
	struct tare_member *m = &o->members[member];
	struct tare_stretch *s = &o->stretches[k];
	int64_t until = tare_point_until(&o->points[k]);
	bool is_last = k + 1 == m->to;
	bool is_here =
		(is_last || (s->rest < 0 && !tare_fold_is_end(o->f, o->d, until, -s->rest))) &&
		tare_fold_is_end(o->f, o->d, until, m->applied.known - s->rest);

	if (!is_here && !is_last)
		return;
	if (!is_here)
		forget(o, m);
	m->is_floating = false;
	s->rest -= m->applied.known;
	s->known += m->applied.known;
	s->has_leaver |= is_here;
	tare_fold_book_ops(o->f, o->ops.items + m->op_first, m->op_nr);
	if (!is_here && s->rest) {
		tare_fold_weigh(o->f, &o->steps[member], &m->applied, s->rest, s->rest, s->rest);
		s->rest = 0;
	}
}
