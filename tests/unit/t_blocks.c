/* SPDX-License-Identifier: Apache-2.0 */
/* Live blocks, and those that were live at a moment. */
#include "ledger/state/private.h"
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
		tare_blocks_add(&b->live, &(struct tare_block){ .address = address, .bytes = bytes });

	if (made)
		made->serial = ++b->serial;
	return made;
}

/* With facts of its own, which tell its address. */
static void add_with_facts(struct blocks *b, uint64_t address)
{
	struct tare_block_facts facts = { .booked = (int64_t)address };
	struct tare_live_block *made;

	if (tare_block_facts_are_full(&b->live.work.facts))
		tare_block_facts_make_room(&b->live, &b->kept, 0);
	made = add(b, address, 512);
	made->facts = tare_block_facts_put(&b->live.work.facts, &facts);
}

static struct tare_live_block *take(struct blocks *b, uint64_t address)
{
	struct tare_live_block *gone =
		tare_blocks_remove(&b->live, address, (struct tare_taking){ 0 }, &b->serial, &b->kept);

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

static size_t with_own_facts(const struct blocks *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->live.count; i++)
		n += b->live.items[i].process >= 0 &&
		     tare_block_facts_of(&b->live.work, &b->live.items[i])->booked == (int64_t)b->live.items[i].address;
	for (size_t i = 0; i < b->kept.count; i++)
		n += tare_block_facts_of(&b->live.work, &b->kept.items[i].block)->booked ==
		     (int64_t)b->kept.items[i].block.address;
	return n;
}

static void free_blocks(struct blocks *b)
{
	tare_shape_free(&tare_shape_tare_blocks, &b->live, NULL);
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

/* Those of blocks that are live, and of those that are kept; the others' slots are used again. */
TEST(facts_stay_as_long_as_a_block_has_them)
{
	enum { LIVE = 4096, ROUNDS = 60 };
	struct blocks b = { 0 };
	size_t most;

	for (uint64_t i = 1; i <= LIVE; i++)
		add_with_facts(&b, i << 9);
	mark(&b, TARE_MOMENT_PEAK);
	for (uint64_t i = LIVE + 1; i <= ROUNDS * LIVE; i++) {
		struct tare_live_block *gone = tare_blocks_find(&b.live, (i - LIVE) << 9);
		uint32_t facts = gone->facts;

		gone->facts = 0; /* its end is not told to any worker */
		take(&b, (i - LIVE) << 9);
		if (i - LIVE <= LIVE)
			b.kept.items[b.kept.count - 1].block.facts = facts;
		add_with_facts(&b, i << 9);
	}
	CHECK_INT((int64_t)with_own_facts(&b), 2 * LIVE);
	most = 2 * LIVE + 2 * LIVE / 8 + 1024;
	CHECK(b.live.work.facts.count >= 2 * LIVE && b.live.work.facts.count <= most + 1);
	free_blocks(&b);
}

TEST(facts_that_change_are_those_of_one_block)
{
	struct blocks b = { 0 };
	struct tare_live_block *one, *other;
	struct tare_block_facts facts = { .section = 7 }, named = { .section = 7, .name = 3 };

	add(&b, 512, 100);
	add(&b, 1024, 100);
	one = tare_blocks_find(&b.live, 512);
	other = tare_blocks_find(&b.live, 1024);
	one->facts = other->facts = tare_block_facts_put(&b.live.work.facts, &facts);
	tare_block_facts_change(&b.live.work, one, &facts);
	CHECK_INT(one->facts, other->facts);
	tare_block_facts_change(&b.live.work, one, &named);
	CHECK_INT(tare_block_facts_of(&b.live.work, one)->name, 3);
	CHECK_INT(tare_block_facts_of(&b.live.work, other)->name, 0);
	tare_block_book(&b.live.work, one, 100);
	CHECK_INT(tare_block_booked(one, tare_block_facts_of(&b.live.work, one)), 100);
	tare_block_book(&b.live.work, one, 40);
	CHECK_INT(tare_block_booked(one, tare_block_facts_of(&b.live.work, one)), 40);
	CHECK_INT(tare_block_facts_of(&b.live.work, one)->name, 3);
	tare_block_book(&b.live.work, one, 0);
	CHECK_INT(tare_block_booked(one, tare_block_facts_of(&b.live.work, one)), 0);
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
