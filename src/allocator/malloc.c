/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves a request: finds a free block or asks the driver for a segment, and splits off what the request does not
 * need.
 */
#include "allocator/block.h"

static struct tare_cache_pool *pool_for(struct tare_allocator *a, unsigned pool, uint64_t size)
{
	return &a->pools[2 * pool + (size > TARE_ALLOC_SMALL_MAX)];
}

/* Without a branch: small and large requests come in an order that no processor foresees. */
static bool should_split(const struct tare_allocator *a, const struct tare_cache_pool *pool, uint64_t block,
                         uint64_t size)
{
	bool is_any = pool->is_small | tare_cache_pool_is_expandable(a, pool);
	uint64_t least = is_any ? TARE_ALLOC_MIN_BLOCK : TARE_ALLOC_SMALL_MAX + 1;

	return (block - size >= least) & (is_any | (size < a->settings.max_split));
}

static void use(struct tare_allocator *a, uint32_t id, uint64_t asked)
{
	struct tare_alloc_stats *s = &a->stats;
	struct tare_cache_block *b = &a->blocks[id];

	b->flags = TARE_CACHE_USED;
	b->asked = asked;
	s->active += b->size;
	s->allocated += b->size;
	if (s->allocated > s->peak_allocated)
		s->peak_allocated = s->allocated;
}

uint32_t tare_alloc_malloc(struct tare_allocator *a, uint64_t asked, unsigned stream, unsigned pool)
{
	uint64_t size, got;
	struct tare_cache_pool *from;
	const struct tare_free_entry *found;
	uint32_t id;

	if (!asked)
		return 0;
	size = tare_alloc_round(&a->settings, &a->rules, asked);
	from = pool_for(a, pool, size);
	from->searches++;
	found = tare_alloc_search(a, from, stream, size);
	if (found) {
		id = found->block;
		got = found->size;
		tare_free_set_take(from->sets[stream], a->blocks, found);
	} else {
		id = tare_alloc_grow(a, pool, stream, size);
		if (!id) {
			a->stats.ooms++;
			return 0;
		}
		got = a->blocks[id].size;
	}
	if (should_split(a, from, got, size))
		tare_cache_block_enter(a, tare_cache_block_split(a, id, size));
	use(a, id, asked);
	return id;
}

bool tare_alloc_has(struct tare_allocator *a, uint64_t asked, unsigned stream, unsigned pool)
{
	uint64_t size = tare_alloc_round(&a->settings, &a->rules, asked);

	return tare_alloc_search(a, pool_for(a, pool, size), stream, size);
}

uint32_t tare_alloc_put_block(struct tare_allocator *a, uint32_t segment, uint64_t address, uint64_t size,
                              uint64_t asked)
{
	uint32_t id = tare_cache_block_at(a, segment, address);
	const struct tare_cache_block *b = &a->blocks[id];

	if (!id || address < b->address || !size || size > b->address + b->size - address || !tare_cache_block_is_free(b) ||
	    b->flags & TARE_CACHE_UNMAPPED)
		return 0;
	id = tare_cache_block_cut_out(a, id, address, size);
	use(a, id, asked);
	a->put = id;
	return id;
}
