/* SPDX-License-Identifier: Apache-2.0 */
/* What goes back to the driver: when memory runs out, and with empty_cache(). */
#include "allocator/block.h"

#include <stdlib.h>

/* A whole plain segment that is free, and still among the free blocks. */
void tare_alloc_release_block(struct tare_allocator *a, uint32_t id)
{
	struct tare_cache_block b = a->blocks[id];

	tare_cache_block_remove(a, id);
	a->driver.free(a->driver.arg, b.address, b.size);
	tare_alloc_returned(a, b.size);
	tare_cache_segment_drop(a, b.segment);
	tare_cache_block_drop(a, id);
}

static bool is_releasable(const struct tare_allocator *a, uint32_t id)
{
	const struct tare_cache_block *b = &a->blocks[id];

	return !a->segments[b->segment].is_expandable && !b->previous && !b->next;
}

/* The entry before this one; NULL: before the end of the set. */
static const struct tare_free_entry *before(const struct tare_free_set *set, const struct tare_free_entry *e)
{
	return tare_free_set_before(set, e ? e->size : UINT64_MAX, e ? e->order : UINT64_MAX);
}

/* With max_split_size_mb, blocks of that size and more are never split: each is a whole segment. */
bool tare_alloc_release_enough(struct tare_allocator *a, struct tare_cache_pool *pool, unsigned stream, uint64_t size)
{
	struct tare_free_set *set = tare_cache_set_of(pool, stream);
	uint64_t key = size > a->settings.max_split ? size : a->settings.max_split, released = 0;
	const struct tare_free_entry *e;
	uint32_t *ids = NULL;
	size_t count = 0, cap = 0;

	if (a->settings.max_split == UINT64_MAX || !set)
		return false;
	e = tare_free_set_find(set, key);
	if (e && is_releasable(a, e->block)) {
		tare_alloc_release_block(a, e->block);
		return true;
	}
	while (released < key && (e = before(set, e))) {
		if (e->size < a->settings.max_split)
			break;
		if (!is_releasable(a, e->block))
			continue;
		released += e->size;
		TARE_APPEND(ids, count, cap) = e->block;
	}
	for (size_t i = 0; i < count; i++)
		tare_alloc_release_block(a, ids[i]);
	free(ids);
	return released >= key;
}

uint64_t tare_alloc_first_release(struct tare_allocator *a, uint64_t asked, unsigned stream, unsigned pool)
{
	uint64_t size = tare_alloc_round(&a->settings, &a->rules, asked), max = a->settings.max_split;
	const struct tare_cache_pool *from = &a->pools[2 * pool + (size > TARE_ALLOC_SMALL_MAX)];
	struct tare_free_set *set = tare_cache_set_of(from, stream);
	const struct tare_free_entry *e;

	if (max == UINT64_MAX || !set)
		return 0;
	e = tare_free_set_find(set, size > max ? size : max);
	if (e && is_releasable(a, e->block))
		return a->blocks[e->block].address;
	while ((e = before(set, e))) {
		if (e->size < max)
			break;
		if (is_releasable(a, e->block))
			return a->blocks[e->block].address;
	}
	return 0;
}

uint32_t *tare_cache_free_blocks(const struct tare_allocator *a, const struct tare_cache_pool *pool, size_t *count)
{
	uint32_t *ids = NULL;
	size_t cap = 0;

	*count = 0;
	for (size_t i = 0; i < a->stream_count; i++) {
		unsigned stream = a->by_handle[i];
		struct tare_free_set *set = tare_cache_set_of(pool, stream);

		if (set)
			ids = tare_free_set_list(set, ids, count, &cap);
	}
	return ids;
}

/* Whole segments first, then what is free of expandable ones. */
static void release_pool(struct tare_allocator *a, const struct tare_cache_pool *pool)
{
	size_t count;
	uint32_t *ids = tare_cache_free_blocks(a, pool, &count);

	for (size_t i = 0; i < count; i++)
		if (is_releasable(a, ids[i])) {
			tare_alloc_release_block(a, ids[i]);
			ids[i] = 0;
		}
	for (size_t i = 0; i < count; i++)
		if (ids[i] && a->segments[a->blocks[ids[i]].segment].is_expandable)
			tare_alloc_unmap(a, ids[i]);
	free(ids);
}

/* The private pool that was released next after `after`; 0: none. */
static size_t next_released(const struct tare_allocator *a, uint64_t *after)
{
	size_t found = 0;

	for (size_t i = 1; i < a->owner_count; i++)
		if (a->owners[i].released > *after && (!found || a->owners[i].released < a->owners[found].released))
			found = i;
	*after = a->owners[found].released;
	return found;
}

void tare_alloc_release_all(struct tare_allocator *a)
{
	size_t owner;

	tare_alloc_complete_all(a);
	release_pool(a, &a->pools[1]);
	release_pool(a, &a->pools[0]);
	for (uint64_t after = 0; (owner = next_released(a, &after));) {
		release_pool(a, &a->pools[2 * owner]);
		release_pool(a, &a->pools[2 * owner + 1]);
	}
}

void tare_alloc_empty_cache(struct tare_allocator *a)
{
	tare_alloc_release_all(a);
}
