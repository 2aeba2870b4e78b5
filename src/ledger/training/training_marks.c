/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When steps were, and what they had at most (rule "steps"). Of many steps in a row the one with most stands for all of them, so no step
 * that needed more than others is lost, and every mark is a step that was.
 */
#include "ledger/training/training.h"

#include "base/array.h"
#include "base/comparator.h"

#include <string.h>

enum { KEPT = 512 };

static bool has_more(const struct tare_training_mark *a, const struct tare_training_mark *b)
{
	return a->used != b->used ? a->used > b->used : a->live > b->live;
}

/* One of two in a row; the first step stays by itself. */
static size_t halve(struct tare_training_mark *marks, size_t nr)
{
	size_t kept = nr ? 1 : 0;

	for (size_t i = 1; i < nr; i += 2) {
		bool is_second = i + 1 < nr && has_more(&marks[i + 1], &marks[i]);

		marks[kept++] = marks[i + is_second];
	}
	return kept;
}

void tare_training_mark_step(struct tare_training_list *l, const struct tare_training_step *step, int64_t begin_ns)
{
	struct tare_training_mark mark = { .number = l->count,
		                               .begin_ns = begin_ns,
		                               .ns = step->figures[TARE_TRAINING_NS],
		                               .used = step->figures[TARE_TRAINING_USED],
		                               .live = step->figures[TARE_TRAINING_LIVE] };
	struct tare_training_mark *last = l->mark_nr ? &l->marks[l->mark_nr - 1] : NULL;

	if (!l->mark_stride)
		l->mark_stride = 1;
	/* Steps 2, 2 + stride, … begin a row of which one is kept. */
	if (last && mark.number > 2 && (mark.number - 2) % l->mark_stride) {
		if (has_more(&mark, last))
			*last = mark;
		return;
	}
	TARE_APPEND(l->marks, l->mark_nr, l->mark_cap) = mark;
	if (l->mark_nr <= KEPT)
		return;
	l->mark_nr = halve(l->marks, l->mark_nr);
	l->mark_stride *= 2;
}

TARE_COMPARATOR(by_begin, struct tare_training_mark, TARE_RISING(begin_ns))

void tare_training_marks(const struct tare_training_threads *at, size_t most, struct tare_arena *memory,
                         struct tare_training *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < at->count; i++)
		nr += at->items[i].lists[out->by].mark_nr;
	out->marks = tare_arena_alloc(memory, nr * sizeof(*out->marks) + 1);
	for (size_t i = 0; i < at->count; i++) {
		const struct tare_training_list *l = &at->items[i].lists[out->by];

		if (l->mark_nr)
			memcpy(out->marks + out->mark_nr, l->marks, l->mark_nr * sizeof(*l->marks));
		out->mark_nr += l->mark_nr;
	}
	TARE_SORT(out->marks, out->mark_nr, by_begin);
	while (out->mark_nr > most)
		out->mark_nr = halve(out->marks, out->mark_nr);
}
