/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live blocks of PyTorch's allocators, and those that were live at a moment. A block that goes is kept, once, if it was
 * there at a moment; so what is kept is not much more than was live at all marks together.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

enum { CACHE_LINE = 64 };

struct tare_live_block *tare_blocks_find(const struct tare_blocks *b, uint64_t address)
{
	uint32_t place = tare_places_find(b, address);

	return place ? &b->items[place - 1] : NULL;
}

void tare_blocks_prefetch_block(const struct tare_blocks *b, uint64_t address)
{
	uint32_t place = tare_places_guess(b, address);
	const char *block = place ? (const char *)&b->items[place - 1] : NULL;

	for (size_t i = 0; block && i < sizeof(struct tare_live_block); i += CACHE_LINE)
		__builtin_prefetch(block + i, 1);
}

/* The first free slot, or one more. */
static void take_slot(struct tare_blocks *b)
{
	if (b->free) {
		b->free = (size_t)b->items[b->free - 1].bytes;
		return;
	}
	b->items = tare_array_reserve(b->items, &b->cap, b->count + 1, sizeof(*b->items));
	b->count++;
}

struct tare_live_block *tare_blocks_add(struct tare_blocks *b, const struct tare_block *said)
{
	size_t place = b->free ? b->free - 1 : b->count;
	struct tare_live_block *block;

	if (tare_places_put(b, said->address, (uint32_t)place + 1))
		return NULL;
	take_slot(b);
	block = &b->items[place];
	*block = (struct tare_live_block){ .address = said->address,
		                               .bytes = said->bytes,
		                               .born_ns = said->born_ns,
		                               .process = said->process,
		                               .site = said->site,
		                               .flags = said->flags,
		                               .bucket = -1 };
	return block;
}

static bool is_needed(const struct tare_kept_blocks *kept, const struct tare_kept_block *k)
{
	for (int m = 0; m < TARE_MOMENT_NR; m++)
		if (tare_block_is_kept(k, kept, (enum tare_moment)m))
			return true;
	return false;
}

/* Without those of moments that have moved on; half of the room is free then, so this is not done often. */
static void make_room(struct tare_kept_blocks *kept)
{
	size_t n = 0;

	for (size_t i = 0; i < kept->count; i++)
		if (is_needed(kept, &kept->items[i]))
			kept->items[n++] = kept->items[i];
	kept->count = n;
	if (n >= kept->cap / 2)
		kept->items = tare_array_reserve(kept->items, &kept->cap, kept->cap + 1, sizeof(*kept->items));
}

static void keep(struct tare_kept_blocks *kept, const struct tare_live_block *block, uint64_t gone)
{
	if (kept->count == kept->cap)
		make_room(kept);
	kept->items[kept->count++] = (struct tare_kept_block){ *block, gone };
}

static bool is_at_any(const struct tare_kept_blocks *kept, const struct tare_live_block *block)
{
	for (int m = 0; m < TARE_MOMENT_NR; m++)
		if (tare_block_was_live(block, kept, (enum tare_moment)m))
			return true;
	return false;
}

struct tare_live_block *tare_blocks_remove(struct tare_blocks *b, uint64_t address, struct tare_taking by,
                                           uint64_t *serial, struct tare_kept_blocks *kept)
{
	struct tare_live_block *block;
	uint32_t place = tare_places_remove(b, address);

	if (!place)
		return NULL;
	block = &b->items[place - 1];
	tare_work_end(&b->work, block, by);
	++*serial;
	if (is_at_any(kept, block))
		keep(kept, block, *serial);
	return block;
}

void tare_blocks_release(struct tare_blocks *b, struct tare_live_block *block)
{
	block->process = -1;
	block->bytes = (int64_t)b->free;
	b->free = (size_t)(block - b->items) + 1;
}
