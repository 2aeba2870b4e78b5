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

/* With expandable segments a tight hole is better than the end of a segment that can grow. */
static struct tare_free_at rank(const struct tare_allocator *a, const struct tare_free_set *set,
				struct tare_free_at at, bool grows)
{
	uint32_t id = tare_free_set_at(set, at)->block;
	const struct tare_free_entry *next;

	if (!is_expandable(a, id))
		return at;
	if (!grows) {
		while ((next = tare_free_set_at(set, at)) && is_expandable(a, next->block))
			at = tare_free_set_next(set, at);
		return at;
	}
	while (is_expandable(a, id)) {
		struct tare_free_at behind = tare_free_set_next(set, at);

		next = tare_free_set_at(set, behind);
		if (!next || could_be(a, next->block) >= could_be(a, id))
			break;
		at = behind;
		id = next->block;
	}
	return at;
}

uint32_t tare_alloc_search(struct tare_allocator *a, struct tare_cache_pool *pool, unsigned stream,
			   uint64_t size, bool is_taken)
{
	struct tare_free_set *set = stream < pool->set_count ? pool->sets[stream] : NULL;
	const struct tare_free_entry *found;
	struct tare_free_at at;
	uint64_t max_split = a->settings.max_split;
	uint32_t id;

	pool->searches += is_taken;
	if (!set)
		return 0;
	at = tare_free_set_find(set, size);
	if (!tare_free_set_at(set, at))
		return 0;
	if (__builtin_expect(a->has_expandable, 0))
		at = rank(a, set, at, tare_cache_pool_is_expandable(a, pool));
	found = tare_free_set_at(set, at);
	if (!found)
		return 0;
	if (size < max_split && found->size >= max_split)
		return 0;
	if (size >= max_split && found->size >= size + a->settings.max_non_split_rounding)
		return 0;
	id = found->block;
	if (is_taken)
		tare_free_set_take(set, at);
	return id;
}
