/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pools the segments were of that went back to the driver at once. A batch is in order: the default pool's large
 * segments, its small ones, then of each private pool that was released the small and the large ones; within each of these by
 * stream, size and address. Where the order begins anew, another pool begins.
 */
#include "replay/check_run.h"

struct batch {
	const struct tare_trace *t;
	bool is_private, is_small; /* what the last one was */
	uint64_t stream, size, address;
	bool has_last;
};

static bool is_behind(const struct batch *b, uint64_t stream, uint64_t size, uint64_t address)
{
	if (stream != b->stream)
		return stream > b->stream;
	return size != b->size ? size > b->size : address > b->address;
}

/* Whether this one is of another pool than the one before it. */
static bool begins_pool(const struct batch *b, bool is_small, bool is_ordered)
{
	if (!b->has_last)
		return false;
	if (is_small == b->is_small)
		return !is_ordered;
	return b->is_private ? is_small : b->is_small;
}

static bool is_next(struct batch *b, const struct tare_trace_event *e)
{
	uint64_t stream = b->t->streams[tare_trace_stream(e)], size = tare_trace_size(e);
	uint64_t address = tare_trace_address(b->t, e);
	bool is_small = size == TARE_ALLOC_SMALL_SEGMENT;
	bool begins = begins_pool(b, is_small, is_behind(b, stream, size, address));

	b->is_private |= begins;
	b->is_small = is_small;
	b->stream = stream;
	b->size = size;
	b->address = address;
	b->has_last = true;
	return begins;
}

/* The first of a batch's lives that is of a private pool tells those before it where they may belong, too. */
static void note_next_pool(struct tare_check_run *r, size_t first, size_t to, unsigned pool)
{
	for (size_t i = first; i < to; i++)
		if (!r->lives[i].pool)
			r->lives[i].next_pool = pool;
}

void tare_mend_guess_batches(struct tare_check_run *r)
{
	struct batch b = { .t = r->t };
	size_t first = 0;
	unsigned pool = 0;

	for (size_t i = 0; i < r->life_count; i++) {
		struct tare_life *life = &r->lives[i];

		if (!i || life->to != r->lives[i - 1].to + 1) {
			b = (struct batch){ .t = r->t };
			pool = 0;
			first = i;
		}
		if (is_next(&b, &r->d->events[life->to])) {
			pool = tare_mend_new_pool(r->t);
			note_next_pool(r, first, i, pool);
		}
		if (pool)
			tare_mend_set_pool(r, life, pool);
	}
}
