/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_BLOCK_H
#define TARE_ALLOCATOR_BLOCK_H

#include "allocator/state.h"
#include "base/array.h"

/* What each request and each free does with blocks: inline, for it is most of the work of a replay. */

/* What decides between free blocks of one size. */
static inline uint64_t tare_cache_block_order(const struct tare_allocator *a, const struct tare_cache_block *b)
{
	const struct tare_cache_segment *segment;

	if (!a->rules.is_oldest_first)
		return b->address;
	segment = &a->segments[b->segment];
	return segment->serial << 32 | (b->address - segment->base) / TARE_ALLOC_MIN_BLOCK;
}

/* A free block that has memory, into and out of the free blocks of its pool and stream. */
static inline void tare_cache_block_enter(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];

	b->since = a->pools[b->set->pool].searches;
	tare_free_set_add(b->set, a->blocks, id, tare_cache_block_order(a, b));
}

static inline void tare_cache_block_leave(struct tare_allocator *a, uint32_t id)
{
	const struct tare_cache_block *b = &a->blocks[id];

	tare_free_set_remove(b->set, a->blocks, b->size, b->slot);
}

/* The number of a new block, of which nothing is said yet. */
static inline uint32_t tare_cache_block_new(struct tare_allocator *a)
{
	uint32_t id = a->spare_block;

	if (id) {
		a->spare_block = a->blocks[id].next;
	} else {
		if (a->block_count == a->block_cap)
			tare_cache_more_blocks(a);
		id = (uint32_t)a->block_count++;
	}
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
	uint32_t behind = tare_cache_block_new(a), next = a->blocks[id].next;
	struct tare_cache_block *b = &a->blocks[id], *rest = &a->blocks[behind];

	rest->address = b->address + size;
	rest->size = b->size - size;
	rest->asked = 0;
	rest->set = b->set;
	rest->previous = id;
	rest->next = next;
	rest->segment = b->segment;
	rest->flags = b->flags;
	b->size = size;
	b->next = behind;
	a->blocks[next].previous = behind;
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
