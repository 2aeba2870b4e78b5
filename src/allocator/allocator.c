/* SPDX-License-Identifier: Apache-2.0 */
/* One allocator from begin to end: its streams, its pools, and what is put into it at the begin. */
#include "allocator/allocator.h"

#include "allocator/block.h"

#include <stdlib.h>

static unsigned add_owner(struct tare_allocator *a, bool is_private)
{
	unsigned owner = (unsigned)a->owner_count;

	TARE_APPEND(a->owners, a->owner_count, a->owner_cap) = (struct tare_cache_owner){ .is_private = is_private };
	a->pools = tare_array_reserve(a->pools, &a->pool_cap, a->pool_count + 2, sizeof(*a->pools));
	a->pools[a->pool_count++] = (struct tare_cache_pool){ .owner = owner, .is_small = true };
	a->pools[a->pool_count++] = (struct tare_cache_pool){ .owner = owner };
	return owner;
}

struct tare_allocator *tare_alloc_new(const struct tare_alloc_settings *settings, const struct tare_alloc_rules *rules,
                                      const struct tare_alloc_driver *driver)
{
	struct tare_allocator *a = tare_xcalloc(1, sizeof(*a));

	a->settings = *settings;
	a->rules = *rules;
	a->driver = *driver;
	a->limit = UINT64_MAX;
	a->segments = tare_array_reserve(NULL, &a->segment_cap, 1, sizeof(*a->segments));
	a->segments[a->segment_count++] = (struct tare_cache_segment){ 0 };
	tare_cache_block_new(a);
	a->blocks[0] = (struct tare_cache_block){ .flags = TARE_CACHE_USED };
	add_owner(a, false);
	return a;
}

void tare_alloc_delete(struct tare_allocator *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->pool_count; i++) {
		for (size_t j = 0; j < a->pools[i].set_count; j++)
			tare_free_set_delete(a->pools[i].sets[j]);
		free(a->pools[i].sets);
		free(a->pools[i].unmapped);
	}
	free(a->pools);
	free(a->owners);
	free(a->blocks);
	free(a->segments);
	free(a->streams);
	free(a->by_handle);
	free(a->pending);
	free(a);
}

const struct tare_alloc_stats *tare_alloc_stats(const struct tare_allocator *a)
{
	return &a->stats;
}

unsigned tare_alloc_stream(struct tare_allocator *a, uint64_t handle)
{
	size_t at;

	for (size_t i = 0; i < a->stream_count; i++)
		if (a->streams[i] == handle)
			return (unsigned)i;
	a->streams = tare_array_reserve(a->streams, &a->stream_cap, a->stream_count + 1, sizeof(*a->streams));
	a->by_handle = tare_xrealloc(a->by_handle, a->stream_count + 1, sizeof(*a->by_handle));
	for (at = a->stream_count; at && a->streams[a->by_handle[at - 1]] > handle; at--)
		a->by_handle[at] = a->by_handle[at - 1];
	a->by_handle[at] = (unsigned)a->stream_count;
	a->streams[a->stream_count] = handle;
	return (unsigned)a->stream_count++;
}

unsigned tare_alloc_pool(struct tare_allocator *a)
{
	return add_owner(a, true);
}

void tare_alloc_pool_release(struct tare_allocator *a, unsigned pool)
{
	if (a->owners[pool].is_private)
		a->owners[pool].released = ++a->releases;
}

void tare_alloc_set_limit(struct tare_allocator *a, uint64_t limit)
{
	a->limit = limit;
}

void tare_alloc_count_from_here(struct tare_allocator *a)
{
	struct tare_alloc_stats *s = &a->stats;

	s->driver_allocs = s->driver_frees = s->retries = s->ooms = 0;
	s->peak_allocated = s->allocated_at_peak = s->allocated;
	s->peak_reserved = s->reserved;
}

uint32_t tare_alloc_put_segment(struct tare_allocator *a, uint64_t address, uint64_t size, unsigned stream,
                                unsigned pool, bool is_small)
{
	struct tare_cache_segment segment = {
		.base = address, .size = size, .pool = (uint16_t)(2 * pool + !is_small), .stream = (uint16_t)stream
	};
	uint32_t id = tare_cache_segment_new(a, &segment, 0);

	tare_cache_block_insert(a, id);
	tare_alloc_reserved(a, size);
	return a->blocks[id].segment;
}

uint32_t tare_alloc_put_reservation(struct tare_allocator *a, uint64_t address, uint64_t size, unsigned stream,
                                    unsigned pool, bool is_small)
{
	struct tare_cache_segment segment = {
		.base = address,
		.size = size,
		.is_expandable = true,
		.pool = (uint16_t)(2 * pool + !is_small),
		.stream = (uint16_t)stream,
		.page = is_small ? TARE_ALLOC_SMALL_SEGMENT : a->settings.large_segment,
	};
	uint32_t id = tare_cache_segment_new(a, &segment, TARE_CACHE_UNMAPPED);

	a->has_expandable = true;
	tare_cache_block_insert(a, id);
	return a->blocks[id].segment;
}

bool tare_alloc_put_mapped(struct tare_allocator *a, uint32_t segment, uint64_t address, uint64_t size)
{
	uint32_t id = tare_cache_block_at(a, segment, address);
	const struct tare_cache_block *b = &a->blocks[id];

	if (!id || !(b->flags & TARE_CACHE_UNMAPPED) || address < b->address || !size ||
	    size > b->address + b->size - address)
		return false;
	id = tare_cache_block_cut_out(a, id, address, size);
	a->blocks[id].flags = 0;
	tare_cache_block_merge_free(a, id);
	tare_cache_block_insert(a, id);
	a->put = id;
	tare_alloc_reserved(a, size);
	return true;
}
