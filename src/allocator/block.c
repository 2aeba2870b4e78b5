/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks and segments: how they begin, are split, merge and end. */
#include "allocator/state.h"

#include "base/array.h"

uint32_t tare_cache_block_new(struct tare_allocator *a, const struct tare_cache_block *block)
{
	uint32_t id = a->spare_block;

	if (id) {
		a->spare_block = a->blocks[id].next;
	} else {
		a->blocks = tare_array_reserve(a->blocks, &a->block_cap, a->block_count + 1,
					       sizeof(*a->blocks));
		id = (uint32_t)a->block_count++;
	}
	a->blocks[id] = *block;
	return id;
}

void tare_cache_block_drop(struct tare_allocator *a, uint32_t id)
{
	a->blocks[id].next = a->spare_block;
	a->blocks[id].flags = 0;
	a->blocks[id].segment = 0;
	a->spare_block = id;
}

uint32_t tare_cache_block_split(struct tare_allocator *a, uint32_t id, uint64_t size)
{
	struct tare_cache_block rest = a->blocks[id], *b;
	uint32_t behind;

	rest.address += size;
	rest.size -= size;
	rest.previous = id;
	rest.asked = 0;
	behind = tare_cache_block_new(a, &rest);
	b = &a->blocks[id];
	b->size = size;
	b->next = behind;
	if (rest.next)
		a->blocks[rest.next].previous = behind;
	return behind;
}

uint32_t tare_cache_block_cut_out(struct tare_allocator *a, uint32_t id, uint64_t address,
				  uint64_t size)
{
	tare_cache_block_remove(a, id);
	if (address > a->blocks[id].address) {
		uint32_t behind = tare_cache_block_split(a, id, address - a->blocks[id].address);

		tare_cache_block_insert(a, id);
		id = behind;
	}
	if (a->blocks[id].size > size)
		tare_cache_block_insert(a, tare_cache_block_split(a, id, size));
	return id;
}

void tare_cache_block_merge(struct tare_allocator *a, uint32_t id, uint32_t neighbour)
{
	struct tare_cache_block *b = &a->blocks[id], *n = &a->blocks[neighbour];

	tare_cache_block_remove(a, neighbour);
	b->size += n->size;
	if (b->previous == neighbour) {
		b->address = n->address;
		b->previous = n->previous;
		if (b->previous)
			a->blocks[b->previous].next = id;
		else
			a->segments[b->segment].first = id;
	} else {
		b->next = n->next;
		if (b->next)
			a->blocks[b->next].previous = id;
	}
	tare_cache_block_drop(a, neighbour);
}

static bool merges(const struct tare_allocator *a, const struct tare_cache_block *b,
		   uint32_t neighbour)
{
	const struct tare_cache_block *n = &a->blocks[neighbour];

	return neighbour && tare_cache_block_is_free(n) &&
	       (b->flags & TARE_CACHE_UNMAPPED) == (n->flags & TARE_CACHE_UNMAPPED);
}

void tare_cache_block_merge_free(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];

	if (merges(a, b, b->previous))
		tare_cache_block_merge(a, id, b->previous);
	if (merges(a, b, b->next))
		tare_cache_block_merge(a, id, b->next);
}

/* What decides between free blocks of one size. */
static uint64_t order_of(const struct tare_allocator *a, const struct tare_cache_block *b)
{
	const struct tare_cache_segment *segment = &a->segments[b->segment];

	if (!a->rules.is_oldest_first)
		return b->address;
	return segment->serial << 32 | (b->address - segment->base) / TARE_ALLOC_MIN_BLOCK;
}

static struct tare_free_set *set_of(struct tare_cache_pool *pool, unsigned stream)
{
	if (stream >= pool->set_count) {
		pool->sets =
			tare_array_widen(pool->sets, pool->set_count, stream, sizeof(*pool->sets));
		pool->set_count = stream + 1;
	}
	if (!pool->sets[stream])
		pool->sets[stream] = tare_xcalloc(1, sizeof(*pool->sets[stream]));
	return pool->sets[stream];
}

/* Where a block is, or belongs, among those without memory. */
static size_t unmapped_at(const struct tare_allocator *a, const struct tare_cache_pool *pool,
			  uint64_t address)
{
	size_t at = 0;

	while (at < pool->unmapped_count && a->blocks[pool->unmapped[at]].address < address)
		at++;
	return at;
}

void tare_cache_block_insert(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];
	struct tare_cache_segment *segment = &a->segments[b->segment];
	struct tare_cache_pool *pool = tare_cache_pool_of(a, segment);
	size_t at;

	if (!(b->flags & TARE_CACHE_UNMAPPED)) {
		b->since = pool->searches;
		tare_free_set_add(set_of(pool, segment->stream), b->size, order_of(a, b), id);
		return;
	}
	pool->unmapped = tare_array_reserve(pool->unmapped, &pool->unmapped_cap,
					    pool->unmapped_count + 1, sizeof(*pool->unmapped));
	at = unmapped_at(a, pool, b->address);
	memmove(&pool->unmapped[at + 1], &pool->unmapped[at],
		(pool->unmapped_count++ - at) * sizeof(*pool->unmapped));
	pool->unmapped[at] = id;
}

void tare_cache_block_remove(struct tare_allocator *a, uint32_t id)
{
	const struct tare_cache_block *b = &a->blocks[id];
	const struct tare_cache_segment *segment = &a->segments[b->segment];
	struct tare_cache_pool *pool = tare_cache_pool_of(a, segment);
	size_t at;

	if (!(b->flags & TARE_CACHE_UNMAPPED)) {
		tare_free_set_remove(pool->sets[segment->stream], b->size, order_of(a, b));
		return;
	}
	at = unmapped_at(a, pool, b->address);
	memmove(&pool->unmapped[at], &pool->unmapped[at + 1],
		(--pool->unmapped_count - at) * sizeof(*pool->unmapped));
}

/* The place of one that is gone, or a new one. */
static uint32_t segment_place(struct tare_allocator *a)
{
	uint32_t at = a->spare_segment;

	if (at) {
		a->spare_segment = a->segments[at].spare;
		return at;
	}
	a->segments = tare_array_reserve(a->segments, &a->segment_cap, a->segment_count + 1,
					 sizeof(*a->segments));
	return (uint32_t)a->segment_count++;
}

uint32_t tare_cache_segment_new(struct tare_allocator *a, const struct tare_cache_segment *segment,
				uint32_t flags)
{
	uint32_t at = segment_place(a), id;
	struct tare_cache_block block = {
		.address = segment->base, .size = segment->size, .segment = at, .flags = flags
	};

	a->segments[at] = *segment;
	a->segments[at].serial = a->serial++;
	id = tare_cache_block_new(a, &block);
	a->segments[at].first = id;
	return id;
}

void tare_cache_segment_drop(struct tare_allocator *a, uint32_t segment)
{
	a->segments[segment].first = 0;
	a->segments[segment].spare = a->spare_segment;
	a->spare_segment = segment;
}

void tare_alloc_reserved(struct tare_allocator *a, uint64_t size)
{
	struct tare_alloc_stats *s = &a->stats;

	s->driver_allocs++;
	s->reserved += size;
	if (s->reserved < s->peak_reserved)
		return;
	if (s->reserved > s->peak_reserved || s->allocated < s->allocated_at_peak)
		s->allocated_at_peak = s->allocated;
	s->peak_reserved = s->reserved;
}

void tare_alloc_returned(struct tare_allocator *a, uint64_t size)
{
	a->stats.driver_frees++;
	a->stats.reserved -= size;
}
