/* SPDX-License-Identifier: Apache-2.0 */
/* Which rollups save a state: it must be worth its fold, or let segments go that have to. */
#include "rollup/rollup.h"

#include "base/disk.h"
#include "make_log.h"
#include "test.h"

#define S UINT64_C(1000000000)

static struct make_log m;

/* A recording of so many calls that take and give back a block of 2 MiB; each takes its own time. */
static void make_calls(uint64_t calls)
{
	uint64_t dice = 1;

	make_log_init(&m, 431, 0);
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	make_log_gpu(&m);
	for (uint64_t i = 0; i < calls; i++) {
		uint64_t handle = UINT64_C(0x7f0000000000) + (i / 2 % 100 << 24);

		dice = dice * 6364136223846793005u + 1442695040888963407u;
		make_log_call(&m, S / 1000 * (i + 1), 1000 + (dice >> 40), handle, 2 << 20, i % 2);
	}
	MAKE(&m, end, END, .tid = 10, .how = TARE_HOW_EXIT);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_free(&m);
}

static struct tare_rolled_up roll_up(const struct tare_rollup_options *o)
{
	struct tare_rolled_up done;

	CHECK_INT(tare_rollup(make_dir(), o, &done, NULL), 0);
	return done;
}

static struct tare_rolled_up roll_up_whole(uint64_t calls)
{
	make_calls(calls);
	return roll_up(&(struct tare_rollup_options){ .is_final = true });
}

/* It would be made, and be too large for these segments. */
TEST(of_few_bytes_of_segments_no_state_is_tried)
{
	struct tare_rolled_up done = roll_up_whole(20000);

	CHECK(done.compacted.segment_bytes > 10 << 10);
	CHECK(done.compacted.segment_bytes < 256 << 10);
	CHECK_INT(done.state_bytes, 0);
}

TEST(of_many_bytes_of_segments_a_state_is_tried)
{
	struct tare_rolled_up done = roll_up_whole(100000);

	CHECK(done.compacted.segment_bytes > 256 << 10);
	CHECK(done.state_bytes > 0);
}

/* Where the folder has so much of its cap, percent. */
static bool saves_state_at(uint64_t percent, bool skips_state)
{
	struct tare_rollup_options o = { 0 };

	make_calls(20000);
	CHECK(!roll_up(&o).has_state);
	o.cap = tare_disk_most(make_dir()) * 100 / percent;
	o.skips_state = skips_state;
	return roll_up(&o).has_state;
}

TEST(a_folder_that_is_nearly_full_gets_a_state)
{
	CHECK(saves_state_at(90, false));
}

TEST(who_is_waited_for_saves_none_as_long_as_nothing_has_to_go)
{
	CHECK(!saves_state_at(90, true));
}

TEST(who_is_waited_for_saves_one_where_something_has_to_go)
{
	CHECK(saves_state_at(110, true));
}
