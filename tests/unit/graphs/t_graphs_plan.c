/* SPDX-License-Identifier: Apache-2.0 */
/* The lifetime planner against brute force, and the allocator that follows it. */
#include "graphs/plan.h"

#include "../test.h"

#include <stdlib.h>

#define ITEMS_MAX 6

static int is_valid(const struct tare_item *items, size_t count, uint64_t high)
{
	for (size_t i = 0; i < count; i++) {
		if (items[i].offset + items[i].bytes > high)
			return 0;
		for (size_t j = 0; j < i; j++)
			if (tare_plan_conflict(&items[i], &items[j]) && items[i].offset < items[j].offset + items[j].bytes &&
			    items[j].offset < items[i].offset + items[i].bytes)
				return 0;
	}
	return 1;
}

/* Some optimal plan places items one by one, each at the lowest place that is free: try all orders. */
static uint64_t brute_force(struct tare_item *items, size_t count, unsigned placed, uint64_t best)
{
	uint64_t high = 0;

	for (size_t i = 0; i < count; i++)
		if (placed >> i & 1 && items[i].offset + items[i].bytes > high)
			high = items[i].offset + items[i].bytes;
	if (high >= best || placed == (1u << count) - 1)
		return high < best ? high : best;
	for (size_t i = 0; i < count; i++) {
		uint64_t at = 0;
		int moved = 1;

		if (placed >> i & 1)
			continue;
		while (moved) {
			moved = 0;
			for (size_t j = 0; j < count; j++)
				if (placed >> j & 1 && tare_plan_conflict(&items[i], &items[j]) &&
				    at < items[j].offset + items[j].bytes && items[j].offset < at + items[i].bytes) {
					at = items[j].offset + items[j].bytes;
					moved = 1;
				}
		}
		items[i].offset = at;
		best = brute_force(items, count, placed | 1u << i, best);
	}
	return best;
}

static size_t make_items(struct tare_item *items, unsigned *seed, int streams)
{
	size_t count = 2 + (size_t)rand_r(seed) % (ITEMS_MAX - 1);

	for (size_t i = 0; i < count; i++) {
		items[i].bytes = 512 * (1 + (uint64_t)rand_r(seed) % 8);
		items[i].born = i * 2;
		items[i].died = rand_r(seed) % 5 ? i * 2 + 1 + 2 * ((uint64_t)rand_r(seed) % 4) : UINT64_MAX;
		items[i].stream = (uintptr_t)(rand_r(seed) % streams);
		items[i].offset = i * 8192;
	}
	return count;
}

TEST(plans_are_valid_and_as_good_as_brute_force)
{
	unsigned seed = 1, worse = 0, cases = 3000;

	for (unsigned at = 0; at < cases; at++) {
		struct tare_item items[ITEMS_MAX], copy[ITEMS_MAX];
		size_t count = make_items(items, &seed, at % 4 ? 1 : 2);
		uint64_t best, high;

		memcpy(copy, items, sizeof(copy));
		best = brute_force(copy, count, 0, UINT64_MAX);
		high = tare_plan(items, count);
		CHECK(is_valid(items, count, high));
		CHECK(high >= tare_plan_floor(items, count));
		CHECK(high >= best);
		worse += high > best;
	}
	CHECK(worse * 100 <= cases); /* heuristics: at most one in a hundred is not optimal */
}

TEST(a_plan_is_never_worse_than_what_was)
{
	unsigned seed = 5;

	for (unsigned at = 0; at < 300; at++) {
		struct tare_gpu_blocks blocks;
		uint64_t live[64], offset, high;
		size_t live_nr = 0;

		tare_blocks_init(&blocks, NULL, 0);
		for (int i = 0; i < 150; i++) {
			if (live_nr && (live_nr == 64 || rand_r(&seed) % 2)) {
				size_t gone = (size_t)rand_r(&seed) % live_nr;

				CHECK_INT(tare_blocks_free(&blocks, live[gone]), 0);
				live[gone] = live[--live_nr];
			} else {
				CHECK_INT(tare_blocks_alloc(&blocks, 1 + (uint64_t)rand_r(&seed) % 9000, 0, &offset), 0);
				live[live_nr++] = offset;
			}
		}
		CHECK(is_valid(blocks.items, blocks.items_nr, blocks.high));
		high = tare_plan(blocks.items, blocks.items_nr);
		CHECK(high <= blocks.high);
		CHECK(high >= tare_plan_floor(blocks.items, blocks.items_nr));
		CHECK(is_valid(blocks.items, blocks.items_nr, high));
		tare_blocks_fini(&blocks);
	}
}

TEST(the_allocator_follows_a_plan_and_leaves_it)
{
	struct tare_item plan[] = {
		{ .bytes = 1024, .offset = 4096, .died = 2 },
		{ .bytes = 2048, .offset = 0, .born = 1, .died = 3 },
	};
	struct tare_gpu_blocks blocks;
	uint64_t offset;

	tare_blocks_init(&blocks, plan, 2);
	CHECK_INT(tare_blocks_alloc(&blocks, 1000, 0, &offset), 0);
	CHECK_INT(offset, 4096);
	CHECK_INT(tare_blocks_alloc(&blocks, 512, 0, &offset), 0); /* not what was rehearsed */
	CHECK_INT(offset, 5120);
	CHECK_INT(tare_blocks_free(&blocks, 4096), 0);
	CHECK_INT(tare_blocks_free(&blocks, 4096), -1);
	tare_blocks_fini(&blocks);
}
