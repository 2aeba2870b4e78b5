/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the only unknown call of a cluster gets: what known calls leave of the stretches in which it may have been under way, and beyond
 * them what can only be missing there.
 */
#include "ledger/settle/overlap.h"

#include <stdlib.h>

/* Stretches in which a call may have been under way, if readings were taken as far apart as they can have been. */
struct reach {
	size_t from, to;
};

static struct reach reach_of(const struct tare_overlap *o, const struct tare_step *s)
{
	struct reach r = { 1, o->point_nr };

	while (r.from < r.to && o->points[r.from].until <= s->weigh_begin)
		r.from++;
	while (r.to > r.from && o->points[r.to - 2].since >= s->weigh_end)
		r.to--;
	return r;
}

static bool is_in_reach(struct reach r, size_t k)
{
	return k >= r.from && k < r.to;
}

static bool is_collected(const struct tare_overlap *o, size_t k)
{
	const struct tare_stretch *s = &o->stretches[k];

	return !s->unknowns && !s->yielding && !s->has_leaver && o->points[k].step != TARE_NOBODY;
}

/* How much of known size may have been put on the wrong side of either end of the reach. */
static int64_t misplaced(const struct tare_overlap *o, struct reach r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_member *m = &o->members[i];

		if (m->from < r.to && m->to > r.from && (m->from < r.from || m->to > r.to))
			sum += llabs(m->applied.known);
	}
	return sum;
}

/*
 * May the call get what is left of stretches beyond its reach, too? What is missing within its reach then, because a known call was put
 * into the wrong one. It is not where processes ended, which the plan may have put anywhere, and where it is more than that.
 */
static bool may_collect_beyond(const struct tare_overlap *o, struct reach r)
{
	int64_t beyond = 0;

	for (size_t k = 1; k < o->point_nr; k++)
		if (is_collected(o, k) && !is_in_reach(r, k))
			beyond += o->stretches[k].rest;
	return !o->leaver_nr && llabs(beyond) <= misplaced(o, r);
}

/* Where only one call is unknown, it gets what the known ones leave. */
void tare_overlap_collect(struct tare_overlap *o)
{
	struct tare_member *m = &o->members[o->unknown];
	struct reach r;
	bool is_beyond;

	if (o->unknown_nr != 1)
		return;
	r = reach_of(o, &o->steps[o->unknown]);
	is_beyond = may_collect_beyond(o, r);
	for (size_t k = 1; k < o->point_nr; k++) {
		if (!is_collected(o, k) || (!is_beyond && !is_in_reach(r, k)))
			continue;
		o->stretches[m->to - 1].rest += o->stretches[k].rest;
		o->stretches[k].rest = 0;
	}
}
