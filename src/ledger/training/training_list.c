/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of one kind: the first, and enough of the others for their median. */
#include "ledger/training/training.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum {
	KEPT = 2048,           /* steps of a list … */
	KEPT_OF_ALL = 1 << 18, /* … and of the lists of many threads, */
	KEPT_LEAST = 64        /* but so many of each */
};

TARE_SCALAR_COMPARATOR(compare, uint64_t)

/* Of what was noted, all that no open step can ask for. */
static void forget(struct tare_training_threads *at)
{
	TARE_FREED_HERE uint64_t *moments = tare_xcalloc(at->count * TARE_TRAINING_BY_NR, sizeof(*moments));
	size_t count = 0;

	for (size_t i = 0; i < at->count; i++)
		for (int by = 0; by < TARE_TRAINING_BY_NR; by++)
			if (at->items[i].lists[by].is_open)
				moments[count++] = at->items[i].lists[by].begin;
	TARE_SORT(moments, count, compare);
	tare_training_forget(&at->used, moments, count);
	tare_training_forget(&at->live, moments, count);
}

void tare_training_begin_step(struct tare_training_threads *at, struct tare_training_list *l, int64_t t, int64_t used,
                              int64_t live)
{
	size_t open_max = at->count * TARE_TRAINING_BY_NR;

	if (tare_training_is_long(&at->used, open_max) || tare_training_is_long(&at->live, open_max))
		forget(at);
	l->begin = ++at->moment;
	l->is_open = true;
	l->begin_ns = t;
	l->open = (struct tare_training_step){ 0 };
	l->open.figures[TARE_TRAINING_USED] = used;
	l->open.figures[TARE_TRAINING_LIVE] = live;
}

static void thin_out(struct tare_training_list *l)
{
	for (size_t i = 1; 2 * i < l->nr; i++)
		l->items[i] = l->items[2 * i];
	l->nr = (l->nr + 1) / 2;
	l->stride *= 2;
}

static size_t kept_of(const struct tare_training_threads *at)
{
	size_t kept = KEPT_OF_ALL / at->count;

	return kept > KEPT ? KEPT : kept < KEPT_LEAST ? KEPT_LEAST : kept;
}

void tare_training_keep_step(const struct tare_training_threads *at, struct tare_training_list *l,
                             const struct tare_training_step *step, int64_t begin_ns)
{
	l->count++;
	tare_training_mark_step(l, step, begin_ns);
	if (l->count == 1) {
		l->first = *step;
		l->first_ns = begin_ns;
		l->stride = 1;
		return;
	}
	if ((l->count - 2) % l->stride)
		return;
	TARE_APPEND(l->items, l->nr, l->cap) = *step;
	if (l->nr >= kept_of(at))
		thin_out(l);
}

void tare_training_end_step(const struct tare_training_threads *at, struct tare_training_list *l, int64_t t)
{
	int64_t *figures = l->open.figures;

	if (!l->is_open)
		return;
	l->is_open = false;
	figures[TARE_TRAINING_NS] = t - l->begin_ns;
	figures[TARE_TRAINING_USED] = tare_training_since(&at->used, l->begin, figures[TARE_TRAINING_USED]);
	figures[TARE_TRAINING_LIVE] = tare_training_since(&at->live, l->begin, figures[TARE_TRAINING_LIVE]);
	tare_training_keep_step(at, l, &l->open, l->begin_ns);
}
