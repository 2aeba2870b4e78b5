/* SPDX-License-Identifier: Apache-2.0 */
/* Segments that were released within a trace, and the pools they may have been of. */
#include "base/array.h"
#include "replay/check_run.h"

#define GUESSED (-1) /* a of the id of a pool that the file does not name */

static void add_life(struct tare_life **lives, size_t *count, size_t *cap, const struct tare_life *life)
{
	TARE_APPEND(*lives, *count, *cap) = *life;
}

/* Where the segment that is released by event `to` began. */
static struct tare_life life_of(const struct tare_trace *t, const struct tare_trace_device *d, size_t to)
{
	struct tare_life life = { .address = tare_trace_address(t, &d->events[to]),
		                      .size = tare_trace_size(&d->events[to]),
		                      .from = SIZE_MAX,
		                      .to = to };

	for (size_t i = to; i--;)
		if (tare_trace_kind(&d->events[i]) == TARE_TRACE_SEGMENT_ALLOC &&
		    tare_trace_address(t, &d->events[i]) == life.address) {
			life.from = i;
			return life;
		}
	for (size_t i = 0; i < d->start_segment_count; i++)
		if (d->start_segments[i].address == life.address)
			life.start = i;
	return life;
}

static bool is_guess(const struct tare_trace *t, unsigned pool)
{
	return !pool || t->pools[pool].a == GUESSED;
}

struct tare_life *tare_mend_find_lives(struct tare_trace *t, struct tare_trace_device *d, size_t *count)
{
	struct tare_life *lives = NULL;
	size_t cap = 0;

	*count = 0;
	for (size_t i = 0; i < d->count && !t->has_events_of_pools; i++)
		if (tare_trace_kind(&d->events[i]) == TARE_TRACE_SEGMENT_FREE && is_guess(t, tare_trace_pool(d, i))) {
			struct tare_life life = life_of(t, d, i);

			life.pool = tare_trace_pool(d, i);
			add_life(&lives, count, &cap, &life);
		}
	return lives;
}

void tare_mend_set_pool(struct tare_check_run *r, struct tare_life *life, unsigned pool)
{
	struct tare_trace_device *d = r->d;

	life->pool = pool;
	if (life->from == SIZE_MAX && d->start_segment_count)
		d->start_segments[life->start].pool = pool;
	for (size_t i = life->from == SIZE_MAX ? 0 : life->from; i <= life->to; i++) {
		const struct tare_trace_event *e = &d->events[i];
		uint64_t address = tare_trace_address(r->t, e);

		if (i == life->from || i == life->to ||
		    (tare_trace_kind(e) == TARE_TRACE_MALLOC && address >= life->address &&
		     address - life->address < life->size))
			tare_trace_set_pool(d, i, pool);
	}
}

unsigned tare_mend_new_pool(struct tare_trace *t)
{
	t->pools = tare_array_reserve(t->pools, &t->pool_cap, t->pool_count + 1, sizeof(*t->pools));
	t->pools[t->pool_count] = (struct tare_snapshot_pool){ GUESSED, (int64_t)t->pool_count };
	return (unsigned)t->pool_count++;
}

unsigned tare_mend_last_pool(const struct tare_trace *t)
{
	return t->pool_count > 1 && t->pools[t->pool_count - 1].a == GUESSED ? (unsigned)t->pool_count - 1 : 0;
}
