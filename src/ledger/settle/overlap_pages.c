/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "page order": of the calls of one process that take or give back a part of the same page, the first that takes it and
 * the last that gives it back change the counter. A thread may lose the CPU between what its call did and its end, so the
 * order of their ends may be false. Where the readings of all threads say so, a call was made before others on its page.
 */
#include "ledger/settle/overlap_pages.h"

#include "base/comparator.h"
#include "base/sat.h"
#include "base/xalloc.h"

#include <stdlib.h>

TARE_COMPARATOR(by_page, struct tare_touch, TARE_RISING(process) TARE_RISING(page) TARE_RISING(t) TARE_RISING(step))

static const struct tare_step *step_of(const struct tare_paging *p, const struct tare_touch *t)
{
	return &p->o->steps[t->step];
}

/* How many allocations touch the page after the call, of `count` before it. */
static uint64_t after(const struct tare_step *s, uint64_t count)
{
	if (s->effect == TARE_EFFECT_NEW)
		return count + 1;
	return count ? count - 1 : 0;
}

/* How many bytes more a call takes of its page where `count` allocations touch that before it. */
static int64_t change(const struct tare_paging *p, const struct tare_touch *t, uint64_t count)
{
	return ((after(step_of(p, t), count) > 0) - (count > 0)) * p->o->f->page;
}

static void add_touch(struct tare_paging *p, size_t step, uint64_t page)
{
	p->touches[p->touch_nr++] = (struct tare_touch){
		.page = page, .process = p->o->steps[step].process, .t = p->made[step].stamp, .step = step
	};
}

/* Lists the pages at the edges of what a call takes or gives back; those between them are its own. */
static void add_touches(struct tare_paging *p, size_t step)
{
	const struct tare_made *m = &p->made[step];
	uint64_t page = (uint64_t)p->o->f->page, edges = 0;
	uint64_t end = m->at + m->bytes, first = m->at / page, last = (end - 1) / page;
	bool is_taking = p->o->steps[step].effect == TARE_EFFECT_NEW;

	if (m->at % page || (first == last && end % page)) {
		add_touch(p, step, first);
		edges++;
	}
	if (first != last && end % page) {
		add_touch(p, step, last);
		edges++;
	}
	p->most[step] = tare_sat_mul((int64_t)(last - first + 1), p->o->f->page);
	p->changes[step] = tare_sat_mul((int64_t)(last - first + 1 - edges), is_taking ? p->o->f->page : -p->o->f->page);
}

static uint64_t touches_before(const struct tare_paging *p, const struct tare_touch *t)
{
	const uint64_t *count = tare_map_get(&tare_fold_process_on(p->o->f, t->process, p->o->d->index)->pages, t->page);

	return count ? *count : 0;
}

/* The first touch of another page. */
static size_t page_end(const struct tare_paging *p, size_t first)
{
	size_t end = first;

	while (end < p->touch_nr && p->touches[end].process == p->touches[first].process &&
	       p->touches[end].page == p->touches[first].page)
		end++;
	return end;
}

static void list_touches(struct tare_paging *p)
{
	p->touch_nr = 0;
	for (size_t i = 0; i < p->o->step_nr; i++)
		if (p->made[i].bytes && tare_step_is_of_pages(&p->o->steps[i]))
			add_touches(p, i);
	TARE_SORT(p->touches, p->touch_nr, by_page);
	for (size_t i = 0, end; i < p->touch_nr; i = end) {
		uint64_t count = touches_before(p, &p->touches[i]);

		end = page_end(p, i);
		for (size_t k = i; k < end; k++) {
			p->touches[k].count = count;
			p->changes[p->touches[k].step] += change(p, &p->touches[k], count);
			count = after(step_of(p, &p->touches[k]), count);
		}
	}
}

/* ---- what the readings say ---- */

static size_t point_at(const struct tare_overlap *o, int64_t t)
{
	return tare_overlap_point_at(o->points, o->point_nr, t);
}

/* By how much the calls under way before each point can have moved the counter: `reach`; -1: nobody knows. */
static void find_reach(const struct tare_paging *p, int64_t *reach)
{
	const struct tare_overlap *o = p->o;
	int64_t *others = tare_xcalloc(o->point_nr + 2, sizeof(*others)), bytes = 0, other_nr = 0;

	for (size_t i = 0; i < o->step_nr; i++) {
		size_t from = point_at(o, o->steps[i].weigh_begin);
		size_t to = point_at(o, o->steps[i].weigh_end) + 1;
		int64_t *sums = tare_step_is_of_pages(&o->steps[i]) ? reach : others;
		int64_t by = sums == reach ? p->most[i] : 1;

		sums[from] += by;
		sums[to] -= by;
	}
	for (size_t k = 0; k < o->point_nr; k++) {
		bytes += reach[k];
		other_nr += others[k];
		reach[k] = other_nr ? -1 : bytes;
	}
	free(others);
}

/* What calls without a known change, other processes and ends of processes moved the counter by is left out. */
static void find_off(struct tare_paging *p)
{
	const struct tare_overlap *o = p->o;
	int64_t *reach = tare_xcalloc(o->point_nr + 2, sizeof(*reach)), off = 0, used = o->d->used;

	find_reach(p, reach);
	for (size_t k = 0; k <= o->point_nr; k++)
		p->off[k] = 0;
	for (size_t i = 0; i < o->step_nr; i++)
		p->off[point_at(o, p->made[i].stamp)] += p->changes[i];
	for (size_t k = 0; k < o->point_nr; k++) {
		int64_t moved = o->points[k].used - used;

		used = o->points[k].used;
		if (reach[k] >= 0 && llabs(moved) <= reach[k])
			off += moved;
		else
			off += p->off[k];
		p->off[k] = off -= p->off[k];
	}
	free(reach);
}

/* From t to before `until` the counter was moved by `bytes` more than was thought. */
static void shift(struct tare_paging *p, int64_t t, int64_t until, int64_t bytes)
{
	for (size_t k = point_at(p->o, t); bytes && k < p->o->point_nr && p->o->points[k].t < until; k++)
		p->off[k] -= bytes;
}

/* By how much worse a point fits if the counter was moved by `more` there. */
static int64_t worse_at(const struct tare_paging *p, size_t k, int64_t more)
{
	return llabs(p->off[k] - more) - llabs(p->off[k]);
}

static int64_t worse(const struct tare_paging *p, int64_t t, int64_t until, int64_t more)
{
	int64_t sum = 0;

	for (size_t k = point_at(p->o, t); more && k < p->o->point_nr && p->o->points[k].t < until; k++)
		sum += worse_at(p, k, more);
	return sum;
}

/* ---- moving a call ---- */

/* Finds the time between `since` and `until` from which on `more` fits best. Returns by how much worse that is. */
static int64_t best_time(const struct tare_paging *p, int64_t since, int64_t until, int64_t more, int64_t *t)
{
	int64_t sum = 0, best = 0;

	*t = until - 1;
	for (size_t k = point_at(p->o, until); more && k-- > 0 && p->o->points[k].t > since;) {
		sum += worse_at(p, k, more);
		if (sum < best) {
			best = sum;
			*t = p->o->points[k].t;
		}
	}
	return best;
}

/* How many bytes less a touch takes of its page if `s` was made before it, and not behind. */
static int64_t less_behind(const struct tare_paging *p, const struct tare_touch *t, const struct tare_touch *s)
{
	return change(p, t, t->count) - change(p, t, after(step_of(p, s), t->count));
}

/*
 * Where the call fits best: among those of its page back to the last that was surely made before it. Whatever it goes before,
 * the counter is moved by the same between two of those that it has passed, so each is looked at once.
 */
static struct tare_move find_move(const struct tare_paging *p, const struct tare_touch *touches, size_t own,
                                  size_t first)
{
	const struct tare_touch *s = &touches[own];
	int64_t since = p->made[s->step].since, more = p->changes[s->step], passed = 0;
	struct tare_move best = { .before = own, .stamp = s->t };

	for (size_t k = own;; k--) {
		const struct tare_touch *before = k > first ? &touches[k - 1] : NULL;
		struct tare_move m = { .before = k };

		m.worse = passed + best_time(p, before && before->t > since ? before->t : since, touches[k].t, more, &m.stamp);
		if (m.worse < best.worse)
			best = m;
		if (!before || before->t <= since || step_of(p, before)->tid == step_of(p, s)->tid)
			return best;
		passed += worse(p, before->t, touches[k].t, more);
		more += less_behind(p, before, s);
	}
}

void tare_paging_move(struct tare_paging *p, size_t own, const struct tare_move *m)
{
	struct tare_touch *touches = p->touches, s = touches[own];
	uint64_t count = touches[m->before].count;
	int64_t more = p->changes[s.step], until = s.t;

	p->changes[s.step] -= change(p, &s, s.count);
	for (size_t k = own; k > m->before; k--) {
		int64_t less = less_behind(p, &touches[k - 1], &s);

		shift(p, touches[k - 1].t, until, more);
		until = touches[k - 1].t;
		more += less;
		p->changes[touches[k - 1].step] -= less;
		touches[k] = touches[k - 1];
		touches[k].count = after(step_of(p, &s), touches[k].count);
	}
	shift(p, m->stamp, until, more);
	s.t = p->made[s.step].stamp = m->stamp;
	s.count = count;
	p->changes[s.step] += change(p, &s, count);
	touches[m->before] = s;
}

/* Puts a call before others of its page that were made while it ran, if the readings fit better so. */
static bool put(struct tare_paging *p, size_t own, size_t first)
{
	struct tare_move m = find_move(p, p->touches, own, first);

	if (!m.worse)
		return false;
	tare_paging_move(p, own, &m);
	return true;
}

void tare_paging_look(struct tare_paging *p)
{
	list_touches(p);
	find_off(p);
}

static bool put_all(struct tare_paging *p)
{
	bool has_moved = false;

	tare_paging_look(p);
	for (size_t i = 0, end; i < p->touch_nr; i = end) {
		end = page_end(p, i);
		for (size_t k = i; k < end; k++)
			has_moved |= put(p, k, i);
	}
	return has_moved;
}

/* A call moves with all of its pages, and others may fit better where it was: all are looked at again. */
enum { TURNS = 4 };

void tare_paging_put_all(struct tare_paging *p)
{
	for (int turn = 0; turn < TURNS && put_all(p); turn++)
		;
	tare_paging_look(p);
}

bool tare_paging_place(const struct tare_paging *p, size_t own, size_t nth, struct tare_move *out)
{
	const struct tare_touch *s = &p->touches[own];
	int64_t since = p->made[s->step].since, more = p->changes[s->step];

	for (size_t k = own;; k--) {
		const struct tare_touch *before = k ? &p->touches[k - 1] : NULL;
		bool is_first = !before || before->process != s->process || before->page != s->page || before->t <= since;

		if (own - k == nth) {
			*out = (struct tare_move){ .before = k };
			best_time(p, is_first ? since : before->t, p->touches[k].t, more, &out->stamp);
			return out->stamp < s->t;
		}
		if (is_first || step_of(p, before)->tid == step_of(p, s)->tid)
			return false;
		more += less_behind(p, before, s);
	}
}

void tare_overlap_order_pages(const struct tare_overlap *o, struct tare_made *made)
{
	struct tare_paging p = { .o = o,
		                     .made = made,
		                     .touches = tare_xcalloc(2 * o->step_nr, sizeof(*p.touches)),
		                     .changes = tare_xcalloc(o->step_nr, sizeof(*p.changes)),
		                     .most = tare_xcalloc(o->step_nr, sizeof(*p.most)),
		                     .off = tare_xcalloc(o->point_nr + 1, sizeof(*p.off)) };

	tare_paging_put_all(&p);
	tare_paging_try_together(&p);
	free(p.touches);
	free(p.changes);
	free(p.most);
	free(p.off);
}
