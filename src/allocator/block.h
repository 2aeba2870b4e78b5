/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_BLOCK_H
#define TARE_ALLOCATOR_BLOCK_H

#include "allocator/state.h"
#include "base/array.h"

/* What each request and each free does with blocks: inline, for it is most of the work of a replay. */

/* What decides between free blocks of one size. */
static inline uint64_t tare_cache_block_order(const struct tare_allocator *a,
					      const struct tare_cache_block *b)
{
	const struct tare_cache_segment *segment = &a->segments[b->segment];

	if (!a->rules.is_oldest_first)
		return b->address;
	return segment->serial << 32 | (b->address - segment->base) / TARE_ALLOC_MIN_BLOCK;
}

/* A free block that has memory, into and out of the free blocks of its pool and stream. */
static inline void tare_cache_block_enter(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];
	const struct tare_cache_segment *segment = &a->segments[b->segment];

	b->since = tare_cache_pool_of(a, segment)->searches;
	tare_free_set_add(segment->set, b->size, tare_cache_block_order(a, b), id);
}

static inline void tare_cache_block_leave(struct tare_allocator *a, uint32_t id)
{
	const struct tare_cache_block *b = &a->blocks[id];

	tare_free_set_remove(a->segments[b->segment].set, b->size, tare_cache_block_order(a, b),
			     id);
}

static inline uint32_t tare_cache_block_new(struct tare_allocator *a,
					    const struct tare_cache_block *block)
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

static inline void tare_cache_block_drop(struct tare_allocator *a, uint32_t id)
{
	a->blocks[id].next = a->spare_block;
	a->blocks[id].flags = 0;
	a->blocks[id].segment = 0;
	a->spare_block = id;
}

/* A new block behind `id`, which is shortened to `size`; its number. Neither enters or leaves a set. */
static inline uint32_t tare_cache_block_split(struct tare_allocator *a, uint32_t id, uint64_t size)
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
	a->blocks[rest.next].previous = behind;
	return behind;
}

/* `id` takes in a neighbour, which is in no set. */
static inline void tare_cache_block_join(struct tare_allocator *a, uint32_t id, uint32_t neighbour)
{
	struct tare_cache_block *b = &a->blocks[id], *n = &a->blocks[neighbour];

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
		a->blocks[b->next].previous = id;
	}
	tare_cache_block_drop(a, neighbour);
}

#endif
