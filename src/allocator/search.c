/* SPDX-License-Identifier: Apache-2.0 */
/* The best fit among the free blocks of a pool and a stream: one candidate only. */
#include "allocator/state.h"

static bool is_expandable(const struct tare_allocator *a, uint32_t id)
{
	return a->segments[a->blocks[id].segment].is_expandable;
}

/* How many bytes a block could have if memory were mapped behind it. */
static uint64_t could_be(const struct tare_allocator *a, uint32_t id)
{
	const struct tare_cache_block *b = &a->blocks[id], *next = &a->blocks[b->next];

	return b->size + (b->next && next->flags & TARE_CACHE_UNMAPPED ? next->size : 0);
}

/* The first of at least `size` bytes that does not lie in an expandable segment; NULL: there is none. */
static const struct tare_free_entry *find_plain(const struct tare_allocator *a, const struct tare_free_set *set,
                                                uint64_t size)
{
	const struct tare_free_entry *found = NULL;

	for (uint32_t b = tare_free_set_from(set, tare_free_bin_of(size)); b < TARE_FREE_BINS && !found;
	     b = tare_free_set_from(set, b + 1)) {
		const struct tare_free_bin *bin = &set->bins[set->bin_at[b]];

		for (const struct tare_free_entry *e = bin->entries; e < bin->entries + bin->count; e++)
			if (e->size >= size && (!found || tare_free_is_less(e, found)) && !is_expandable(a, e->block))
				found = e;
	}
	return found;
}

/* With expandable segments a tight hole is better than the end of a segment that can grow. */
static const struct tare_free_entry *rank(const struct tare_allocator *a, const struct tare_free_set *set,
                                          const struct tare_free_entry *e, bool grows)
{
	const struct tare_free_entry *next;

	if (!grows)
		return is_expandable(a, e->block) ? find_plain(a, set, e->size) : e;
	/* What is behind it is as large at least: only a block that can grow is worse. */
	while (could_be(a, e->block) > e->size && is_expandable(a, e->block)) {
		next = tare_free_set_behind(set, e->size, e->order);
		if (!next || could_be(a, next->block) >= could_be(a, e->block))
			break;
		e = next;
	}
	return e;
}

const struct tare_free_entry *tare_alloc_search(const struct tare_allocator *a, const struct tare_cache_pool *pool,
                                                unsigned stream, uint64_t size)
{
	const struct tare_free_set *set = tare_cache_set_of(pool, stream);
	const struct tare_free_entry *found;
	uint64_t max_split = a->settings.max_split;

	if (!set)
		return NULL;
	found = tare_free_set_find(set, size);
	if (!found)
		return NULL;
	if (__builtin_expect(a->has_expandable, 0))
		found = rank(a, set, found, tare_cache_pool_is_expandable(a, pool));
	if (!found)
		return NULL;
	if (size < max_split && found->size >= max_split)
		return NULL;
	if (size >= max_split && found->size >= size + a->settings.max_non_split_rounding)
		return NULL;
	return found;
}
