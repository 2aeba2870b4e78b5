/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As measured: what is smaller than a page comes out of pages that small allocations share, first
 * fit, and a page goes back when its last allocation does. Anything else has pages of its own, and
 * nobody else gets what is left over in the last one.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct sim_block {
	struct sim_block *next, **link;
	uint64_t start, offset;
	unsigned units, free_units;
	unsigned char taken[]; /* one per unit of suballoc_align bytes */
};

/* Memory at the addresses that cuMemAlloc hands out, and back. 0: there is no room. */
static uint64_t map_pages(uint64_t size, uint64_t *offset)
{
	uint64_t at = sim_place_take(size);

	if (!at || sim_backing_map_at(at, size, offset))
		return at;
	sim_place_give(at, size);
	return 0;
}

static void unmap_pages(uint64_t start, uint64_t size, uint64_t offset)
{
	sim_place_give(start, size);
	sim_backing_punch(offset, size);
}

static struct sim_block *block_new(struct sim_block **heap)
{
	unsigned units = (unsigned)(sim.profile.page / sim.profile.suballoc_align);
	struct sim_block *block = calloc(1, sizeof(*block) + units), **end = heap;

	if (!block)
		return NULL;
	block->start = map_pages(sim.profile.page, &block->offset);
	if (!block->start) {
		free(block);
		return NULL;
	}
	block->units = block->free_units = units;
	/* Last: the oldest page with room is filled first. */
	while (*end)
		end = &(*end)->next;
	block->link = end;
	*end = block;
	return block;
}

static void block_delete(struct sim_block *block)
{
	unmap_pages(block->start, sim.profile.page, block->offset);
	*block->link = block->next;
	if (block->next)
		block->next->link = block->link;
	free(block);
}

/* The first run of `units` free units; -1: none that long. */
static long find_run(const struct sim_block *block, unsigned units)
{
	unsigned i, run = 0;

	for (i = 0; i < block->units && block->free_units >= units; i++) {
		run = block->taken[i] ? 0 : run + 1;
		if (run == units)
			return (long)(i + 1 - units);
	}
	return -1;
}

static struct sim_block *find_block(struct sim_context *context, struct sim_block **heap, unsigned units, long *at)
{
	struct sim_block *block;

	for (block = *heap; block; block = block->next) {
		*at = find_run(block, units);
		if (*at >= 0)
			return block;
	}
	*at = 0;
	if (sim_context_take(context, sim.profile.page) != CUDA_SUCCESS)
		return NULL;
	block = block_new(heap);
	if (!block)
		sim_context_give(context, sim.profile.page);
	return block;
}

static CUresult take_part(struct sim_context *context, struct sim_block **heap, uint64_t size, struct sim_piece *piece)
{
	uint64_t align = sim.profile.suballoc_align;
	unsigned units = (unsigned)(sim_round_up(size, align) / align);
	long at;

	piece->block = find_block(context, heap, units, &at);
	if (!piece->block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memset(piece->block->taken + at, 1, units);
	piece->block->free_units -= units;
	piece->start = piece->block->start + (uint64_t)at * align;
	piece->offset = sim_backing_part(piece->block->offset, (uint64_t)at * align);
	piece->span = units * align;
	return CUDA_SUCCESS;
}

CUresult sim_heap_take(struct sim_context *context, struct sim_block **heap, uint64_t size, struct sim_piece *piece)
{
	if (size < sim.profile.page)
		return take_part(context, heap, size, piece);
	piece->block = NULL;
	piece->span = sim_round_up(size, sim.profile.page);
	if (piece->span < size || sim_context_take(context, piece->span) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	piece->start = map_pages(piece->span, &piece->offset);
	if (piece->start)
		return CUDA_SUCCESS;
	sim_context_give(context, piece->span);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

void sim_heap_give(struct sim_context *context, struct sim_piece *piece)
{
	struct sim_block *block = piece->block;
	uint64_t align = sim.profile.suballoc_align;

	if (!block) {
		unmap_pages(piece->start, piece->span, piece->offset);
		sim_context_give(context, piece->span);
		return;
	}
	memset(block->taken + (piece->start - block->start) / align, 0, piece->span / align);
	block->free_units += (unsigned)(piece->span / align);
	if (block->free_units < block->units)
		return;
	block_delete(block);
	sim_context_give(context, sim.profile.page);
}

/* ---- allocations ---- */
CUresult sim_heap_alloc(struct sim_context *context, uint64_t size, struct sim_range **range)
{
	struct sim_piece piece;
	CUresult result = sim_heap_take(context, &context->heap, size, &piece);

	if (result != CUDA_SUCCESS)
		return result;
	*range = sim_range_add(SIM_RANGE_HEAP, piece.start, size);
	if (!*range) {
		sim_heap_give(context, &piece);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	(*range)->context = context;
	(*range)->device = context->device;
	(*range)->block = piece.block;
	(*range)->span = piece.span;
	(*range)->offset = piece.offset;
	return CUDA_SUCCESS;
}

void sim_heap_free(struct sim_range *range)
{
	struct sim_piece piece = { range->block, range->start, range->span, range->offset };

	sim_heap_give(range->context, &piece);
	sim_range_remove(range);
}
