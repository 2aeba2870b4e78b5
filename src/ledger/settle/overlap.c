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
#include "ledger/settle/overlap.h"

#include "base/bisect.h"
#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

struct stamped {
	int64_t t;
	size_t step;
};

TARE_COMPARATOR(by_stamp, struct stamped, TARE_RISING(t) TARE_RISING(step))

static struct tare_point point_of(int64_t earliest, int64_t latest, size_t step, bool is_after)
{
	return (struct tare_point){ .t = earliest + (latest - earliest) / 2,
		                        .step = step,
		                        .is_after = is_after,
		                        .earliest = earliest,
		                        .latest = latest };
}

static bool is_weighed(const struct tare_step *s)
{
	return s->flags & TARE_EVENT_WEIGHED;
}

static bool is_of_one_process(const struct tare_overlap *o)
{
	for (size_t i = 1; i < o->step_nr; i++)
		if (o->steps[i].process != o->steps[0].process)
			return false;
	return true;
}

static bool has_unweighed(const struct tare_overlap *o)
{
	for (size_t i = 0; i < o->step_nr; i++)
		if (!is_weighed(&o->steps[i]))
			return true;
	return false;
}

static int64_t read_point(const struct tare_overlap *o, const struct tare_point *p, int64_t now)
{
	const struct tare_step *s;

	if (p->step == TARE_NOBODY)
		return tare_fold_normal(o->f, o->d, (uint64_t)o->d->closing_used, o->d->closing_source, now);
	s = &o->steps[p->step];
	return tare_fold_normal(o->f, o->d, p->is_after ? s->after : s->before, tare_fold_step_source(o->d, s), now);
}

static void make_points(struct tare_overlap *o)
{
	int64_t now = o->d->used;
	bool is_alone = is_of_one_process(o);

	for (size_t i = 0; i < o->step_nr; i++) {
		const struct tare_step *s = &o->steps[i];
		bool reads_others = is_alone && tare_step_reads_others(o->f, o->d, s);
		struct tare_point *p;

		if (!is_weighed(s))
			continue;
		p = &o->points[o->point_nr];
		p[0] = point_of(s->weigh_begin, s->begin, i, false);
		p[1] = point_of(s->end, s->weigh_end, i, true);
		p[0].level = reads_others ? (int64_t)s->peers_before : -1;
		p[1].level = reads_others ? (int64_t)s->peers_after : -1;
		o->point_nr += 2;
	}
	tare_overlap_sort(o);
	if (o->point_nr && o->d->has_closing && has_unweighed(o))
		o->points[o->point_nr++] = (struct tare_point){ .t = o->d->closing_ns,
			                                            .level = -1,
			                                            .step = TARE_NOBODY,
			                                            .is_after = true,
			                                            .earliest = o->d->closing_ns,
			                                            .latest = INT64_MAX };
	for (size_t k = 0; k < o->point_nr; k++) {
		o->points[k].used = read_point(o, &o->points[k], now);
		now = o->points[k].used;
	}
	tare_overlap_order(o);
	for (size_t k = 0; k < o->point_nr; k++) {
		struct tare_point *p = &o->points[k];

		p->since = k && p[-1].since > p->earliest ? p[-1].since : p->earliest;
	}
	for (size_t k = o->point_nr; k-- > 0;) {
		struct tare_point *p = &o->points[k];

		p->until = p->step == TARE_NOBODY ? p->t : p->latest;
		if (k + 1 < o->point_nr && p->until > p[1].until)
			p->until = p[1].until;
	}
}

static void sort_by_stamp(struct tare_overlap *o)
{
	TARE_FREED_HERE struct stamped *list = tare_xcalloc(o->step_nr, sizeof(*list));
	TARE_FREED_HERE struct tare_made *made = tare_xcalloc(o->step_nr, sizeof(*made));

	tare_overlap_stamp(o, made);
	tare_overlap_order_pages(o, made);
	for (size_t i = 0; i < o->step_nr; i++)
		list[i] = (struct stamped){ made[i].stamp, i };
	TARE_SORT(list, o->step_nr, by_stamp);
	for (size_t i = 0; i < o->step_nr; i++)
		o->order[i] = list[i].step;
}

/* Does a member end a context? That clears buckets, so what came before must be booked by then. */
static bool has_context_end(const struct tare_overlap *o)
{
	for (size_t i = 0; i < o->step_nr; i++)
		if (o->steps[i].class == TARE_CLASS_CONTEXT && o->steps[i].effect != TARE_EFFECT_NEW)
			return true;
	return false;
}

/* Applies the members in the order of their stamps: an address is freed before it is reused. */
static void apply_all(struct tare_overlap *o)
{
	struct tare_fold *f = o->f;
	bool is_immediate = has_context_end(o);

	sort_by_stamp(o);
	for (size_t i = 0; i < o->step_nr; i++) {
		struct tare_member *m = &o->members[o->order[i]];

		tare_fold_apply(f, &o->steps[o->order[i]], &m->applied);
		if (!is_immediate)
			tare_overlap_context(o, &o->steps[o->order[i]], m);
		m->op_first = o->ops.count;
		if (is_immediate)
			tare_fold_book_ops(f, f->ops.items, f->ops.count);
		else
			for (size_t k = 0; k < f->ops.count; k++)
				tare_fold_op(&o->ops, f->ops.items[k].bucket, &f->ops.items[k].by);
		m->op_nr = o->ops.count - m->op_first;
	}
}

/*
 * The first stretch that a call without readings may have changed: the readings of other calls tell.
 */
static size_t first_stretch(const struct tare_overlap *o, const struct tare_step *s)
{
	size_t from = 0;

	TARE_BISECT(from, o->point_nr, i, o->points[i].until <= s->begin);
	return from;
}

static size_t end_stretch(const struct tare_overlap *o, const struct tare_step *s, size_t from)
{
	TARE_BISECT(from, o->point_nr, i, o->points[i].since < s->end);
	return from < o->point_nr ? from + 1 : from;
}

static void place_unweighed(const struct tare_overlap *o, const struct tare_step *s, struct tare_member *m)
{
	m->from = first_stretch(o, s);
	m->to = end_stretch(o, s, m->from);
	m->may_be_later = !o->point_nr || o->points[o->point_nr - 1].earliest < s->end;
}

/*
 * Sets the stretches of a call with readings: those between its own readings; of readings that took long,
 * other calls' readings tell more.
 */
static void place_weighed(const struct tare_overlap *o, const struct tare_step *s, struct tare_member *m)
{
	size_t from = m->from, to = m->to;

	if (!from || s->begin - s->weigh_begin > TARE_WIDE_NS)
		from = first_stretch(o, s);
	if (!to || s->weigh_end - s->end > TARE_WIDE_NS)
		to = end_stretch(o, s, from);
	m->from = m->from > from ? m->from : from;
	m->to = m->to && m->to < to ? m->to : to;
	if (m->to <= m->from) /* readings contradict each other */
		m->to = m->from < o->point_nr ? m->from + 1 : m->from;
}

/* Counts a member in each stretch in which it was under way. */
static void count_member(struct tare_overlap *o, size_t i)
{
	const struct tare_member *m = &o->members[i];
	int64_t known = m->applied.known;

	for (size_t k = m->from; k < m->to; k++) {
		struct tare_stretch *s = &o->stretches[k];

		if (m->applied.takes_rest)
			++*(tare_member_is_unknown(o, i) ? &s->unknowns : &s->yielding);
		s->knowns += known != 0;
		s->has_growth |= known > 0;
		s->has_fall |= known < 0;
	}
	if (tare_member_is_unknown(o, i)) {
		o->unknown_nr++;
		o->unknown = i;
	}
}

/* Adds the known change of a member to the bounds of the stretches in which it was under way. */
static void add_bounds(struct tare_overlap *o, const struct tare_member *m)
{
	int64_t known = m->applied.known;

	for (size_t k = m->from; k < m->to && !m->is_context; k++)
		*(known < 0 ? &o->stretches[k].lowest : &o->stretches[k].highest) += known;
}

static void make_stretches(struct tare_overlap *o)
{
	int64_t used = o->d->used, level = o->d->is_level_known ? o->d->level : -1;

	for (size_t k = 0; k <= o->point_nr; k++)
		o->stretches[k] = (struct tare_stretch){ .first = TARE_NOBODY, .last = TARE_NOBODY };
	for (size_t k = 0; k < o->point_nr; k++) {
		const struct tare_point *p = &o->points[k];

		if (p->step != TARE_NOBODY)
			*(p->is_after ? &o->members[p->step].to : &o->members[p->step].from) = k + 1;
		o->stretches[k].rest = p->used - used;
		used = p->used;
		if (p->level >= 0) {
			o->stretches[k].rest -= level >= 0 ? p->level - level : 0;
			level = p->level;
		}
	}
	for (size_t i = 0; i < o->step_nr; i++) {
		if (!is_weighed(&o->steps[i]))
			place_unweighed(o, &o->steps[i], &o->members[i]);
		else
			place_weighed(o, &o->steps[i], &o->members[i]);
		add_bounds(o, &o->members[i]);
	}
}

/*
 * Counts the members under way in each stretch, and finds the stretches in which a process ended.
 */
static void count_members(struct tare_overlap *o)
{
	for (size_t i = 0; i < o->step_nr; i++)
		count_member(o, i);
	for (size_t k = 0; k < o->point_nr; k++)
		o->stretches[k].has_leaver =
			o->stretches[k].rest < o->stretches[k].lowest && tare_fold_is_any_leaving(o->f, o->d, o->points[k].until);
}

/* The weight of a call in a stretch: the part of the call's length that lies in the stretch. */
static double weight(const struct tare_overlap *o, const struct tare_member *m, size_t k)
{
	double length = (double)(o->points[m->to - 1].t - o->points[m->from - 1].t);
	double inside = (double)(o->points[k].t - o->points[k - 1].t);

	return length > 0 ? inside / length + 1e-9 : 1;
}

/*
 * Does a call get a share of a stretch? One that yields gets none while another unknown call is under way.
 */
static bool has_share(const struct tare_overlap *o, size_t k, size_t step)
{
	return o->members[step].applied.takes_rest &&
	       !(o->stretches[k].unknowns && tare_overlap_yields(o, &o->steps[step]));
}

static void share(struct tare_overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	const struct tare_stretch *s = &o->stretches[k];
	size_t sharers = s->unknowns ? s->unknowns : s->yielding;
	bool is_shared = sharers > 1;
	int64_t left = s->rest;
	double sum = 0;

	for (size_t i = 0; i < active_nr; i++)
		if (has_share(o, k, active[i]))
			sum += weight(o, &o->members[active[i]], k);
	for (size_t i = 0; i < active_nr; i++) {
		struct tare_member *m = &o->members[active[i]];
		int64_t part = left, low, high;

		if (!has_share(o, k, active[i]))
			continue;
		if (--sharers)
			part = (int64_t)((double)s->rest * weight(o, m, k) / sum);
		left -= part;
		low = !is_shared ? part : s->rest < 0 ? s->rest : 0;
		high = !is_shared ? part : s->rest > 0 ? s->rest : 0;
		tare_fold_weigh(o->f, &o->steps[active[i]], &m->applied, part, low - m->low, high + m->high);
		m->given += part;
		m->low = m->high = 0; /* the doubt is booked once */
	}
}

static void book_known(struct tare_overlap *o, size_t k)
{
	for (size_t i = o->stretches[k].first; i != TARE_NOBODY; i = o->members[i].next)
		if (o->members[i].op_nr)
			tare_fold_book_ops(o->f, o->ops.items + o->members[i].op_first, o->members[i].op_nr);
}

/* Behind the last reading only stamps tell the order; a peak may lie between two of them. */
static void book_later(struct tare_overlap *o, int64_t t)
{
	for (size_t i = o->stretches[o->point_nr].first; i != TARE_NOBODY; i = o->members[i].next) {
		const struct tare_member *m = &o->members[i];

		if (m->op_nr)
			tare_fold_book_ops(o->f, o->ops.items + m->op_first, m->op_nr);
		o->d->used += m->applied.known;
		tare_fold_peak(o->f, o->d, t);
	}
	tare_fold_peak(o->f, o->d, t);
}

/*
 * Books what no call in a stretch explains as unexplained: at the line of the calls under way, unless they are
 * of several lines.
 */
static void leave(struct tare_overlap *o, int64_t rest, const size_t *active, size_t active_nr)
{
	const struct tare_step *s = active_nr ? &o->steps[active[0]] : NULL;
	int context = active_nr ? o->members[active[0]].applied.context : -1;

	for (size_t i = 1; i < active_nr; i++)
		if (o->steps[active[i]].process != s->process || o->steps[active[i]].call_site != s->call_site)
			context = -1;
	tare_fold_unexplained(o->f, o->d, s, context, rest);
}

static bool is_any_giving(const struct tare_overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	for (size_t i = 0; i < active_nr; i++)
		if (has_share(o, k, active[i]) && !tare_step_only_takes(&o->steps[active[i]]))
			return true;
	return false;
}

/*
 * Takes a fall back from calls that only take: no more than they were given in earlier stretches.
 */
static void reclaim(struct tare_overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	struct tare_stretch *s = &o->stretches[k];

	for (size_t i = 0; i < active_nr && s->rest < 0; i++) {
		struct tare_member *m = &o->members[active[i]];
		int64_t part = -s->rest < m->given ? s->rest : -m->given;

		if (!has_share(o, k, active[i]) || part >= 0)
			continue;
		tare_fold_weigh(o->f, &o->steps[active[i]], &m->applied, part, part, part);
		m->given += part;
		s->rest -= part;
	}
}

/* The part of `rest` that reverses an earlier unexplained change: it is unexplained, too. */
static int64_t owed_part(const struct tare_overlap *o, int64_t rest)
{
	if (!o->owed || (rest > 0) == (o->owed > 0))
		return 0;
	return llabs(rest) < llabs(o->owed) ? rest : -o->owed;
}

/*
 * Settles the rest of a stretch: the unknown calls under way share it, if there are any that can have made it.
 */
static void settle_rest(struct tare_overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	struct tare_stretch *s = &o->stretches[k];
	int64_t nobodys = owed_part(o, s->rest);

	s->rest -= nobodys;
	if ((s->unknowns || s->yielding) && (s->rest >= 0 || is_any_giving(o, k, active, active_nr))) {
		share(o, k, active, active_nr);
	} else {
		reclaim(o, k, active, active_nr);
		nobodys += s->rest;
	}
	o->owed += nobodys;
	leave(o, nobodys, active, active_nr);
}

/* Takes the part of a fall that is the end of processes out of the stretch. */
static void take_ended(struct tare_overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	struct tare_stretch *s = &o->stretches[k];
	bool is_sure = s->unknowns > 0;

	if (!s->has_leaver || s->rest >= 0)
		return;
	for (size_t i = 0; i < active_nr; i++)
		is_sure &= o->steps[active[i]].effect == TARE_EFFECT_NEW;
	o->d->used = o->points[k].used - s->rest;
	tare_fold_take_ended(o->f, o->d, o->points[k].until, is_sure, &s->rest);
}

static void settle_stretch(struct tare_overlap *o, size_t k, const size_t *active, size_t active_nr)
{
	const struct tare_stretch *s = &o->stretches[k];
	const struct tare_point *p = &o->points[k];
	struct tare_device_fold *d = o->d;
	int64_t others = 0, used = d->used, ended;

	if (k >= o->work_to) /* the reading behind a call may be taken when the process has ended */
		tare_fold_ends_pass(o->f, d, p->t);
	tare_fold_advance(o->f, d, p->t);
	book_known(o, k);
	tare_overlap_pass_leavers(o, k);
	if (p->level >= 0 && !k)
		others = tare_fold_peer_level_between(o->f, d, (uint64_t)p->level, p->used - d->used - s->known);
	else if (p->level >= 0)
		others = tare_other_processes_take_level(o->f, d, (uint64_t)p->level);
	d->used += s->known + others;
	ended = tare_overlap_end(o, k);
	d->used = used;
	if (!k || p->step == TARE_NOBODY) {
		tare_fold_between_calls(o->f, d, p->t, p->used - d->used, s->known + others + ended);
	} else {
		take_ended(o, k, active, active_nr);
		settle_rest(o, k, active, active_nr);
		d->used = p->used;
	}
	tare_fold_peak(o->f, d, p->t);
}

/* Lists the calls with readings by the stretch in which they began. */
static size_t by_begin(const struct tare_overlap *o, size_t *list)
{
	size_t *first = tare_xcalloc(o->point_nr + 2, sizeof(*first)), count = 0;

	for (size_t i = 0; i < o->step_nr; i++)
		if (is_weighed(&o->steps[i]))
			first[o->members[i].from + 1]++;
	for (size_t k = 1; k <= o->point_nr + 1; k++)
		first[k] += first[k - 1];
	for (size_t i = 0; i < o->step_nr; i++)
		if (is_weighed(&o->steps[i]))
			list[first[o->members[i].from]++] = i;
	count = first[o->point_nr];
	free(first);
	return count;
}

static void walk(struct tare_overlap *o)
{
	size_t *active = tare_xcalloc(o->step_nr, sizeof(*active)), active_nr = 0, next = 0;
	size_t *list = tare_xcalloc(o->step_nr, sizeof(*list)), count = by_begin(o, list);

	for (size_t k = 0; k < o->point_nr; k++) {
		const struct tare_point *p = &o->points[k];

		while (next < count && o->members[list[next]].from <= k)
			active[active_nr++] = list[next++];
		for (size_t i = 0; i < active_nr;)
			if (o->members[active[i]].to <= k)
				active[i] = active[--active_nr];
			else
				i++;
		settle_stretch(o, k, active, active_nr);
		for (size_t i = 0; i < active_nr; i++)
			if (o->members[active[i]].to == k + 1)
				tare_graphs_measured(&o->f->parts->graphs, &o->members[active[i]].applied, p->used);
	}
	free(active);
	free(list);
}

void tare_fold_overlap(struct tare_fold *f, struct tare_device_fold *d)
{
	size_t n = d->cluster.count;
	struct tare_overlap o = { .f = f,
		                      .d = d,
		                      .steps = d->cluster.items,
		                      .step_nr = n,
		                      .is_driver_started = d->account_now[TARE_ACCOUNT_DRIVER] > 0 };
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < n; i++)
		if (end < d->cluster.items[i].end)
			end = d->cluster.items[i].end;

	o.members = tare_xcalloc(n, sizeof(*o.members));
	o.order = tare_xcalloc(n, sizeof(*o.order));
	o.points = tare_xcalloc(2 * n + 1, sizeof(*o.points));
	make_points(&o);
	tare_overlap_contexts(&o);
	apply_all(&o);
	o.stretches = tare_xcalloc(o.point_nr + 1, sizeof(*o.stretches));
	make_stretches(&o);
	count_members(&o);
	tare_overlap_find_leavers(&o);
	tare_overlap_assign(&o);
	tare_overlap_forget_contexts(&o);
	tare_overlap_collect(&o);
	tare_overlap_find_work(&o);
	walk(&o);

	/* Computed changes after the last reading. */
	if (o.point_nr && end < o.points[o.point_nr - 1].t)
		end = o.points[o.point_nr - 1].t;
	tare_fold_advance(f, d, end);
	book_later(&o, end);
	d->last_ns = end;
	for (size_t i = 0; i < n && d->is_measured; i++)
		if (!(o.steps[i].flags & TARE_EVENT_WEIGHED))
			tare_graphs_measured(&f->parts->graphs, &o.members[i].applied, d->used);
	free(o.members);
	free(o.order);
	free(o.points);
	free(o.stretches);
	free(o.leavers);
	free(o.ops.items);
}
