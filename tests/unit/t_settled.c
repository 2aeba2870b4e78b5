/* SPDX-License-Identifier: Apache-2.0 */
/* How far a log with a ring is settled, made by hand: a writer that was stopped may go on at any time. */
#include "session/settled.h"
#include "make_log.h"
#include "test.h"
#include "record/lane.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	PLAN_AT = TARE_RING_HEADER_BYTES + offsetof(struct tare_lane, plan),
	TAIL_AT = TARE_RING_HEADER_BYTES + offsetof(struct tare_lane, tail),
	NO_FILE_AT = TARE_RING_HEADER_BYTES + offsetof(struct tare_lane, has_no_file)
};

/* Where a record in the middle of the log begins, and the last one, which is in the ring alone, and its length. */
static uint64_t middle, drained, last_bytes;

static void make_last_in_ring(void)
{
	struct make_log m;

	make_log_init(&m, 431, 0);
	make_log_program(&m);
	MAKE(&m, end, END, .tid = 12);
	middle = m.records[m.record_nr / 2].position;
	drained = m.records[m.record_nr - 1].position;
	last_bytes = m.size - drained;
	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + drained);
	make_log_write_ring(&m, make_path(make_dir(), "431-0.ring"), drained, false);
	make_log_free(&m);
}

static void set_ring(uint64_t plan, uint32_t has_no_file, uint64_t log_end)
{
	int fd = open(make_path(make_dir(), "431-0.ring"), O_WRONLY);

	CHECK(fd >= 0);
	CHECK(pwrite(fd, &plan, 8, PLAN_AT) == 8);
	CHECK(pwrite(fd, &has_no_file, 4, NO_FILE_AT) == 4);
	CHECK(pwrite(fd, &log_end, 8, offsetof(struct tare_ring_header, log_end)) == 8);
	close(fd);
}

static uint64_t in_ring(off_t at)
{
	int fd = open(make_path(make_dir(), "431-0.ring"), O_RDONLY);
	uint64_t value = 0;

	CHECK(fd >= 0 && pread(fd, &value, sizeof(value), at) == sizeof(value));
	close(fd);
	return value;
}

static uint64_t settled_below(void)
{
	const char *log = make_path(make_dir(), "431-0.events");
	struct tare_settled *settled = tare_settled_new(make_dir());
	uint64_t below = tare_settled_below(settled, log, true);

	tare_settled_free(settled);
	return below;
}

/*
 * A thread was stopped before it wrote a block of a lane that is memory of its process, so nobody else can: the log is
 * settled up to the place of that block.
 */
TEST(a_block_that_only_its_process_can_write_is_not_settled)
{
	make_last_in_ring();
	set_ring(TARE_PLAN(middle, drained, last_bytes), 1, drained + 4096);
	CHECK_INT((int64_t)settled_below(), (int64_t)middle);
	CHECK_INT((int64_t)in_ring(PLAN_AT), (int64_t)TARE_PLAN(middle, drained, last_bytes));
}

/* It took room in the log and was stopped before it made its plan: it finds that it has to take room again. */
TEST(room_that_was_taken_before_is_not_used_after)
{
	make_last_in_ring();
	set_ring(0, 0, drained + 4096);
	CHECK_INT((int64_t)settled_below(), (int64_t)drained + 4096);
	CHECK(TARE_PLAN_BEGIN(in_ring(PLAN_AT)) >= drained + 4096);
}

/* It made its plan, and was stopped before it wrote: the block is written before the log is called settled. */
TEST(a_block_that_somebody_was_to_write_is_in_the_log)
{
	make_last_in_ring();
	set_ring(TARE_PLAN(drained, drained, last_bytes), 0, drained + 4096);
	CHECK_INT((int64_t)settled_below(), (int64_t)drained + 4096);
	CHECK(TARE_PLAN_BEGIN(in_ring(PLAN_AT)) >= drained + 4096);
	CHECK_INT((int64_t)in_ring(TAIL_AT), (int64_t)(drained + last_bytes));
}

TEST(a_log_without_a_ring_is_settled_if_no_process_writes_it)
{
	struct tare_settled *settled = tare_settled_new(make_dir());
	const char *log = make_path(make_dir(), "431-0.events");

	CHECK(tare_settled_below(settled, log, false) == UINT64_MAX);
	CHECK_INT((int64_t)tare_settled_below(settled, log, true), 0);
	tare_settled_free(settled);
}
