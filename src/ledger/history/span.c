/* SPDX-License-Identifier: Apache-2.0 */
/* When phases were open. Of a hundred thousand short ones in a row a picture shows one strip. */
#include "ledger/history/history.h"

#include "base/array.h"
#include "base/comparator.h"

enum { SPANS_MAX = 4096 };

/* Do the two spans lie so near each other that a picture would show them as one? */
static bool is_near(const struct tare_history_span *a, int64_t begin, int64_t end, int64_t width)
{
	return begin - a->end <= width && end - begin < 2 * width && (a->count > 1 || a->end - a->begin < 2 * width);
}

static bool merge(struct tare_history_part *s, const struct tare_phase_change *c, int64_t width)
{
	const uint64_t *last = tare_map_get(&s->last_of, c->known);
	struct tare_history_span *span = last ? &s->items[*last - 1] : NULL;

	if (!span || c->begin_ns < span->begin || !is_near(span, c->begin_ns, c->t, width))
		return false;
	if (span->end < c->t)
		span->end = c->t;
	span->count++;
	return true;
}

TARE_COMPARATOR(by_length, struct tare_history_span, TARE_FALLING_BY(it->end - it->begin) TARE_RISING(begin))

/* Makes room: keeps the longer half of the spans. */
static void shorten(struct tare_history_part *s)
{
	TARE_SORT(s->items, s->count, by_length);
	while (s->count > SPANS_MAX / 2)
		s->dropped += s->items[--s->count].count;
	tare_map_free(&s->last_of);
}

void tare_history_add_span(struct tare_history_part *s, const struct tare_fold *f, const struct tare_phase_change *c)
{
	if ((!f->history && !f->keeps_history) || merge(s, c, f->host.samples.width))
		return;
	if (s->count == SPANS_MAX)
		shorten(s);
	TARE_APPEND(s->items, s->count, s->cap) = (struct tare_history_span){
		.known = c->known, .name = c->name, .is_mark = c->is_mark, .begin = c->begin_ns, .end = c->t, .count = 1
	};
	*tare_map_put(&s->last_of, c->known, NULL) = s->count;
}

TARE_COMPARATOR(by_begin, struct tare_memory_history_span, TARE_RISING(begin_ns) TARE_FALLING(end_ns))

void tare_history_spans(const struct tare_history_part *s, struct tare_memory_history *out)
{
	out->spans = tare_arena_alloc(out->memory, s->count * sizeof(*out->spans) + 1);
	out->dropped = s->dropped;
	for (size_t i = 0; i < s->count; i++)
		out->spans[out->span_nr++] = (struct tare_memory_history_span){
			.name = tare_arena_strdup(out->memory, s->items[i].name),
			.begin_ns = s->items[i].begin,
			.end_ns = s->items[i].end,
			.count = s->items[i].count,
			.is_mark = s->items[i].is_mark,
		};
	TARE_SORT(out->spans, out->span_nr, by_begin);
}
