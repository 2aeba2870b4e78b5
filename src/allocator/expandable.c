/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expandable segments: addresses are reserved once, and memory is mapped and unmapped in pages. A block without memory
 * is a block with the flag UNMAPPED.
 */
#include "allocator/block.h"

#include "base/number.h"

/* Whether the blocks from `id` on, up to the first that is in use, have `size` bytes together. */
static bool has_room(const struct tare_allocator *a, uint32_t id, uint64_t size)
{
	uint64_t sum = 0;

	for (; id && sum < size && tare_cache_block_is_free(&a->blocks[id]); id = a->blocks[id].next)
		sum += a->blocks[id].size;
	return sum >= size;
}

static uint32_t reserve(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t least)
{
	struct tare_cache_segment segment = {
		.is_expandable = true,
		.pool = (uint16_t)pool,
		.stream = (uint16_t)stream,
		.page = a->pools[pool].is_small ? TARE_ALLOC_SMALL_SEGMENT : a->settings.large_segment,
	};
	uint32_t id;

	segment.size = segment.page;
	segment.base = a->driver.reserve(a->driver.arg, &segment.size);
	segment.size = tare_round_up(segment.size, segment.page);
	if (segment.size < least)
		segment.size = tare_round_up(least, segment.page);
	id = tare_cache_segment_new(a, &segment, TARE_CACHE_UNMAPPED);
	tare_cache_block_insert(a, id);
	a->has_expandable = true;
	return id;
}

/* The lowest place with room; a free block right before what has no memory is part of it. */
static uint32_t find_room(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t size)
{
	const struct tare_cache_pool *p = &a->pools[pool];

	for (size_t i = 0; i < p->unmapped_count; i++) {
		uint32_t id = p->unmapped[i], previous = a->blocks[id].previous;

		if (a->segments[a->blocks[id].segment].stream != stream)
			continue;
		if (previous && tare_cache_block_is_free(&a->blocks[previous]))
			id = previous;
		if (has_room(a, id, size))
			return id;
	}
	return reserve(a, pool, stream, size);
}

/* Memory for the first pages of a block that has none. */
static bool alloc_map(struct tare_allocator *a, uint32_t id, uint64_t size)
{
	struct tare_cache_block *b = &a->blocks[id];
	uint64_t page = a->segments[b->segment].page, address = b->address;

	size = tare_round_up(size, page);
	if (size > b->size)
		size = b->size;
	if (!a->driver.map(a->driver.arg, address, size))
		return false;
	tare_cache_block_remove(a, id);
	if (size < b->size)
		tare_cache_block_insert(a, tare_cache_block_split(a, id, size));
	a->blocks[id].flags &= ~(uint32_t)TARE_CACHE_UNMAPPED;
	tare_cache_block_merge_free(a, id);
	tare_cache_block_insert(a, id);
	tare_alloc_reserved(a, size);
	return true;
}

/* A free block of at least `size` bytes, out of its set. What was mapped before a failure stays, and is free. */
uint32_t tare_alloc_expand(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t size)
{
	uint32_t id = find_room(a, pool, stream, size);
	uint64_t part = a->blocks[id].size < size ? a->blocks[id].size : size;

	if (a->blocks[id].flags & TARE_CACHE_UNMAPPED && !alloc_map(a, id, part))
		return 0;
	while (a->blocks[id].size < size) {
		uint32_t next = a->blocks[id].next;
		uint64_t rest = size - a->blocks[id].size;

		if (!alloc_map(a, next, rest < a->blocks[next].size ? rest : a->blocks[next].size))
			return 0;
		id = next;
	}
	tare_cache_block_remove(a, id);
	return id;
}

/* The whole pages of a free block lose their memory. */
void tare_alloc_unmap(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];
	const struct tare_cache_segment *segment = &a->segments[b->segment];
	uint64_t page = segment->page;
	uint64_t begin = segment->base + tare_round_up(b->address - segment->base, page);
	uint64_t end = b->address + b->size - (b->address + b->size - segment->base) % page;

	if (begin >= end)
		return;
	a->driver.unmap(a->driver.arg, begin, end - begin);
	id = tare_cache_block_cut_out(a, id, begin, end - begin);
	b = &a->blocks[id];
	b->flags |= TARE_CACHE_UNMAPPED;
	tare_cache_block_merge_free(a, id);
	tare_alloc_returned(a, end - begin);
	if (!b->previous && !b->next) { /* nothing of the reservation has memory */
		tare_cache_segment_drop(a, b->segment);
		tare_cache_block_drop(a, id);
		return;
	}
	tare_cache_block_insert(a, id);
}
