/* SPDX-License-Identifier: Apache-2.0 */
/* Hands out bytes of a mapping while a capture is open. */
#include "graphs/block.h"

#include <stdlib.h>
#include <string.h>

void tare_blocks_init(struct tare_gpu_blocks *blocks, const struct tare_item *plan, size_t plan_nr)
{
	size_t i;

	memset(blocks, 0, sizeof(*blocks));
	blocks->plan = plan;
	blocks->plan_nr = plan_nr;
	for (i = 0; i < plan_nr; i++)
		if (plan[i].offset + plan[i].bytes > blocks->floor)
			blocks->floor = plan[i].offset + plan[i].bytes;
}

void tare_blocks_fini(struct tare_gpu_blocks *blocks)
{
	free(blocks->blocks);
	free(blocks->items);
	memset(blocks, 0, sizeof(*blocks));
}

static int make_room(void **array, size_t count, size_t size)
{
	void *more;

	if (count & (count - 1)) /* full only where count is a power of two */
		return 0;
	more = realloc(*array, (count ? count * 2 : 1) * size);
	if (!more)
		return -1;
	*array = more;
	return 0;
}

static void remove_at(struct tare_gpu_blocks *b, size_t at)
{
	memmove(&b->blocks[at], &b->blocks[at + 1], (b->blocks_nr - at - 1) * sizeof(*b->blocks));
	b->blocks_nr--;
}

static int insert_at(struct tare_gpu_blocks *b, size_t at, struct tare_gpu_block block)
{
	if (make_room((void **)&b->blocks, b->blocks_nr, sizeof(*b->blocks)))
		return -1;
	memmove(&b->blocks[at + 1], &b->blocks[at], (b->blocks_nr - at) * sizeof(*b->blocks));
	b->blocks[at] = block;
	b->blocks_nr++;
	return 0;
}

/* The smallest free block that is large enough; the lowest of equals. */
static size_t best_fit(const struct tare_gpu_blocks *b, uint64_t bytes, uintptr_t stream)
{
	size_t i, best = SIZE_MAX;

	for (i = 0; i < b->blocks_nr; i++) {
		const struct tare_gpu_block *block = &b->blocks[i];

		if (block->item != TARE_BLOCK_FREE || block->stream != stream || block->bytes < bytes)
			continue;
		if (best == SIZE_MAX || block->bytes < b->blocks[best].bytes)
			best = i;
	}
	return best;
}

static int take(struct tare_gpu_blocks *b, size_t at, uint64_t bytes)
{
	struct tare_gpu_block rest = b->blocks[at];

	rest.offset += bytes;
	rest.bytes -= bytes;
	if (rest.bytes && insert_at(b, at + 1, rest))
		return -1;
	b->blocks[at].bytes = bytes;
	b->blocks[at].item = b->items_nr;
	return 0;
}

/*
 * Takes the block at the end of the range: a free block of the stream there is enlarged, else a block is
 * added.
 */
static int extend(struct tare_gpu_blocks *b, uint64_t bytes, uintptr_t stream, size_t *at)
{
	struct tare_gpu_block *last = b->blocks_nr ? &b->blocks[b->blocks_nr - 1] : NULL;
	struct tare_gpu_block block = { b->floor, bytes, stream, b->items_nr };

	if (last && last->item == TARE_BLOCK_FREE && last->stream == stream) {
		last->bytes = bytes;
		last->item = b->items_nr;
		*at = b->blocks_nr - 1;
		return 0;
	}
	if (last)
		block.offset = last->offset + last->bytes;
	*at = b->blocks_nr;
	return insert_at(b, b->blocks_nr, block);
}

/* Is this allocation of the size that was rehearsed? Then it goes where the plan says. */
static bool follows_plan(const struct tare_gpu_blocks *b, uint64_t bytes)
{
	return b->items_nr < b->plan_nr && b->plan[b->items_nr].bytes == bytes;
}

int tare_blocks_alloc(struct tare_gpu_blocks *b, uint64_t bytes, uintptr_t stream, uint64_t *offset)
{
	struct tare_item item = { .born = b->clock, .died = UINT64_MAX, .stream = stream };
	size_t at;

	item.bytes = (bytes + TARE_BLOCK_ALIGN - 1) / TARE_BLOCK_ALIGN * TARE_BLOCK_ALIGN;
	if (item.bytes < bytes || make_room((void **)&b->items, b->items_nr, sizeof(*b->items)))
		return -1;
	if (follows_plan(b, item.bytes)) {
		item.offset = b->plan[b->items_nr].offset;
	} else {
		b->plan_nr = 0; /* from here on the plan does not hold */
		at = best_fit(b, item.bytes, stream);
		if (at != SIZE_MAX ? take(b, at, item.bytes) : extend(b, item.bytes, stream, &at))
			return -1;
		item.offset = b->blocks[at].offset;
	}
	b->clock++;
	b->items[b->items_nr++] = item;
	if (item.offset + item.bytes > b->high)
		b->high = item.offset + item.bytes;
	*offset = item.offset;
	return 0;
}

static void merge_with_next(struct tare_gpu_blocks *b, size_t at)
{
	struct tare_gpu_block *block = &b->blocks[at], *next = block + 1;

	if (at + 1 >= b->blocks_nr || block->item != TARE_BLOCK_FREE || next->item != TARE_BLOCK_FREE ||
	    block->stream != next->stream)
		return;
	block->bytes += next->bytes;
	remove_at(b, at + 1);
}

int tare_blocks_free(struct tare_gpu_blocks *b, uint64_t offset)
{
	size_t i;

	for (i = b->items_nr; i-- > 0;)
		if (b->items[i].offset == offset && b->items[i].died == UINT64_MAX)
			break;
	if (i == SIZE_MAX)
		return -1;
	b->items[i].died = b->clock++;
	for (size_t at = 0; at < b->blocks_nr; at++)
		if (b->blocks[at].item == i) {
			b->blocks[at].item = TARE_BLOCK_FREE;
			merge_with_next(b, at);
			if (at)
				merge_with_next(b, at - 1);
			break;
		}
	return 0;
}
