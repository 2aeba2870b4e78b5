/* SPDX-License-Identifier: Apache-2.0 */
/* garbage_collection_threshold: before the driver is asked, old free segments of the large pool go back. */
#include "allocator/state.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct candidate {
	uint32_t block;
	uint64_t age;
	bool stays; /* part of an expandable segment: counted, never given back */
};

struct collection {
	struct candidate *items;
	size_t count, left; /* all, and those not given back */
	double total_age;
	uint64_t target, reclaimed;
	uint64_t *addresses; /* of a round */
};

static bool is_whole(const struct tare_cache_block *b)
{
	return !b->previous && !b->next;
}

static void find_candidates(const struct tare_allocator *a, struct tare_cache_pool *pool, struct collection *c)
{
	size_t count;
	uint32_t *ids = tare_cache_free_blocks(a, pool, &count);

	c->items = tare_xcalloc(count + 1, sizeof(*c->items));
	for (size_t i = 0; i < count; i++) {
		const struct tare_cache_block *b = &a->blocks[ids[i]];
		uint64_t age = pool->searches - b->since;

		if (!is_whole(b))
			continue;
		c->items[c->count++] = (struct candidate){ ids[i], age, a->segments[b->segment].is_expandable };
		c->total_age += (double)age;
	}
	free(ids);
	c->left = c->count;
}

static bool goes(const struct tare_allocator *a, const struct candidate *item, double cut)
{
	if (!item->block || item->stays)
		return false;
	if (a->driver.goes)
		return a->driver.goes(a->driver.arg, a->blocks[item->block].address);
	return (double)item->age >= cut;
}

/* Whether a round begins: as long as there is not enough, or as whoever replays knows. */
static bool begins(const struct tare_allocator *a, struct collection *c, double cut)
{
	size_t count = 0;

	if (a->driver.goes)
		return true;
	if (!a->driver.collects)
		return c->reclaimed < c->target;
	for (size_t i = 0; i < c->count; i++)
		if (goes(a, &c->items[i], cut))
			c->addresses[count++] = a->blocks[c->items[i].block].address;
	return count && a->driver.collects(a->driver.arg, c->addresses, count);
}

/* Blocks of at least the average age go. False: there were none. */
static bool collect_round(struct tare_allocator *a, struct collection *c)
{
	double cut = c->total_age / (double)c->left;
	bool any = false;

	if (!begins(a, c, cut))
		return false;
	for (size_t i = 0; i < c->count; i++) {
		struct candidate *item = &c->items[i];

		if (!goes(a, item, cut))
			continue;
		c->reclaimed += a->blocks[item->block].size;
		tare_alloc_release_block(a, item->block);
		item->block = 0;
		c->total_age -= (double)item->age;
		c->left--;
		any = true;
	}
	return any;
}

void tare_alloc_collect(struct tare_allocator *a)
{
	struct collection c = { 0 };
	double threshold;

	if (a->settings.gc_threshold <= 0 || (a->limit == UINT64_MAX && !a->driver.collects))
		return;
	threshold = a->settings.gc_threshold * (double)a->limit;
	if (!a->driver.collects) {
		if ((double)a->stats.reserved <= threshold)
			return;
		c.target = a->stats.reserved - (uint64_t)threshold;
	}
	find_candidates(a, &a->pools[1], &c);
	c.addresses = tare_xcalloc(c.count + 1, sizeof(*c.addresses));
	while (c.left && collect_round(a, &c))
		;
	free(c.items);
	free(c.addresses);
}
