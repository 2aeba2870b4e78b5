/* SPDX-License-Identifier: Apache-2.0 */
/* A block that is given back: at once, or when the streams that use it are done. */
#include "allocator/block.h"

static inline void merge(struct tare_allocator *a, uint32_t id, uint32_t neighbour)
{
	if (a->blocks[neighbour].flags)
		return;
	tare_cache_block_leave(a, neighbour);
	tare_cache_block_join(a, id, neighbour);
}

static inline void give_back(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];

	a->stats.active -= b->size;
	b->flags = 0;
	merge(a, id, b->previous);
	merge(a, id, b->next);
	tare_cache_block_enter(a, id);
}

void tare_alloc_free(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block *b = &a->blocks[id];

	if (!id || !(b->flags & TARE_CACHE_USED))
		return;
	a->stats.allocated -= b->size;
	if (!(b->flags & TARE_CACHE_SHARED)) {
		give_back(a, id);
		return;
	}
	b->flags = TARE_CACHE_PENDING;
	TARE_APPEND(a->pending, a->pending_count, a->pending_cap) = id;
}

void tare_alloc_record_stream(struct tare_allocator *a, uint32_t id, unsigned stream)
{
	struct tare_cache_block *b = &a->blocks[id];

	if (id && b->flags & TARE_CACHE_USED && a->segments[b->segment].stream != stream)
		b->flags |= TARE_CACHE_SHARED;
}

void tare_alloc_complete(struct tare_allocator *a, uint32_t id)
{
	for (size_t i = 0; i < a->pending_count; i++)
		if (a->pending[i] == id) {
			memmove(&a->pending[i], &a->pending[i + 1], (--a->pending_count - i) * sizeof(*a->pending));
			give_back(a, id);
			return;
		}
}

/* As if the allocator had waited for all streams. */
void tare_alloc_complete_all(struct tare_allocator *a)
{
	for (size_t i = 0; i < a->pending_count; i++)
		give_back(a, a->pending[i]);
	a->pending_count = 0;
}
