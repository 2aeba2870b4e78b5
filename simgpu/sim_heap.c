/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuMemAlloc. As measured: up to suballoc_max bytes come out of pages of the device that small
 * allocations share, first fit, and a page goes back when its last allocation does. Anything larger
 * has pages of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct sim_block {
	struct sim_block *next, **link;
	struct sim_context *context;
	uint64_t start, offset;
	unsigned units, free_units;
	unsigned char taken[]; /* one per unit of suballoc_align bytes */
};

static struct sim_block *block_new(struct sim_context *context)
{
	unsigned units = (unsigned)(sim.profile.page / sim.profile.suballoc_align);
	struct sim_block *block = calloc(1, sizeof(*block) + units);

	if (!block)
		return NULL;
	block->start = sim_backing_map(sim.profile.page, &block->offset);
	if (!block->start) {
		free(block);
		return NULL;
	}
	block->context = context;
	block->units = block->free_units = units;
	block->next = context->blocks;
	block->link = &context->blocks;
	if (block->next)
		block->next->link = &block->next;
	context->blocks = block;
	return block;
}

static void block_delete(struct sim_block *block)
{
	sim_backing_unmap(block->start, sim.profile.page, block->offset);
	sim_context_give(block->context, sim.profile.page);
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

/* Blocks are listed newest first; the driver fills the oldest one first. */
static struct sim_block *find_block(struct sim_context *context, unsigned units, long *at)
{
	struct sim_block *block, *oldest = NULL;

	for (block = context->blocks; block; block = block->next) {
		long run = find_run(block, units);

		if (run < 0)
			continue;
		oldest = block;
		*at = run;
	}
	return oldest;
}

static CUresult alloc_small(struct sim_context *context, uint64_t size, struct sim_range **range)
{
	unsigned units = (unsigned)(sim_round_up(size, sim.profile.suballoc_align) / sim.profile.suballoc_align);
	long at = 0;
	struct sim_block *block = find_block(context, units, &at);

	if (!block) {
		if (sim_context_take(context, sim.profile.page) != CUDA_SUCCESS)
			return CUDA_ERROR_OUT_OF_MEMORY;
		block = block_new(context);
		if (!block) {
			sim_context_give(context, sim.profile.page);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
	}
	*range = sim_range_add(SIM_RANGE_HEAP, block->start + (uint64_t)at * sim.profile.suballoc_align, size);
	if (!*range) {
		if (block->free_units == block->units)
			block_delete(block);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	memset(block->taken + at, 1, units);
	block->free_units -= units;
	(*range)->owner = block;
	(*range)->span = units * sim.profile.suballoc_align;
	return CUDA_SUCCESS;
}

static CUresult alloc_large(struct sim_context *context, uint64_t size, struct sim_range **range)
{
	uint64_t span = sim_round_up(size, sim.profile.page), start, offset = 0;

	if (span < size || sim_context_take(context, span) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	start = sim_backing_map(span, &offset);
	*range = start ? sim_range_add(SIM_RANGE_HEAP, start, size) : NULL;
	if (!*range) {
		if (start)
			sim_backing_unmap(start, span, offset);
		sim_context_give(context, span);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	(*range)->span = (*range)->charged = span;
	(*range)->offset = offset;
	return CUDA_SUCCESS;
}

CUresult sim_heap_alloc(struct sim_context *context, uint64_t size, struct sim_range **range)
{
	CUresult result = size <= sim.profile.suballoc_max ? alloc_small(context, size, range) :
							     alloc_large(context, size, range);

	if (result == CUDA_SUCCESS) {
		(*range)->context = context;
		(*range)->device = context->device;
	}
	return result;
}

void sim_heap_free(struct sim_range *range)
{
	struct sim_block *block = range->owner;

	if (block) {
		unsigned units = (unsigned)(range->span / sim.profile.suballoc_align);

		memset(block->taken + (range->start - block->start) / sim.profile.suballoc_align, 0, units);
		block->free_units += units;
		if (block->free_units == block->units)
			block_delete(block);
	} else {
		sim_backing_unmap(range->start, range->span, range->offset);
		sim_context_give(range->context, range->charged);
	}
	sim_range_remove(range);
}

uint64_t sim_heap_offset(const struct sim_range *range)
{
	const struct sim_block *block = range->owner;

	return block ? block->offset + (range->start - block->start) : range->offset;
}
