/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_ALLOCATOR_H
#define TARE_ALLOCATOR_ALLOCATOR_H

#include "allocator/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * PyTorch's caching allocator of one device as a library: requests go in, calls of the driver and the layout of
 * blocks come out. It touches no GPU and no memory but its own. The same requests with the same answers of the driver
 * give the same addresses that PyTorch gives.
 *
 *     struct tare_allocator *a = tare_alloc_new(&settings, &rules, &driver);
 *     unsigned stream = tare_alloc_stream(a, 0);
 *     uint32_t block = tare_alloc_malloc(a, 1000, stream, 0);   // 0: out of memory
 *     tare_alloc_free(a, block);
 *     tare_alloc_delete(a);
 *
 * A segment is what the driver gave, a block a part of one. Blocks lie in their segment without a gap. The number of a
 * block is good until it is free; what is free merges with its neighbours and loses its number.
 */
struct tare_allocator;

/* What the allocator asks of the driver. What can fail says so by false, for "out of memory". */
struct tare_alloc_driver {
	void *arg;
	bool (*alloc)(void *arg, uint64_t size, uint64_t *address);
	void (*free)(void *arg, uint64_t address, uint64_t size);
	/* Addresses without memory, for an expandable segment. */
	uint64_t (*reserve)(void *arg, uint64_t *size);
	bool (*map)(void *arg, uint64_t address, uint64_t size);
	void (*unmap)(void *arg, uint64_t address, uint64_t size);
	/*
	 * Whether another round of garbage collection begins, which would release these. NULL: by the limit.
	 * For a replay of what happened under a limit that is not known.
	 */
	bool (*collects)(void *arg, const uint64_t *addresses, size_t count);
	/*
	 * Whether garbage collection releases this one. NULL: what is older than the average. For a replay that
	 * begins in the middle of a run: how old what is there is, is not known.
	 */
	bool (*goes)(void *arg, uint64_t address);
};

struct tare_alloc_stats {
	uint64_t allocated, peak_allocated; /* bytes of blocks in use */
	uint64_t reserved, peak_reserved;   /* bytes from the driver */
	uint64_t active;                    /* in use, or waiting for a stream */
	uint64_t allocated_at_peak;         /* when reserved was at its peak, at its least */
	uint64_t driver_allocs, driver_frees;
	uint64_t retries, ooms;
};

struct tare_allocator *tare_alloc_new(const struct tare_alloc_settings *settings, const struct tare_alloc_rules *rules,
                                      const struct tare_alloc_driver *driver);
void tare_alloc_delete(struct tare_allocator *a);
const struct tare_alloc_stats *tare_alloc_stats(const struct tare_allocator *a);

/* The number of a stream, by its handle. Handles are compared where PyTorch does. */
unsigned tare_alloc_stream(struct tare_allocator *a, uint64_t handle);

/*
 * Private pools, as CUDA graphs and torch.cuda.MemPool have: 1 and up; 0 is the default pool. What a private pool has goes
 * back to the driver only after tare_alloc_pool_release. Between begin and end a graph is captured: until then
 * requests that run out release no cache of the device.
 */
unsigned tare_alloc_pool(struct tare_allocator *a);
void tare_alloc_pool_release(struct tare_allocator *a, unsigned pool);

/* torch.cuda.set_per_process_memory_fraction, as bytes. UINT64_MAX: none. */
void tare_alloc_set_limit(struct tare_allocator *a, uint64_t limit);

/* The number of the block, or 0: out of memory. `asked` of 0 bytes is 0, too, and no failure. */
uint32_t tare_alloc_malloc(struct tare_allocator *a, uint64_t asked, unsigned stream, unsigned pool);
#define TARE_ALLOC_ANY_STREAM UINT32_MAX /* for tare_alloc_record_stream: one that is not the block's own */
/* Whether a request would be served without the driver. */
bool tare_alloc_has(struct tare_allocator *a, uint64_t asked, unsigned stream, unsigned pool);
/* The address of the large block that a request would release first, with max_split_size_mb; 0: none. */
uint64_t tare_alloc_first_release(struct tare_allocator *a, uint64_t asked, unsigned stream, unsigned pool);
void tare_alloc_free(struct tare_allocator *a, uint32_t block);
/* A block that another stream uses is free only after its free is completed, too. */
void tare_alloc_record_stream(struct tare_allocator *a, uint32_t block, unsigned stream);
void tare_alloc_complete(struct tare_allocator *a, uint32_t block);
/* torch.cuda.empty_cache(). */
void tare_alloc_empty_cache(struct tare_allocator *a);

/* What was there before the first request. In the order of addresses within a segment. */
uint32_t tare_alloc_put_segment(struct tare_allocator *a, uint64_t address, uint64_t size, unsigned stream,
                                unsigned pool, bool is_small);
uint32_t tare_alloc_put_reservation(struct tare_allocator *a, uint64_t address, uint64_t size, unsigned stream,
                                    unsigned pool, bool is_small);
bool tare_alloc_put_mapped(struct tare_allocator *a, uint32_t segment, uint64_t address, uint64_t size);
/* Takes a part of what is free. 0: it is not free. */
uint32_t tare_alloc_put_block(struct tare_allocator *a, uint32_t segment, uint64_t address, uint64_t size,
                              uint64_t asked);

/* Calls of the driver and peaks are counted from here on. */
void tare_alloc_count_from_here(struct tare_allocator *a);

uint64_t tare_alloc_address(const struct tare_allocator *a, uint32_t block);
uint64_t tare_alloc_size(const struct tare_allocator *a, uint32_t block);

enum tare_alloc_state { TARE_ALLOC_FREE, TARE_ALLOC_USED, TARE_ALLOC_PENDING };

struct tare_alloc_place {
	uint64_t address, size;
	uint64_t asked; /* 0: it is free */
	enum tare_alloc_state state;
	bool is_small, is_expandable;
	unsigned stream, pool;
	uint32_t segment;
};

/* Every block that has memory, segment after segment; within one in the order of addresses. */
void tare_alloc_layout(const struct tare_allocator *a, void (*tell)(void *arg, const struct tare_alloc_place *place),
                       void *arg);
/* NULL, or what contradicts itself: a mistake in this library. For tests. */
const char *tare_alloc_check(const struct tare_allocator *a);

#endif
