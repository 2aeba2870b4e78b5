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
	uint64_t page;
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
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

static bool is_part_of_page(const struct tare_overlap *o, const struct tare_step *s)
{
	uint64_t page = (uint64_t)o->f->page, size = s->granted ? s->granted : s->asked;

	if (tare_classes[s->class].sizing != TARE_SIZING_PAGES || s->flags & TARE_EVENT_FAILED)
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

/* The touches of one page of a process, in the order of their stamps. */
struct page {
	const struct touch *touches;
	size_t count;
};

/* The touches that may have been before the call, if it takes, or behind it, if it gives back: from `first` to before `end`. */
static size_t find_rivals(const struct tare_overlap *o, const struct page *p, size_t own,
			  size_t *end)
{
	const struct tare_step *s = &o->steps[p->touches[own].step];
	size_t first = own;

	*end = own;
	if (s->effect == TARE_EFFECT_NEW) {
		while (first && p->touches[first - 1].t > s->begin)
			first--;
		return first;
	}
	while (*end + 1 < p->count && p->touches[*end + 1].t < s->end)
		++*end;
	++*end;
	return own + 1;
}

/*
 * Where a call belongs among those that others made on its page while it ran. One that takes is the last of them, and one that
 * gives back the first, if no other place fits better.
 */
static int64_t stamp_of(const struct tare_overlap *o, const struct page *p, size_t own)
{
	const struct tare_step *s = &o->steps[p->touches[own].step];
	bool is_new = s->effect == TARE_EFFECT_NEW;
	int64_t stamp = p->touches[own].t, worse = 0, best = is_new ? INT64_MIN : 0;
	size_t end, first = find_rivals(o, p, own, &end);

	for (size_t k = first; k < end; k++) {
		const struct touch *t = &p->touches[k];
		const struct tare_step *x = &o->steps[t->step];

		if (x->tid == s->tid)
			continue;
		if (is_new && worse >= best) {
			best = worse;
			stamp = t->t - 1 > s->begin ? t->t - 1 : s->begin;
		}
		worse += misfit(o, x, t->count + 1) - misfit(o, x, t->count);
		if (x->handle == s->handle && !is_new)
			break; /* the address is given again when it was given back */
		if (x->handle == s->handle)
			best = INT64_MIN;
		if (!is_new && worse < best) {
			best = worse;
			stamp = t->t + 1;
		}
	}
	return is_new && worse >= best ? p->touches[own].t : stamp;
}

static void order_page(const struct tare_overlap *o, const struct page *p, int64_t *stamps)
{
	for (size_t i = 0; i < p->count; i++)
		stamps[p->touches[i].step] = stamp_of(o, p, i);
}

static uint64_t touches_before(const struct tare_overlap *o, const struct touch *t)
{
	const uint64_t *count =
		tare_map_get(&tare_fold_process_on(o->f, t->process, o->d->index)->pages, t->page);

	return count ? *count : 0;
}

void tare_overlap_order_pages(const struct tare_overlap *o, int64_t *stamps)
{
	struct touch *touches = tare_xcalloc(o->step_nr, sizeof(*touches));
	size_t count = 0, next;

	for (size_t i = 0; i < o->step_nr; i++)
		if (is_part_of_page(o, &o->steps[i]))
			touches[count++] =
				(struct touch){ .page = o->steps[i].handle / (uint64_t)o->f->page,
						.process = o->steps[i].process,
						.t = stamps[i],
						.step = i };
	qsort(touches, count, sizeof(*touches), by_page);
	for (size_t i = 0; i < count; i = next) {
		uint64_t now = touches_before(o, &touches[i]);

		for (next = i; next < count && touches[next].process == touches[i].process &&
			       touches[next].page == touches[i].page;
		     next++) {
			touches[next].count = now;
			now = after(&o->steps[touches[next].step], now);
		}
		order_page(o, &(struct page){ &touches[i], next - i }, stamps);
	}
	free(touches);
}
