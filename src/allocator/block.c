/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks and segments: how they begin, are split, merge and end. */
#include "allocator/block.h"

/* Room for twice as many blocks. */
void tare_cache_more_blocks(struct tare_allocator *a)
{
	size_t cap = a->block_cap ? 2 * a->block_cap : 16;

	a->blocks = tare_xrealloc_lines(a->blocks, a->block_cap, cap, sizeof(*a->blocks));
	a->block_cap = cap;
}

/* What is put into a segment comes in the order of addresses: it lies behind what came before. */
uint32_t tare_cache_block_at(const struct tare_allocator *a, uint32_t segment, uint64_t address)
{
	const struct tare_cache_block *put = &a->blocks[a->put];
	bool is_behind = a->put && put->segment == segment && put->address <= address;
	uint32_t id = is_behind ? a->put : a->segments[segment].first;

	while (id && a->blocks[id].address + a->blocks[id].size <= address)
		id = a->blocks[id].next;
	return id;
}

uint32_t tare_cache_block_cut_out(struct tare_allocator *a, uint32_t id, uint64_t address, uint64_t size)
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

static bool merges(const struct tare_allocator *a, uint32_t id, uint32_t neighbour)
{
	return a->blocks[neighbour].flags == a->blocks[id].flags;
}

static void merge(struct tare_allocator *a, uint32_t id, uint32_t neighbour)
{
	tare_cache_block_remove(a, neighbour);
	tare_cache_block_join(a, id, neighbour);
}

void tare_cache_block_merge_free(struct tare_allocator *a, uint32_t id)
{
	if (merges(a, id, a->blocks[id].previous))
		merge(a, id, a->blocks[id].previous);
	if (merges(a, id, a->blocks[id].next))
		merge(a, id, a->blocks[id].next);
}

static struct tare_free_set *set_of(struct tare_allocator *a, unsigned at, unsigned stream)
{
	struct tare_cache_pool *pool = &a->pools[at];

	if (stream >= pool->set_count) {
		pool->sets = tare_array_widen(pool->sets, pool->set_count, stream, sizeof(*pool->sets));
		pool->set_count = stream + 1;
	}
	if (!pool->sets[stream])
		pool->sets[stream] = tare_free_set_new(at);
	return pool->sets[stream];
}

/* Where a block is, or belongs, among those without memory. */
static size_t unmapped_at(const struct tare_allocator *a, const struct tare_cache_pool *pool, uint64_t address)
{
	size_t at = 0;

	while (at < pool->unmapped_count && a->blocks[pool->unmapped[at]].address < address)
		at++;
	return at;
}

void tare_cache_block_insert(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];
	struct tare_cache_pool *pool = tare_cache_pool_of(a, &a->segments[b->segment]);
	size_t at;

	if (!(b->flags & TARE_CACHE_UNMAPPED)) {
		tare_cache_block_enter(a, id);
		return;
	}
	pool->unmapped =
		tare_array_reserve(pool->unmapped, &pool->unmapped_cap, pool->unmapped_count + 1, sizeof(*pool->unmapped));
	at = unmapped_at(a, pool, b->address);
	memmove(&pool->unmapped[at + 1], &pool->unmapped[at], (pool->unmapped_count++ - at) * sizeof(*pool->unmapped));
	pool->unmapped[at] = id;
}

void tare_cache_block_remove(struct tare_allocator *a, uint32_t id)
{
	const struct tare_cache_block *b = &a->blocks[id];
	struct tare_cache_pool *pool = tare_cache_pool_of(a, &a->segments[b->segment]);
	size_t at;

	if (!(b->flags & TARE_CACHE_UNMAPPED)) {
		tare_cache_block_leave(a, id);
		return;
	}
	/* A damaged file can have several at one address. */
	for (at = unmapped_at(a, pool, b->address); pool->unmapped[at] != id;)
		at++;
	memmove(&pool->unmapped[at], &pool->unmapped[at + 1], (--pool->unmapped_count - at) * sizeof(*pool->unmapped));
}

/* The place of one that is gone, or a new one. */
static uint32_t segment_place(struct tare_allocator *a)
{
	uint32_t at = a->spare_segment;

	if (at) {
		a->spare_segment = a->segments[at].spare;
		return at;
	}
	a->segments = tare_array_reserve(a->segments, &a->segment_cap, a->segment_count + 1, sizeof(*a->segments));
	return (uint32_t)a->segment_count++;
}

uint32_t tare_cache_segment_new(struct tare_allocator *a, const struct tare_cache_segment *segment, uint32_t flags)
{
	uint32_t at = segment_place(a), id;

	a->segments[at] = *segment;
	a->segments[at].serial = a->serial++;
	id = tare_cache_block_new(a);
	a->blocks[id] = (struct tare_cache_block){ .address = segment->base,
		                                       .size = segment->size,
		                                       .segment = at,
		                                       .flags = flags,
		                                       .set = set_of(a, segment->pool, segment->stream) };
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
