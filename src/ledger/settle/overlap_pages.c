/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "page order": calls of one process that overlap may take the same page, and the first to have it changes the
 * counter. That is not always the first to end: a thread may lose the CPU between the two. So a call is put among the
 * others on its page where the readings of these fit best.
 */
#include "ledger/settle/overlap.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* A call that takes or gives back a part of a page. */
struct touch {
	uint64_t where; /* its page; of calls on one address that address */
	int process;
	int64_t t;
	size_t step;
	uint64_t count; /* how many allocations touch the page before it */
};

static int by_page(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

static bool is_of_pages(const struct tare_step *s)
{
	return tare_classes[s->class].sizing == TARE_SIZING_PAGES &&
	       !(s->flags & TARE_EVENT_FAILED);
}

static bool is_part_of_page(const struct tare_overlap *o, const struct tare_step *s)
{
	uint64_t page = (uint64_t)o->f->page, size = s->granted ? s->granted : s->asked;

	if (!is_of_pages(s))
		return false;
	return s->effect == TARE_EFFECT_DEL ||
	       (s->effect == TARE_EFFECT_NEW && size < page && s->handle % page + size <= page);
}

/* How many allocations touch the page after the call, of `count` before it. */
static uint64_t after(const struct tare_step *s, uint64_t count)
{
	if (s->effect == TARE_EFFECT_NEW)
		return count + 1;
	return count ? count - 1 : 0;
}

/* By how much the readings of a call differ from what it does to a page that `count` allocations touch. */
static int64_t misfit(const struct tare_overlap *o, const struct tare_step *s, uint64_t count)
{
	int64_t pages = (after(s, count) > 0) - (count > 0);

	if (!(s->flags & TARE_EVENT_WEIGHED))
		return 0;
	return llabs((int64_t)s->after - (int64_t)s->before - pages * o->f->page);
}

/* Where calls are put: stamps, by step. */
struct places {
	int64_t *stamps;
	size_t *before, *behind; /* the next call on the same address; TARE_NOBODY: none */
};

/* The touches of one page of a process, in the order of their stamps. */
struct page {
	const struct touch *touches;
	size_t count;
};

static int64_t stamp_at(const struct places *places, size_t step, int64_t none)
{
	return step == TARE_NOBODY ? none : places->stamps[step];
}

/*
 * Where a call belongs among those that others made on its page while it ran. One that gives back is the first of them, if
 * no other place fits better, and before its address is given again.
 */
static int64_t place_of_return(const struct tare_overlap *o, const struct page *p, size_t own,
			       const struct places *places)
{
	const struct tare_step *s = &o->steps[p->touches[own].step];
	int64_t stamp = p->touches[own].t, worse = 0, best = 0;
	int64_t until = stamp_at(places, places->behind[p->touches[own].step], INT64_MAX);

	for (size_t k = own + 1; k < p->count; k++) {
		const struct touch *t = &p->touches[k];
		const struct tare_step *x = &o->steps[t->step];

		if (t->t >= s->end || t->t >= until)
			break;
		if (x->tid == s->tid)
			continue;
		worse += misfit(o, x, t->count + 1) - misfit(o, x, t->count);
		if (worse < best) {
			best = worse;
			stamp = t->t + 1;
		}
	}
	return stamp;
}

/* One that takes is the last of them, if no other place fits better, and behind the return of its address. */
static int64_t place_of_taking(const struct tare_overlap *o, const struct page *p, size_t own,
			       const struct places *places)
{
	const struct tare_step *s = &o->steps[p->touches[own].step];
	int64_t stamp = p->touches[own].t, worse = 0, best = 0;
	int64_t since = stamp_at(places, places->before[p->touches[own].step], INT64_MIN);

	if (since < s->begin)
		since = s->begin;
	for (size_t k = own; k-- > 0;) {
		const struct touch *t = &p->touches[k];
		const struct tare_step *x = &o->steps[t->step];

		if (t->t <= since)
			break;
		if (x->tid == s->tid)
			continue;
		worse += misfit(o, x, t->count + 1) - misfit(o, x, t->count);
		if (worse < best) {
			best = worse;
			stamp = t->t - 1 > since ? t->t - 1 : since;
		}
	}
	return stamp;
}

/* Returns first: they may be put later, and what takes their address follows them. */
static void put(const struct tare_overlap *o, const struct page *p, const struct places *places)
{
	for (size_t i = 0; i < p->count; i++)
		if (o->steps[p->touches[i].step].effect == TARE_EFFECT_DEL)
			places->stamps[p->touches[i].step] = place_of_return(o, p, i, places);
	for (size_t i = 0; i < p->count; i++)
		if (o->steps[p->touches[i].step].effect == TARE_EFFECT_NEW)
			places->stamps[p->touches[i].step] = place_of_taking(o, p, i, places);
}

static uint64_t touches_before(const struct tare_overlap *o, const struct touch *t)
{
	const uint64_t *count =
		tare_map_get(&tare_fold_process_on(o->f, t->process, o->d->index)->pages, t->where);

	return count ? *count : 0;
}

/* Touches of all pages, page by page. */
static size_t list_touches(const struct tare_overlap *o, const int64_t *stamps,
			   struct touch *touches)
{
	size_t count = 0;

	for (size_t i = 0; i < o->step_nr; i++)
		if (is_part_of_page(o, &o->steps[i]))
			touches[count++] =
				(struct touch){ .where = o->steps[i].handle / (uint64_t)o->f->page,
						.process = o->steps[i].process,
						.t = stamps[i],
						.step = i };
	qsort(touches, count, sizeof(*touches), by_page);
	return count;
}

/* Calls on one address, whatever pages they take besides its own: `touches` is room for all. */
static void chain_addresses(const struct tare_overlap *o, struct touch *touches,
			    struct places *places)
{
	size_t count = 0;

	for (size_t i = 0; i < o->step_nr; i++) {
		places->before[i] = places->behind[i] = TARE_NOBODY;
		if (is_of_pages(&o->steps[i]))
			touches[count++] = (struct touch){ .where = o->steps[i].handle,
							   .process = o->steps[i].process,
							   .t = places->stamps[i],
							   .step = i };
	}
	qsort(touches, count, sizeof(*touches), by_page);
	for (size_t i = 1; i < count; i++) {
		struct touch *a = &touches[i - 1], *b = &touches[i];

		if (a->process != b->process || a->where != b->where)
			continue;
		places->behind[a->step] = b->step;
		places->before[b->step] = a->step;
	}
}

void tare_overlap_order_pages(const struct tare_overlap *o, int64_t *stamps)
{
	struct touch *touches = tare_xcalloc(o->step_nr, sizeof(*touches));
	struct places places = { .stamps = stamps,
				 .before = tare_xcalloc(o->step_nr, sizeof(size_t)),
				 .behind = tare_xcalloc(o->step_nr, sizeof(size_t)) };
	size_t count, next;

	chain_addresses(o, touches, &places);
	count = list_touches(o, stamps, touches);
	for (size_t i = 0; i < count; i = next) {
		uint64_t now = touches_before(o, &touches[i]);

		for (next = i; next < count && touches[next].process == touches[i].process &&
			       touches[next].where == touches[i].where;
		     next++) {
			touches[next].count = now;
			now = after(&o->steps[touches[next].step], now);
		}
		put(o, &(struct page){ &touches[i], next - i }, &places);
	}
	free(touches);
	free(places.before);
	free(places.behind);
}
