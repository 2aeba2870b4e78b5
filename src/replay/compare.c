/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks at the end of a replay, beside those of the file. */
#include "replay/replay.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>

struct place {
	uint64_t address, size;
	int state;
};

struct places {
	struct place *items;
	size_t count, cap;
};

static void add(struct places *p, uint64_t address, uint64_t size, int state)
{
	TARE_APPEND(p->items, p->count, p->cap) = (struct place){ address, size, state };
}

static void on_place(void *arg, const struct tare_alloc_place *place)
{
	add(arg, place->address, place->size, (int)place->state);
}

TARE_COMPARATOR(by_address, struct place, TARE_RISING(address))

static int state_of(enum tare_snapshot_state state)
{
	switch (state) {
	case TARE_SNAPSHOT_ALLOCATED:
		return TARE_ALLOC_USED;
	case TARE_SNAPSHOT_PENDING:
		return TARE_ALLOC_PENDING;
	default:
		return TARE_ALLOC_FREE;
	}
}

static void sort(struct places *p)
{
	TARE_SORT(p->items, p->count, by_address);
}

uint64_t tare_replay_compare_end(const struct tare_trace_device *d, const struct tare_allocator *a)
{
	struct places ours = { 0 }, theirs = { 0 };
	uint64_t differ = 0;
	size_t i = 0, j = 0;

	tare_alloc_layout(a, on_place, &ours);
	for (size_t b = 0; b < d->block_count; b++)
		add(&theirs, d->blocks[b].address, d->blocks[b].size, state_of(d->blocks[b].state));
	sort(&ours);
	sort(&theirs);
	while (i < ours.count || j < theirs.count) {
		const struct place *x = i < ours.count ? &ours.items[i] : NULL;
		const struct place *y = j < theirs.count ? &theirs.items[j] : NULL;

		if (x && y && x->address == y->address) {
			differ += x->size != y->size || x->state != y->state;
			i++;
			j++;
		} else {
			differ++;
			if (!y || (x && x->address < y->address))
				i++;
			else
				j++;
		}
	}
	free(ours.items);
	free(theirs.items);
	return differ;
}
