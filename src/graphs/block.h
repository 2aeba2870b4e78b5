/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of a mapping are handed out, while a capture is open. Offsets only; pure.
 *
 * Freed memory goes to later allocations of the same stream only: work on another stream of the
 * capture is not ordered after its last use.
 */
#ifndef TARE_GRAPHS_BLOCK_H
#define TARE_GRAPHS_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARE_BLOCK_ALIGN 512u

struct tare_gpu_block {
	uint64_t offset, bytes;
	uintptr_t stream;
	size_t item; /* number of the allocation, in order of asking; TARE_BLOCK_FREE: none */
};
#define TARE_BLOCK_FREE SIZE_MAX

/* One allocation as it happened: what the planner plans from. */
struct tare_item {
	uint64_t bytes;
	uint64_t born, died; /* counted in allocations and frees; UINT64_MAX: never freed */
	uintptr_t stream;
	uint64_t offset;
};

struct tare_gpu_blocks {
	struct tare_gpu_block *blocks; /* contiguous, in order of offset */
	size_t blocks_nr;
	struct tare_item *items;
	size_t items_nr;
	uint64_t clock;
	uint64_t high;                /* the largest end of any allocation so far */
	const struct tare_item *plan; /* where to put item i; NULL: decide now */
	size_t plan_nr;
	uint64_t floor; /* allocations that are not in the plan lie above this offset */
};

/* plan may be NULL; the plan stays the caller's. */
void tare_blocks_init(struct tare_gpu_blocks *blocks, const struct tare_item *plan, size_t plan_nr);
void tare_blocks_fini(struct tare_gpu_blocks *blocks);
/* 0, or -1: no host memory. */
int tare_blocks_alloc(struct tare_gpu_blocks *blocks, uint64_t bytes, uintptr_t stream, uint64_t *offset);
/* -1: no block in use begins there. */
int tare_blocks_free(struct tare_gpu_blocks *blocks, uint64_t offset);

#endif
