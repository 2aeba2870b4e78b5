/* SPDX-License-Identifier: Apache-2.0 */
/* Live blocks, and those that were live at a mark. */
#include "ledger/tensors/tensors.h"
#include "test.h"

#include <stdlib.h>

struct blocks {
	struct tare_blocks live;
	struct tare_kept_blocks kept[TARE_MARK_NR];
	uint32_t mark_nr[TARE_MARK_NR];
};

static void add(struct blocks *b, uint64_t address, int64_t bytes)
{
	CHECK(tare_blocks_add(&b->live, &(struct tare_block){ .address = address, .bytes = bytes },
			      b->mark_nr));
}

static void take(struct blocks *b, uint64_t address)
{
	struct tare_live_block *gone =
		tare_blocks_remove(&b->live, address, (struct tare_taking){ 0 }, b->mark_nr,
				   b->kept);

	CHECK(gone);
	CHECK_INT((int64_t)gone->address, (int64_t)address);
	tare_blocks_release(&b->live, gone);
}

static void free_blocks(struct blocks *b)
{
	tare_blocks_free(&b->live);
	for (int m = 0; m < TARE_MARK_NR; m++)
		free(b->kept[m].items);
}

TEST(blocks_are_found_until_they_go)
{
	struct blocks b = { 0 };

	for (uint64_t i = 1; i <= 100; i++)
		add(&b, i << 9, (int64_t)i);
	for (uint64_t i = 1; i <= 100; i += 2)
		take(&b, i << 9);
	CHECK(!tare_blocks_remove(&b.live, 1 << 9, (struct tare_taking){ 0 }, b.mark_nr, b.kept));
	CHECK(!tare_blocks_add(&b.live, &(struct tare_block){ .address = 2 << 9 }, b.mark_nr));
	CHECK(!tare_blocks_find(&b.live, 1 << 9));
	CHECK_INT(tare_blocks_find(&b.live, 2 << 9)->bytes, 2);
	for (uint64_t i = 1; i <= 50; i++)
		add(&b, i << 20, (int64_t)i);
	CHECK_INT((int64_t)b.live.count, 100); /* slots are used again */
	CHECK_INT(tare_blocks_find(&b.live, 50 << 20)->bytes, 50);
	CHECK_INT(tare_blocks_find(&b.live, 100 << 9)->bytes, 100);
	free_blocks(&b);
}

TEST(blocks_that_go_are_kept_for_the_marks_that_saw_them)
{
	struct blocks b = { 0 };

	add(&b, 512, 1);
	take(&b, 512); /* there was no mark yet */
	add(&b, 1024, 2);
	add(&b, 2048, 3);
	b.mark_nr[TARE_MARK_PEAK]++;
	take(&b, 1024);
	add(&b, 4096, 4);
	take(&b, 4096); /* came after it */
	CHECK_INT((int64_t)b.kept[TARE_MARK_PEAK].count, 1);
	CHECK_INT((int64_t)b.kept[TARE_MARK_PEAK].items[0].address, 1024);
	CHECK_INT((int64_t)b.kept[TARE_MARK_END].count, 0);
	b.mark_nr[TARE_MARK_PEAK]++; /* a higher one: what was kept is of no use any more */
	take(&b, 2048);
	CHECK_INT((int64_t)b.kept[TARE_MARK_PEAK].count, 1);
	CHECK_INT((int64_t)b.kept[TARE_MARK_PEAK].items[0].address, 2048);
	CHECK_INT(b.kept[TARE_MARK_PEAK].mark, 2);
	free_blocks(&b);
}
