/* SPDX-License-Identifier: Apache-2.0 */
/* Live blocks, and those that were live at a moment. */
#include "ledger/tensors/tensors.h"
#include "test.h"

#include <stdlib.h>

struct blocks {
	struct tare_blocks live;
	struct tare_kept_blocks kept;
	uint64_t serial;
};

static struct tare_live_block *add(struct blocks *b, uint64_t address, int64_t bytes)
{
	struct tare_live_block *made =
		tare_blocks_add(&b->live,
				&(struct tare_block){ .address = address, .bytes = bytes });

	if (made)
		made->use.serial = ++b->serial;
	return made;
}

static struct tare_live_block *take(struct blocks *b, uint64_t address)
{
	struct tare_live_block *gone =
		tare_blocks_remove(&b->live, address, (struct tare_taking){ 0 }, &b->serial,
				   &b->kept);

	if (!gone)
		return NULL;
	CHECK_INT((int64_t)gone->address, (int64_t)address);
	tare_blocks_release(&b->live, gone);
	return gone;
}

static void mark(struct blocks *b, enum tare_moment m)
{
	b->kept.at[m] = b->serial;
}

/* The sum of the blocks that were live at a moment, and are not any more. */
static int64_t kept(const struct blocks *b, enum tare_moment m)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < b->kept.count; i++)
		if (tare_block_is_kept(&b->kept.items[i], &b->kept, m))
			bytes += b->kept.items[i].block.bytes;
	return bytes;
}

static void free_blocks(struct blocks *b)
{
	tare_blocks_free(&b->live);
	free(b->kept.items);
}

TEST(blocks_are_found_until_they_go)
{
	struct blocks b = { 0 };

	for (uint64_t i = 1; i <= 100; i++)
		CHECK(add(&b, i << 9, (int64_t)i));
	for (uint64_t i = 1; i <= 100; i += 2)
		CHECK(take(&b, i << 9));
	CHECK(!take(&b, 1 << 9));
	CHECK(!add(&b, 2 << 9, 1));
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
	take(&b, 512); /* there was no moment yet */
	add(&b, 1024, 2);
	add(&b, 2048, 4);
	mark(&b, TARE_MOMENT_PEAK);
	take(&b, 1024);
	add(&b, 4096, 8);
	take(&b, 4096); /* came after it */
	CHECK_INT(kept(&b, TARE_MOMENT_PEAK), 2);
	CHECK_INT(kept(&b, TARE_MOMENT_END), 0);
	mark(&b, TARE_MOMENT_END);
	take(&b, 2048);
	CHECK_INT(kept(&b, TARE_MOMENT_PEAK), 2 + 4);
	CHECK_INT(kept(&b, TARE_MOMENT_END), 4);
	mark(&b, TARE_MOMENT_PEAK); /* a higher one: what was kept is of no use to it */
	CHECK_INT(kept(&b, TARE_MOMENT_PEAK), 0);
	CHECK_INT(kept(&b, TARE_MOMENT_END), 4);
	free_blocks(&b);
}

TEST(no_more_is_kept_than_marks_need)
{
	struct blocks b = { 0 };

	for (uint64_t i = 1; i <= 100000; i++) {
		add(&b, i << 9, 1);
		mark(&b, TARE_MOMENT_PEAK);
		take(&b, i << 9);
	}
	CHECK_INT(kept(&b, TARE_MOMENT_PEAK), 1);
	CHECK(b.kept.cap < 64);
	free_blocks(&b);
}
