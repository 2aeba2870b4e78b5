/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_STATE_H
#define TARE_ALLOCATOR_STATE_H

#include "allocator/allocator.h"
#include "allocator/free_set.h"

/*
 * What the files of this folder share; nobody else includes it. Numbers of 0 mean none: block 0 is taken for one in use, so that nothing
 * merges with it.
 */
enum tare_cache_block_flag {
	TARE_CACHE_USED = 1,
	TARE_CACHE_PENDING = 2,  /* freed, and not completed */
	TARE_CACHE_SHARED = 4,   /* another stream uses it */
	TARE_CACHE_UNMAPPED = 8, /* addresses without memory */
};

struct tare_cache_segment {
	uint64_t base, size;
	uint64_t serial; /* how many there were before it */
	uint32_t first;  /* its first block; 0: it is gone */
	uint16_t pool, stream;
	bool is_expandable;
	uint64_t page;  /* of an expandable one */
	uint32_t spare; /* of one that is gone: the next such */
};

/* A pool has free blocks by stream. Pool n of the caller is two of them: small and large. */
struct tare_cache_pool {
	struct tare_free_set **sets; /* by stream; NULL: none was ever free */
	size_t set_count;
	uint32_t *unmapped; /* blocks without memory, of all streams, by address */
	size_t unmapped_count, unmapped_cap;
	uint64_t searches;
	bool is_small;
	unsigned owner;
};

struct tare_cache_owner {
	bool is_private;
	uint64_t released; /* the how-manieth that was released; 0: it was not */
};

struct tare_allocator {
	struct tare_alloc_settings settings;
	struct tare_alloc_rules rules;
	struct tare_alloc_driver driver;
	struct tare_alloc_stats stats;
	uint64_t limit;
	struct tare_cache_block *blocks;
	size_t block_count, block_cap;
	uint32_t spare_block; /* the first of a list by `next` */
	struct tare_cache_segment *segments;
	size_t segment_count, segment_cap;
	uint32_t spare_segment;
	uint64_t serial;
	struct tare_cache_pool *pools; /* 2 × owner + (large ? 1 : 0) */
	size_t pool_count, pool_cap;
	struct tare_cache_owner *owners;
	size_t owner_count, owner_cap;
	uint64_t *streams;
	size_t stream_count, stream_cap;
	unsigned *by_handle; /* streams in the order of handles */
	uint32_t *pending;
	size_t pending_count, pending_cap;
	uint64_t releases;
	uint32_t put; /* the block that was put into it last */
	bool has_expandable;
};

static inline struct tare_cache_pool *tare_cache_pool_of(const struct tare_allocator *a,
                                                         const struct tare_cache_segment *segment)
{
	return &a->pools[segment->pool];
}

static inline struct tare_free_set *tare_cache_set_of(const struct tare_cache_pool *pool, unsigned stream)
{
	return stream < pool->set_count ? pool->sets[stream] : NULL;
}

static inline bool tare_cache_block_is_free(const struct tare_cache_block *b)
{
	return !(b->flags & (TARE_CACHE_USED | TARE_CACHE_PENDING | TARE_CACHE_SHARED));
}

/* Whether requests of this pool are served by expandable segments. */
static inline bool tare_cache_pool_is_expandable(const struct tare_allocator *a, const struct tare_cache_pool *pool)
{
	return a->settings.is_expandable && !(pool->owner && a->rules.is_private_plain);
}

/* release.c: the free blocks of a pool that have memory, stream by stream, smallest first; for free(). */
uint32_t *tare_cache_free_blocks(const struct tare_allocator *a, const struct tare_cache_pool *pool, size_t *count);
/* block.c */
void tare_cache_more_blocks(struct tare_allocator *a);
/* The first block of a segment that does not end before `address`; 0: there is none. */
uint32_t tare_cache_block_at(const struct tare_allocator *a, uint32_t segment, uint64_t address);
/* Out of a set goes the part of `id` that begins at `address`, which becomes a block of its own; its number. The rest stays. */
uint32_t tare_cache_block_cut_out(struct tare_allocator *a, uint32_t id, uint64_t address, uint64_t size);
/* A free block, in no set, takes in its neighbours that are free and have memory, or have none, as it does. */
void tare_cache_block_merge_free(struct tare_allocator *a, uint32_t id);
/* Into and out of the free blocks, or of those without memory, of its pool. */
void tare_cache_block_insert(struct tare_allocator *a, uint32_t id);
void tare_cache_block_remove(struct tare_allocator *a, uint32_t id);
uint32_t tare_cache_segment_new(struct tare_allocator *a, const struct tare_cache_segment *segment, uint32_t flags);
void tare_cache_segment_drop(struct tare_allocator *a, uint32_t segment);
void tare_alloc_reserved(struct tare_allocator *a, uint64_t size);
void tare_alloc_returned(struct tare_allocator *a, uint64_t size);

/* search.c: the free block that a request gets; NULL: none. */
const struct tare_free_entry *tare_alloc_search(const struct tare_allocator *a, const struct tare_cache_pool *pool,
                                                unsigned stream, uint64_t size);

/* grow.c: memory from the driver, after all else was tried. */
uint32_t tare_alloc_grow(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t size);

/* gc.c, release.c */
void tare_alloc_collect(struct tare_allocator *a);
bool tare_alloc_release_enough(struct tare_allocator *a, struct tare_cache_pool *pool, unsigned stream, uint64_t size);
void tare_alloc_release_block(struct tare_allocator *a, uint32_t id);
void tare_alloc_release_all(struct tare_allocator *a);

/* expandable.c */
uint32_t tare_alloc_expand(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t size);
void tare_alloc_unmap(struct tare_allocator *a, uint32_t id);

/* free.c */
void tare_alloc_complete_all(struct tare_allocator *a);

#endif
