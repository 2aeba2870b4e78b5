/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "contexts alike": contexts of one device take the same. When processes make theirs at the same time, what
 * another one took tells more than shares would.
 */
#include "ledger/settle/overlap.h"

enum { CONTEXT_MIN_BYTES = 32 << 20 };

static bool is_making(const struct tare_step *s)
{
	return s->class == TARE_CLASS_CONTEXT && s->effect == TARE_EFFECT_NEW && (s->flags & TARE_EVENT_WEIGHED) &&
	       !(s->flags & TARE_EVENT_FAILED);
}

/* The size of a context that exists and was weighed alone; 0: there is none. */
static int64_t weighed_before(const struct tare_fold *f, const struct tare_device_fold *d)
{
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];

		if (b->account == TARE_ACCOUNT_CONTEXT && b->now.bytes >= CONTEXT_MIN_BYTES && b->now.low == b->now.high &&
		    b->now.evidence == 1 + TARE_EVIDENCE_WEIGHED)
			return b->now.bytes;
	}
	return 0;
}

static bool is_making_one(const struct tare_overlap *o, const struct tare_point *from, const struct tare_point *to)
{
	for (size_t i = 0; i < o->step_nr; i++)
		if (is_making(&o->steps[i]) && o->steps[i].weigh_begin < to->t && o->steps[i].weigh_end > from->t)
			return true;
	return false;
}

/*
 * The change that comes most often while contexts are made; of several, the smallest. Of one context it is its whole size only where no
 * other such call was under way: the readings of that call cut the context's growth in two.
 */
static int64_t usual_change(const struct tare_overlap *o)
{
	size_t best_nr = 0;
	int64_t best = 0;

	for (size_t k = 1; k < o->point_nr; k++) {
		int64_t change = o->points[k].used - o->points[k - 1].used;
		size_t count = 0;

		if (change < CONTEXT_MIN_BYTES || !is_making_one(o, &o->points[k - 1], &o->points[k]))
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

/*
 * Is the size of the call's change known from readings only? Such a call would share what was measured with a
 * context that is made meanwhile.
 */
static bool is_weighed_only(const struct tare_step *s)
{
	return (s->flags & TARE_EVENT_WEIGHED) && !is_making(s) && !tare_step_is_sync(s) &&
	       tare_classes[s->class].sizing == TARE_SIZING_WEIGHED;
}

void tare_overlap_contexts(struct tare_overlap *o)
{
	size_t making = 0, others = 0;

	for (size_t i = 0; i < o->step_nr; i++) {
		making += is_making(&o->steps[i]);
		others += is_weighed_only(&o->steps[i]);
	}
	if (!making)
		return;
	if (making > 1 || others || tare_fold_is_any_leaving(o->f, o->d, INT64_MAX))
		o->context_bytes = weighed_before(o->f, o->d);
	if (!o->context_bytes && (making > 1 || (!others && tare_fold_is_any_leaving(o->f, o->d, INT64_MAX))))
		o->context_bytes = usual_change(o);
}

/* Did the call make a new context? A primary context can be retained many times. */
static bool is_new(const struct tare_ops *ops)
{
	for (size_t i = 0; i < ops->count; i++)
		if (ops->items[i].by.count > 0)
			return true;
	return false;
}

/*
 * The call, whose ops are in f->ops, made a context: gives it the size of a context, if its stretch can be
 * found.
 */
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

/* Counts a member as unknown that was taken for known before. */
static void count_unknown(struct tare_overlap *o, size_t i)
{
	for (size_t k = o->members[i].from; k < o->members[i].to; k++)
		o->stretches[k].unknowns++;
	o->unknown_nr++;
	o->unknown = i;
}

/* The context is not of the usual size: it takes what is measured. */
static void forget(struct tare_overlap *o, struct tare_member *m)
{
	for (size_t i = m->op_first; i < m->op_first + m->op_nr; i++)
		if (o->ops.items[i].by.bytes == m->applied.known && o->ops.items[i].bucket == m->applied.bucket)
			o->ops.items[i].by.bytes = o->ops.items[i].by.low = o->ops.items[i].by.high = 0;
	o->stretches[m->at].rest += m->applied.known;
	o->stretches[m->at].known -= m->applied.known;
	m->applied.known = 0;
	m->applied.takes_rest = true;
	m->is_context = false;
	count_unknown(o, m - o->members);
}

/* How far a change is from what the known calls that were under way can have made of the device. */
static int64_t misfit(const struct tare_stretch *s, int64_t change)
{
	return change < s->lowest ? s->lowest - change : change > s->highest ? change - s->highest : 0;
}

static int64_t contexts_in(const struct tare_overlap *o, size_t k)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < o->step_nr; i++)
		if (o->members[i].is_context && o->members[i].at == k)
			bytes += o->members[i].applied.known;
	return bytes;
}

/* A context is never more than the device grew by, and no less where nobody else can have had the rest. */
static bool is_other(const struct tare_overlap *o, const struct tare_member *m)
{
	const struct tare_stretch *s = &o->stretches[m->at];
	int64_t others = s->rest + s->known - contexts_in(o, m->at);

	if (misfit(s, others) <= TARE_COUNTER_STEP)
		return false;
	return others < s->lowest ? !s->has_leaver : !s->unknowns;
}

void tare_overlap_forget_contexts(struct tare_overlap *o)
{
	for (size_t i = 0; i < o->step_nr; i++)
		if (o->members[i].is_context && is_other(o, &o->members[i]))
			forget(o, &o->members[i]);
}
