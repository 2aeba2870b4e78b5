/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's allocator has where a recording ends, as a memory snapshot lists it. */
#include "cmd/whatif_reader.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

struct block {
	uint64_t address, size;
};

TARE_COMPARATOR(by_address, struct block, TARE_RISING(address))

TARE_COMPARATOR(by_given_address, struct tare_whatif_given, TARE_RISING(address))

/* In the order of addresses; caller frees. */
static struct block *sorted_blocks(const struct tare_map *map, size_t *count)
{
	const struct tare_map_slot *slot;
	struct block *items = NULL;
	size_t cap = 0;

	*count = 0;
	for (size_t at = 0; (slot = tare_map_next(map, &at));) {
		TARE_APPEND(items, *count, cap) = (struct block){ slot->key, slot->value };
	}
	TARE_SORT(items, *count, by_address);
	return items;
}

/* What it still has; of an expandable segment, pieces that lie side by side are one. Caller frees. */
static struct tare_whatif_given *sorted_given(const struct tare_whatif_allocator *a, size_t *count)
{
	struct tare_whatif_given *items = tare_xcalloc(a->given_nr + 1, sizeof(*items));
	const struct tare_map_slot *slot;
	size_t nr = 0, kept = 0;

	for (size_t at = 0; (slot = tare_map_next(&a->given_at, &at));)
		items[nr++] = a->given[slot->value];
	TARE_SORT(items, nr, by_given_address);
	for (size_t i = 1; i < nr; i++)
		if (items[i].is_expandable && items[kept].is_expandable && items[i].pool == items[kept].pool &&
		    items[i].is_small == items[kept].is_small && items[i].stream == items[kept].stream &&
		    items[kept].address + items[kept].size == items[i].address)
			items[kept].size += items[i].size;
		else
			items[++kept] = items[i];
	*count = nr ? kept + 1 : 0;
	return items;
}

/* Adds the blocks of a segment, and what is free between them. Returns how many. */
static size_t fill(const struct tare_whatif_given *s, const struct block *blocks, size_t count,
                   struct tare_snapshot_block *out)
{
	uint64_t at = s->address, end = s->address + s->size;
	size_t nr = 0;

	for (size_t i = 0; i < count; i++) {
		if (blocks[i].address > at)
			out[nr++] = (struct tare_snapshot_block){ .address = at, .size = blocks[i].address - at };
		out[nr++] = (struct tare_snapshot_block){ .address = blocks[i].address,
			                                      .size = blocks[i].size,
			                                      .asked = blocks[i].size,
			                                      .state = TARE_SNAPSHOT_ALLOCATED };
		at = blocks[i].address + blocks[i].size;
	}
	if (at < end)
		out[nr++] = (struct tare_snapshot_block){ .address = at, .size = end - at };
	return nr;
}

static void end_segment(struct tare_whatif_reader *r, struct tare_whatif_allocator *a,
                        const struct tare_whatif_given *g, const struct block *blocks, size_t count)
{
	TARE_FREED_HERE struct tare_snapshot_block *all = tare_xcalloc(2 * count + 1, sizeof(*all));
	struct tare_snapshot_segment segment = { .device = a->device,
		                                     .is_expandable = g->is_expandable,
		                                     .is_small = g->is_small,
		                                     .address = g->address,
		                                     .size = g->size,
		                                     .stream = g->stream,
		                                     .pool = tare_whatif_pool_id(g->pool),
		                                     .serial = -1 };

	if (!r->rc)
		r->rc = tare_trace_add_segment(r->t, &segment, all, fill(g, blocks, count, all), r->err);
}

void tare_whatif_end(struct tare_whatif_reader *r, struct tare_whatif_allocator *a)
{
	size_t given_nr, block_nr, from = 0, to;
	TARE_FREED_HERE struct tare_whatif_given *given = sorted_given(a, &given_nr);
	TARE_FREED_HERE struct block *blocks = sorted_blocks(&a->blocks, &block_nr);

	for (size_t i = 0; i < given_nr; i++) {
		uint64_t end = given[i].address + given[i].size;

		while (from < block_nr && blocks[from].address < given[i].address)
			from++;
		for (to = from; to < block_nr && blocks[to].address + blocks[to].size <= end;)
			to++;
		end_segment(r, a, &given[i], blocks + from, to - from);
		from = to;
	}
}
