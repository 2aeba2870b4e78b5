/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the blocks of an allocator with their addresses, and checks that blocks and segments do not contradict each
 * other.
 */
#include "allocator/state.h"

uint64_t tare_alloc_address(const struct tare_allocator *a, uint32_t block)
{
	return a->blocks[block].address;
}

uint64_t tare_alloc_size(const struct tare_allocator *a, uint32_t block)
{
	return a->blocks[block].size;
}

static enum tare_alloc_state state_of(const struct tare_cache_block *b)
{
	if (b->flags & TARE_CACHE_USED)
		return TARE_ALLOC_USED;
	return b->flags & TARE_CACHE_PENDING ? TARE_ALLOC_PENDING : TARE_ALLOC_FREE;
}

void tare_alloc_layout(const struct tare_allocator *a, void (*tell)(void *arg, const struct tare_alloc_place *place),
                       void *arg)
{
	for (size_t s = 1; s < a->segment_count; s++) {
		const struct tare_cache_segment *segment = &a->segments[s];

		for (uint32_t id = segment->first; id; id = a->blocks[id].next) {
			const struct tare_cache_block *b = &a->blocks[id];
			struct tare_alloc_place place = {
				b->address,
				b->size,
				tare_cache_block_is_free(b) ? 0 : b->asked,
				state_of(b),
				a->pools[segment->pool].is_small,
				segment->is_expandable,
				segment->stream,
				a->pools[segment->pool].owner,
				(uint32_t)s,
			};

			if (!(b->flags & TARE_CACHE_UNMAPPED))
				tell(arg, &place);
		}
	}
}

static const char *check_block(const struct tare_allocator *a, uint32_t id)
{
	const struct tare_cache_block *b = &a->blocks[id], *next = &a->blocks[b->next];

	if (!b->size)
		return "a block is empty";
	if (!b->flags && !tare_free_set_has(b->set, b->size, b->slot, id))
		return "a free block is not where it says among the free ones";
	if (!b->next)
		return NULL;
	if (next->previous != id || next->segment != b->segment)
		return "neighbours do not know each other";
	if (b->address + b->size != next->address)
		return "there is a gap between blocks";
	if (tare_cache_block_is_free(b) && tare_cache_block_is_free(next) &&
	    (b->flags & TARE_CACHE_UNMAPPED) == (next->flags & TARE_CACHE_UNMAPPED))
		return "two free blocks are neighbours";
	return NULL;
}

const char *tare_alloc_check(const struct tare_allocator *a)
{
	uint64_t reserved = 0, allocated = 0, active = 0;

	for (size_t s = 1; s < a->segment_count; s++) {
		uint64_t sum = 0;

		for (uint32_t id = a->segments[s].first; id; id = a->blocks[id].next) {
			const struct tare_cache_block *b = &a->blocks[id];
			const char *wrong = check_block(a, id);

			if (wrong)
				return wrong;
			sum += b->size;
			reserved += b->flags & TARE_CACHE_UNMAPPED ? 0 : b->size;
			allocated += b->flags & TARE_CACHE_USED ? b->size : 0;
			active += tare_cache_block_is_free(b) ? 0 : b->size;
		}
		if (a->segments[s].first && sum != a->segments[s].size)
			return "blocks do not fill their segment";
	}
	if (reserved != a->stats.reserved || allocated != a->stats.allocated || active != a->stats.active)
		return "sums of blocks are not what was counted";
	return NULL;
}
