/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives every known change of a cluster the stretch it happened in. Where only one known call was
 * under way, the stretch tells. Elsewhere the best guess is taken, and unknown calls that the guess
 * may have wronged lie between bounds.
 */
#include "ledger/settle/overlap.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

static bool is_known_only(const struct tare_stretch *s)
{
	return !s->unknowns && !s->syncs;
}

static int64_t fit(const struct tare_stretch *s, int64_t want)
{
	if ((s->rest > 0) != (want > 0))
		return 0;
	return llabs(s->rest) < llabs(want) ? s->rest : want;
}

static void give(struct tare_stretch *s, int64_t bytes)
{
	s->rest -= bytes;
	s->known += bytes;
}

/*
 * Nothing of this call can have happened in the stretch: it is the only one there and the change is
 * another, or nothing happened at all and all calls there would have moved the device the same way.
 */
static bool is_closed(const struct tare_stretch *s, int64_t known)
{
	int64_t all = s->rest + s->known;

	if (!is_known_only(s) || s->has_leaver)
		return false;
	if (s->knowns == 1)
		return all != known;
	return !all && !(s->has_growth && s->has_fall);
}

/* The stretch in which the call was the only one and its change is what happened. */
static size_t find_sure(const struct tare_overlap *o, const struct tare_member *m)
{
	size_t open = o->point_nr, count = 0;

	for (size_t k = m->from; k < m->to; k++) {
		const struct tare_stretch *s = &o->stretches[k];

		if (is_known_only(s) && s->knowns == 1 && s->rest == m->applied.known)
			return k;
		if (!is_closed(s, m->applied.known)) {
			open = k;
			count++;
		}
	}
	return count + m->may_be_later == 1 ? open : TARE_NOBODY;
}

/* Where an exact fit is, else where most of it fits. For more calls at once than `trail` can follow. */
static size_t guess(const struct tare_overlap *o, const struct tare_member *m)
{
	size_t best = m->may_be_later ? o->point_nr : m->to - 1;

	for (size_t k = m->from; k < m->to; k++) {
		if (o->stretches[k].rest == m->applied.known)
			return k;
		if (llabs(fit(&o->stretches[k], m->applied.known)) >
		    llabs(fit(&o->stretches[best], m->applied.known)))
			best = k;
	}
	return best;
}

/*
 * The cheapest way to let every unsure call happen in one of its stretches, found by going through
 * them once: a state says which of the calls under way have happened already. A change that only
 * known calls can have made and that they do not add up to costs much, as it would be unexplained;
 * what is left to unknown calls costs little.
 */
enum { SLOTS = 6, STATES = 1 << SLOTS };

struct trail {
	uint32_t calls[SLOTS];      /* under way, and not sure */
	uint8_t under_way, leaving; /* masks of slots; leaving: for the last time here */
	uint8_t came_from[STATES];  /* state before, by state behind */
};

static double cost_of(const struct tare_stretch *s, int64_t change)
{
	double left = (double)llabs(s->rest - change);

	if (s->has_leaver) /* any change may be in there, but rather where it can be seen */
		return (double)llabs(change);
	return is_known_only(s) ? left * 1e6 : left;
}

static void step_trail(const struct tare_overlap *o, const struct tare_stretch *s, struct trail *t,
		       double *cost)
{
	int64_t sums[STATES] = { 0 };
	double next[STATES];

	for (unsigned mask = 1; mask < STATES; mask++) {
		unsigned slot = (unsigned)__builtin_ctz(mask);

		next[mask] = INFINITY;
		if (t->under_way >> slot & 1)
			sums[mask] =
				sums[mask & (mask - 1)] + o->members[t->calls[slot]].applied.known;
	}
	next[0] = INFINITY;
	for (unsigned state = 0; state < STATES; state++) {
		unsigned open = t->under_way & ~state, now = open;

		if (cost[state] == (double)INFINITY)
			continue;
		for (;; now = (now - 1) & open) {
			double sum = cost[state] + cost_of(s, sums[now]);

			if (sum < next[state | now]) {
				next[state | now] = sum;
				t->came_from[state | now] = (uint8_t)state;
			}
			if (!now)
				break;
		}
	}
	/* A call that leaves must have happened; its slot is free then. */
	for (unsigned state = 0; state < STATES; state++)
		cost[state] = (double)INFINITY;
	for (unsigned state = 0; state < STATES; state++)
		if ((state & t->leaving) == t->leaving)
			cost[state & ~t->leaving] = next[state];
}

static void follow_back(struct tare_overlap *o, const struct trail *trails, const double *cost)
{
	unsigned state = 0;

	for (unsigned i = 1; i < STATES; i++)
		if (cost[i] < cost[state])
			state = i;
	for (size_t k = o->point_nr; k-- > 0;) {
		const struct trail *t = &trails[k];
		unsigned behind = state | t->leaving, now;

		state = t->came_from[behind];
		now = behind & ~state;
		for (unsigned slot = 0; slot < SLOTS; slot++)
			if (now >> slot & 1)
				o->members[t->calls[slot]].at = k;
	}
}

struct unsure {
	size_t from, step;
};

/* `list`: unsure calls by `from`. */
static void follow(struct tare_overlap *o, const struct unsure *list, size_t count)
{
	struct trail *trails = tare_xcalloc(o->point_nr, sizeof(*trails)), now = { 0 };
	double cost[STATES];
	size_t next = 0;

	for (unsigned i = 0; i < STATES; i++)
		cost[i] = i ? (double)INFINITY : 0;
	for (size_t k = 0; k < o->point_nr; k++) {
		for (; next < count && list[next].from <= k; next++) {
			struct tare_member *m = &o->members[list[next].step];
			unsigned slot = (unsigned)__builtin_ctz(~(unsigned)now.under_way);

			if (slot >= SLOTS) {
				m->at = guess(o, m);
				m->is_given = true;
				give(&o->stretches[m->at], m->applied.known);
				continue;
			}
			now.calls[slot] = (uint32_t)list[next].step;
			now.under_way |= (uint8_t)(1u << slot);
		}
		now.leaving = 0;
		for (unsigned slot = 0; slot < SLOTS; slot++) {
			const struct tare_member *m = &o->members[now.calls[slot]];

			if ((now.under_way >> slot & 1) && m->to == k + 1 && !m->may_be_later)
				now.leaving |= (uint8_t)(1u << slot);
		}
		trails[k] = now;
		step_trail(o, &o->stretches[k], &trails[k], cost);
		now.under_way &= (uint8_t)~now.leaving;
	}
	follow_back(o, trails, cost);
	free(trails);
}

/* Adds it to the calls of its stretch, in the order of stamps. */
static void settle_member(struct tare_overlap *o, size_t i)
{
	struct tare_member *m = &o->members[i];
	struct tare_stretch *s = &o->stretches[m->at];

	if (m->is_floating)
		return;
	if (!m->is_given)
		give(s, m->applied.known);
	m->next = TARE_NOBODY;
	if (s->last == TARE_NOBODY)
		s->first = i;
	else
		o->members[s->last].next = i;
	s->last = i;
}

/* Places those of which there is no doubt. */
static void place_sure(struct tare_overlap *o, struct tare_member *m)
{
	size_t sure;

	if (m->is_given)
		return;
	sure = m->applied.known ? find_sure(o, m) : TARE_NOBODY;

	m->at = m->to > m->from && !m->may_be_later ? m->to - 1 : o->point_nr;
	m->is_sure = !m->applied.known || sure != TARE_NOBODY;
	if (sure == TARE_NOBODY)
		return;
	m->at = sure;
	m->is_given = true;
	give(&o->stretches[sure], m->applied.known);
}

static int by_from(const void *a, const void *b)
{
	const struct unsure *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

/*
 * If the known call may have acted inside the unknown one as well as elsewhere, or while the unknown
 * one shared the device with another unknown, then the unknown one may be wrong by that much.
 */
static void doubt(const struct tare_overlap *o, const struct tare_member *known,
		  struct tare_member *m)
{
	size_t from = m->from, to = m->to, open = 0, own = 0;

	if (o->unknown_nr == 1) { /* it gets all that shows in the cluster, wherever */
		from = 1;
		to = o->point_nr - (o->points[o->point_nr - 1].step == TARE_NOBODY);
	}
	for (size_t k = known->from; k < known->to; k++) {
		if (is_closed(&o->stretches[k], known->applied.known))
			continue;
		open++;
		own += k >= from && k < to && o->stretches[k].unknowns <= 1;
	}
	if (own == open + known->may_be_later)
		return;
	m->low += llabs(known->applied.known);
	m->high += llabs(known->applied.known);
}

/* Every pair of a known call of which we are not sure and an unknown one that overlap. */
static void doubt_all(struct tare_overlap *o, const struct unsure *list, size_t count)
{
	size_t *known = tare_xcalloc(o->step_nr, sizeof(*known)), known_nr = 0, next = 0;
	size_t *unknown = tare_xcalloc(o->step_nr, sizeof(*unknown)), unknown_nr = 0;

	for (size_t k = 0; k < o->point_nr; k++) {
		const struct tare_point *p = &o->points[k];

		for (; next < count && list[next].from <= k; next++) {
			known[known_nr++] = list[next].step;
			for (size_t i = 0; i < unknown_nr; i++)
				doubt(o, &o->members[list[next].step], &o->members[unknown[i]]);
		}
		for (size_t i = 0; i < known_nr;)
			if (o->members[known[i]].to <= k)
				known[i] = known[--known_nr];
			else
				i++;
		if (p->step == TARE_NOBODY || !tare_member_is_unknown(o, p->step))
			continue;
		for (size_t i = 0; p->is_after && i < unknown_nr; i++)
			if (unknown[i] == p->step)
				unknown[i] = unknown[--unknown_nr];
		for (size_t i = 0; !p->is_after && i < known_nr; i++)
			if (o->members[known[i]].to > k + 1)
				doubt(o, &o->members[known[i]], &o->members[p->step]);
		if (!p->is_after)
			unknown[unknown_nr++] = p->step;
	}
	free(known);
	free(unknown);
}

void tare_overlap_place(struct tare_overlap *o)
{
	struct unsure *list = tare_xcalloc(o->step_nr, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < o->step_nr; i++)
		place_sure(o, &o->members[o->order[i]]);
	for (size_t i = 0; i < o->step_nr; i++)
		if (!o->members[i].is_sure)
			list[count++] = (struct unsure){ o->members[i].from, i };
	qsort(list, count, sizeof(*list), by_from);
	if (count)
		follow(o, list, count);
	for (size_t i = 0; i < o->step_nr; i++)
		settle_member(o, o->order[i]);
	if (o->unknown_nr)
		doubt_all(o, list, count);
	free(list);
}
