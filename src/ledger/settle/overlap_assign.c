/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives every change of known size in a cluster the stretch in which it happened. Where only one known call
 * was under way, the stretch tells. The other calls, contexts and ends of processes are planned together
 * (plan.h), and unknown calls about which the plan may be wrong lie between bounds.
 */
#include "ledger/settle/overlap.h"

#include "ledger/settle/plan.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

static bool is_known_only(const struct tare_stretch *s)
{
	return !s->unknowns && !s->yielding;
}

static void give(struct tare_stretch *s, int64_t bytes)
{
	s->rest -= bytes;
	s->known += bytes;
}

/*
 * Can the call not have changed anything in the stretch? It is the only one there and the change is of another
 * size; or nothing changed, and all calls there would have moved the device the same way.
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

/* The stretch in which the call was the only one and the device changed by just its change. */
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

struct unsure {
	size_t from, step;
};

/* A change of the plan: the context or the known change of a call, or the end of a process. */
struct entry {
	struct tare_plan_item item;
	size_t step;             /* TARE_NOBODY: … */
	struct tare_leaver *end; /* … this */
};

TARE_COMPARATOR(by_item, struct entry, TARE_RISING(item.from) TARE_RISING(step) TARE_RISING(end))

static bool is_planned(const struct tare_member *m)
{
	return !m->is_given && (m->is_context || !m->is_sure);
}

static size_t find_entries(struct tare_overlap *o, struct entry *entries)
{
	size_t count = 0;

	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_member *m = &o->members[i];

		if (is_planned(m))
			entries[count++] = (struct entry){
				.item = { .bytes = m->applied.known, .from = m->from, .to = m->to, .may_be_missing = m->may_be_later },
				.step = i
			};
	}
	for (size_t i = 0; i < o->leaver_nr; i++)
		entries[count++] = (struct entry){ .item = { .bytes = -o->leavers[i].bytes,
			                                         .slack = o->leavers[i].driver,
			                                         .from = o->leavers[i].from,
			                                         .to = o->point_nr,
			                                         .may_be_missing = true,
			                                         .is_end = true },
			                               .step = TARE_NOBODY,
			                               .end = &o->leavers[i] };
	TARE_SORT(entries, count, by_item);
	return count;
}

/*
 * The stretches for the plan. Where only known calls were under way, their changes must add up to that of the
 * stretch.
 */
static struct tare_plan_stretch *planned_stretches(const struct tare_overlap *o)
{
	struct tare_plan_stretch *stretches = tare_xcalloc(o->point_nr, sizeof(*stretches));

	for (size_t k = 0; k < o->point_nr; k++)
		stretches[k] = (struct tare_plan_stretch){ .change = o->stretches[k].rest,
			                                       .has_unknown = !is_known_only(&o->stretches[k]),
			                                       .has_leaver = o->stretches[k].has_leaver };
	return stretches;
}

static void take_answer(struct tare_overlap *o, const struct entry *e)
{
	size_t at = e->item.at;

	if (e->end) {
		e->end->at = at;
		if (at != TARE_PLAN_NOWHERE)
			o->stretches[at].rest += e->end->bytes;
	} else if (at != TARE_PLAN_NOWHERE) {
		o->members[e->step].at = at;
	}
}

static void plan(struct tare_overlap *o)
{
	TARE_FREED_HERE struct entry *entries = tare_xcalloc(o->step_nr + o->leaver_nr + 1, sizeof(*entries));
	size_t count = find_entries(o, entries);
	TARE_FREED_HERE struct tare_plan_stretch *stretches = count ? planned_stretches(o) : NULL;
	TARE_FREED_HERE struct tare_plan_item *items = tare_xcalloc(count + 1, sizeof(*items));

	for (size_t i = 0; i < count; i++)
		items[i] = entries[i].item;
	if (count)
		tare_plan(items, count, stretches, o->point_nr);
	for (size_t i = 0; i < count; i++) {
		entries[i].item = items[i];
		take_answer(o, &entries[i]);
	}
}

/* Adds a member to the calls of its stretch, in the order of stamps. */
static void settle_member(struct tare_overlap *o, size_t i)
{
	struct tare_member *m = &o->members[i];
	struct tare_stretch *s = &o->stretches[m->at];

	if (!m->is_given)
		give(s, m->applied.known);
	m->next = TARE_NOBODY;
	if (s->last == TARE_NOBODY)
		s->first = i;
	else
		o->members[s->last].next = i;
	s->last = i;
}

/* Gives a member its stretch if there is no doubt about it. */
static void place_sure(struct tare_overlap *o, struct tare_member *m)
{
	size_t sure;

	if (m->is_context) {
		m->at = m->to - 1;
		m->is_sure = true;
		return;
	}
	sure = m->applied.known ? find_sure(o, m) : TARE_NOBODY;

	m->at = m->to > m->from && !m->may_be_later ? m->to - 1 : o->point_nr;
	m->is_sure = !m->applied.known || sure != TARE_NOBODY;
	if (sure == TARE_NOBODY)
		return;
	m->at = sure;
	m->is_given = true;
	give(&o->stretches[sure], m->applied.known);
}

TARE_COMPARATOR(by_from, struct unsure, TARE_RISING(from) TARE_RISING(step))

/*
 * If the known call may have acted inside the unknown one as well as elsewhere, or while the unknown
 * one shared the device with another unknown, then the unknown one may be wrong by that much.
 */
static void doubt(const struct tare_overlap *o, const struct tare_member *known, struct tare_member *m)
{
	size_t from = m->from, to = m->to, open = 0, own = 0;

	if (o->unknown_nr == 1) { /* the only unknown call gets all that is left in the cluster */
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

/* Drops the members that ended before stretch k. */
static size_t drop_over(const struct tare_overlap *o, size_t *list, size_t count, size_t k)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		if (o->members[list[i]].to > k)
			list[left++] = list[i];
	return left;
}

/*
 * Calls doubt() for every known call whose stretch is not sure and every unknown call that overlaps it.
 */
static void doubt_all(struct tare_overlap *o, const struct unsure *list, size_t count)
{
	TARE_FREED_HERE struct unsure *others = tare_xcalloc(o->step_nr, sizeof(*others));
	size_t *known = tare_xcalloc(o->step_nr, sizeof(*known)), known_nr = 0, next = 0;
	size_t *unknown = tare_xcalloc(o->step_nr, sizeof(*unknown)), unknown_nr = 0, other = 0;
	size_t other_nr = 0;

	for (size_t i = 0; i < o->step_nr; i++)
		if (tare_member_is_unknown(o, i))
			others[other_nr++] = (struct unsure){ o->members[i].from, i };
	TARE_SORT(others, other_nr, by_from);
	for (size_t k = 0; k < o->point_nr; k++) {
		known_nr = drop_over(o, known, known_nr, k);
		unknown_nr = drop_over(o, unknown, unknown_nr, k);
		for (; other < other_nr && others[other].from <= k; other++) {
			for (size_t i = 0; i < known_nr; i++)
				doubt(o, &o->members[known[i]], &o->members[others[other].step]);
			unknown[unknown_nr++] = others[other].step;
		}
		for (; next < count && list[next].from <= k; next++) {
			for (size_t i = 0; i < unknown_nr; i++)
				doubt(o, &o->members[list[next].step], &o->members[unknown[i]]);
			known[known_nr++] = list[next].step;
		}
	}
	free(known);
	free(unknown);
}

void tare_overlap_assign(struct tare_overlap *o)
{
	TARE_FREED_HERE struct unsure *list = tare_xcalloc(o->step_nr, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < o->step_nr; i++)
		place_sure(o, &o->members[o->order[i]]);
	for (size_t i = 0; i < o->step_nr; i++)
		if (!o->members[i].is_sure)
			list[count++] = (struct unsure){ o->members[i].from, i };
	TARE_SORT(list, count, by_from);
	plan(o);
	for (size_t i = 0; i < o->step_nr; i++)
		settle_member(o, o->order[i]);
	if (o->unknown_nr)
		doubt_all(o, list, count);
}
