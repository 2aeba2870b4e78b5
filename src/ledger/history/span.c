/* SPDX-License-Identifier: Apache-2.0 */
/* When phases were open. Of a hundred thousand short ones in a row a picture shows one strip. */
#include "ledger/fold.h"

#include "base/array.h"

#include <stdlib.h>

enum { SPANS_MAX = 4096 };

/* Do both lie so near each other that a picture would not show them as two? */
static bool is_near(const struct tare_span_fold *a, int64_t begin, int64_t end, int64_t width)
{
	return begin - a->end <= width && end - begin < 2 * width &&
	       (a->count > 1 || a->end - a->begin < 2 * width);
}

static bool merge(struct tare_fold *f, struct tare_spans *s, int known, int64_t begin, int64_t end)
{
	const uint64_t *last = tare_map_get(&s->last_of, (uint64_t)known);
	struct tare_span_fold *span = last ? &s->items[*last - 1] : NULL;

	if (!span || begin < span->begin || !is_near(span, begin, end, f->host.samples.width))
		return false;
	if (span->end < end)
		span->end = end;
	span->count++;
	return true;
}

static int by_length(const void *a, const void *b)
{
	const struct tare_span_fold *x = a, *y = b;
	int64_t n = x->end - x->begin, m = y->end - y->begin;

	return n != m ? (n < m ? 1 : -1) : x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* There is room for the longer half. */
static void shorten(struct tare_spans *s)
{
	qsort(s->items, s->count, sizeof(*s->items), by_length);
	while (s->count > SPANS_MAX / 2)
		s->dropped += s->items[--s->count].count;
	tare_map_free(&s->last_of);
}

void tare_fold_course_span(struct tare_fold *f, int known, int64_t begin, int64_t end)
{
	struct tare_spans *s = &f->spans;

	if (!f->course || merge(f, s, known, begin, end))
		return;
	if (s->count == SPANS_MAX)
		shorten(s);
	s->items = tare_array_reserve(s->items, &s->cap, s->count + 1, sizeof(*s->items));
	s->items[s->count++] = (struct tare_span_fold){ known, begin, end, 1 };
	*tare_map_put(&s->last_of, (uint64_t)known, NULL) = s->count;
}

static int by_begin(const void *a, const void *b)
{
	const struct tare_course_span *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns != y->end_ns ? (x->end_ns < y->end_ns ? 1 : -1) : 0;
}

void tare_fold_course_spans(struct tare_fold *f, struct tare_course *out)
{
	out->spans = tare_arena_alloc(out->memory, f->spans.count * sizeof(*out->spans) + 1);
	out->dropped = f->spans.dropped;
	for (size_t i = 0; i < f->spans.count; i++) {
		const struct tare_span_fold *from = &f->spans.items[i];
		const struct tare_phase_known *k = &f->phases.known[from->known];

		out->spans[out->span_nr++] = (struct tare_course_span){
			.name = tare_arena_strdup(out->memory, k->name),
			.begin_ns = from->begin,
			.end_ns = from->end,
			.count = from->count,
			.is_mark = k->what == TARE_PHASE_MARK,
		};
	}
	if (out->span_nr)
		qsort(out->spans, out->span_nr, sizeof(*out->spans), by_begin);
}

void tare_spans_free(struct tare_spans *s)
{
	free(s->items);
	tare_map_free(&s->last_of);
}
