/* SPDX-License-Identifier: Apache-2.0 */
/* Folding the older part of a recording, made by hand: what a fold leaves must stand the next one. */
#include "session/cap.h"
#include "base/str.h"
#include "ledger/build.h"
#include "make_log.h"
#include "test.h"
#include "trace/chunk.h"
#include "trace/recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define S INT64_C(1000000000)

enum {
	PLAN_AT = TARE_RING_HEADER_BYTES + offsetof(struct tare_lane, plan),
	TAIL_AT = TARE_RING_HEADER_BYTES + offsetof(struct tare_lane, tail),
	NO_FILE_AT = TARE_RING_HEADER_BYTES + offsetof(struct tare_lane, has_no_file)
};

static struct make_log m, t; /* a program's log, and that of `tare` */

static void add_reading(int64_t after, uint64_t used)
{
	t.stamp = t.header.first_stamp + (uint64_t)after;
	MAKE(&t, reading, READING, .source = TARE_SOURCE_NVML2, .used = used,
	     .peers = TARE_NOT_KNOWN);
}

static void fold(int64_t keep_ns)
{
	struct tare_file_header header = t.header;

	header.role = TARE_ROLE_CHECKPOINT;
	header.header_bytes = TARE_LOG_BEGIN;
	CHECK_INT(tare_cap_fold(make_dir(), &header, keep_ns), 0);
}

static void check_whole(uint64_t folded)
{
	struct tare_recording *r;
	struct tare_err err;
	bool is_found = false;

	if (tare_recording_open(&r, make_dir(), &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	for (int i = 0; i < tare_recording_note_nr(r); i++)
		test_fail(__FILE__, __LINE__, "%s", tare_recording_note(r, i));
	for (int i = 0; i < tare_recording_process_nr(r); i++) {
		const struct tare_process *p = tare_recording_process(r, i);

		if (p->pid != 431)
			continue;
		is_found = true;
		CHECK_INT((int64_t)p->checkpoint_events >= (int64_t)folded, 1);
		CHECK_INT(p->rank.rank, 3);
		CHECK(p->is_status_known);
		CHECK_INT(p->status, 7 << 8);
	}
	CHECK(is_found);
	tare_recording_close(r);
}

/* In the second span only `tare` itself has written something. Which rank it was, and its end, stay known. */
TEST(a_log_without_news_stays_folded)
{
	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	MAKE_TEXT(&m, launch, LAUNCH, "RANK=3\nWORLD_SIZE=8\n");
	make_log_program(&m);
	MAKE(&m, status, STATUS, .status = 7 << 8);
	MAKE(&t, device, DEVICE, .nvml_index = 3, .total = 1u << 30,
	     .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	for (int i = 1; i <= 8; i++)
		add_reading(i * S, (uint64_t)i << 20);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	fold(5 * S);
	check_whole(1);
	fold(2 * S);
	check_whole(1);
	make_log_free(&m);
	make_log_free(&t);
}

/* What the ledger at the end says of missing records of the program: "RECORDS REASON, …". */
static void check_losses(const char *want)
{
	const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };
	struct tare_recording *r;
	struct tare_ledger l;
	struct tare_str got = { 0 };

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	tare_ledger_of_recording(r, NULL, &end, 1, &l);
	for (int i = 0; i < l.loss_nr; i++) {
		CHECK_INT(l.losses[i].pid, 431);
		CHECK(l.losses[i].from_ns <= l.losses[i].to_ns);
		CHECK(l.losses[i].to_ns < 8 * S);
		tare_str_addf(&got, "%d %s, ", (int)l.losses[i].records, l.losses[i].reason);
	}
	CHECK_STR(tare_str_text(&got), want);
	tare_str_free(&got);
	tare_ledger_free(&l);
	tare_recording_close(r);
}

static uint64_t checkpoint_position(uint32_t pid)
{
	struct tare_recording *r;
	uint64_t position = UINT64_MAX;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	for (int i = 0; i < tare_recording_process_nr(r); i++)
		if (tare_recording_process(r, i)->pid == pid)
			position = tare_recording_process(r, i)->checkpoint_position;
	tare_recording_close(r);
	return position;
}

/* Of what make_last_in_ring() makes: where a record in the middle begins, and the last one, and how long that is. */
static uint64_t middle, drained, last_bytes;

/* A program whose last record is in its ring alone; readings of the device go on for 8 s. */
static void make_last_in_ring(void)
{
	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	make_log_program(&m);
	m.stamp = m.header.first_stamp + 6 * S;
	MAKE(&m, end, END, .tid = 12);
	MAKE(&t, device, DEVICE, .nvml_index = 3, .total = 1u << 30,
	     .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	for (int i = 1; i <= 8; i++)
		add_reading(i * S, (uint64_t)i << 20);
	middle = m.records[m.record_nr / 2].position;
	drained = m.records[m.record_nr - 1].position;
	last_bytes = m.size - drained;
	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + drained);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	make_log_write_ring(&m, make_path(make_dir(), "431-0.ring"), drained, false);
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

static uint64_t plan_in_ring(void)
{
	int fd = open(make_path(make_dir(), "431-0.ring"), O_RDONLY);
	uint64_t plan = 0;

	CHECK(fd >= 0 && pread(fd, &plan, sizeof(plan), PLAN_AT) == sizeof(plan));
	close(fd);
	return plan;
}

/*
 * A thread was stopped before it wrote a block of a lane that is memory of its process, so nobody else can: what it will
 * put there is not in the checkpoint, so the place is not one of which the checkpoint speaks.
 */
TEST(a_block_that_only_its_process_can_write_is_not_folded)
{
	make_last_in_ring();
	set_ring(TARE_PLAN(middle, drained, last_bytes), 1, drained + 4096);
	fold(5 * S);
	CHECK(checkpoint_position(431) > 0);
	CHECK(checkpoint_position(431) <= middle);
	CHECK_INT(plan_in_ring(), TARE_PLAN(middle, drained, last_bytes));
	make_log_free(&m);
	make_log_free(&t);
}

/* It took room in the log and was stopped before it made its plan: it finds that it has to take room again. */
TEST(room_that_was_taken_before_a_fold_is_not_used_after_it)
{
	make_last_in_ring();
	set_ring(0, 0, drained + 4096);
	fold(5 * S);
	CHECK(checkpoint_position(431) > 0);
	CHECK(TARE_PLAN_BEGIN(plan_in_ring()) >= drained + 4096);
	make_log_free(&m);
	make_log_free(&t);
}

/* It made its plan, and was stopped before it wrote: the fold has the block written before it reads the log. */
TEST(a_block_that_somebody_was_to_write_is_in_the_log_before_a_fold)
{
	uint64_t tail = 0;
	int fd;

	make_last_in_ring();
	set_ring(TARE_PLAN(drained, drained, last_bytes), 0, drained + 4096);
	fold(5 * S);
	CHECK(TARE_PLAN_BEGIN(plan_in_ring()) >= drained + 4096);
	fd = open(make_path(make_dir(), "431-0.ring"), O_RDONLY);
	CHECK(fd >= 0 && pread(fd, &tail, sizeof(tail), TAIL_AT) == sizeof(tail));
	close(fd);
	CHECK_INT(tail, drained + last_bytes);
	make_log_free(&m);
	make_log_free(&t);
}

/* Records that were given up, and a part of the log that is damaged, in a span that is folded, and folded again. */
TEST(a_checkpoint_tells_of_losses)
{
	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	make_log_program(&m);
	m.stamp = m.header.first_stamp + 1000;
	MAKE(&m, lost, LOST, .records = 9, .first = m.stamp - 100, .last = m.stamp,
	     .reason = TARE_LOST_NOT_WRITTEN);
	MAKE(&m, end, END, .tid = 12);
	memset(m.bytes + m.records[8].position, 0x5a, 16);
	MAKE(&t, device, DEVICE, .nvml_index = 3, .total = 1u << 30,
	     .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	for (int i = 1; i <= 8; i++)
		add_reading(i * S, (uint64_t)i << 20);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	check_losses("9 not-written, 0 damaged, ");
	fold(5 * S);
	check_losses("9 not-written, 0 damaged, ");
	fold(2 * S);
	check_losses("9 not-written, 0 damaged, ");
	make_log_free(&m);
	make_log_free(&t);
}

/* Events of the program, as a reader gives them; `folded`: how many a checkpoint stands for. */
static int count_events(uint64_t *folded)
{
	struct tare_recording *r;
	struct tare_event e;
	int n = 0;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	while (tare_recording_next(r, &e)) {
		if (!e.process || e.process->pid != 431)
			continue;
		n++;
		*folded = e.process->checkpoint_events;
	}
	tare_recording_close(r);
	return n;
}

/* A `tare` that drains late: what is in the ring alone is read from the file later, and not folded now. */
TEST(what_is_in_a_ring_alone_is_not_folded)
{
	const char *events = make_path(make_dir(), "431-0.events"),
		   *ring = make_path(make_dir(), "431-0.ring");
	uint64_t drained, folded = 0;
	int in_file;

	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	make_log_program(&m);
	MAKE(&t, device, DEVICE, .nvml_index = 3, .total = 1u << 30,
	     .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	for (int i = 1; i <= 8; i++)
		add_reading(i * S, (uint64_t)i << 20);
	drained = m.records[m.record_nr / 2].position;
	make_log_write(&m, events, sizeof(m.header) + drained);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	in_file = count_events(&folded);
	make_log_write_ring(&m, ring, drained, false);
	CHECK(count_events(&folded) > in_file);
	CHECK_INT((int64_t)folded, 0);
	fold(5 * S);
	count_events(&folded);
	CHECK((int64_t)folded <= in_file);
	make_log_free(&m);
	make_log_free(&t);
}

/* What the readings of the device were, in order: the last of them up to that moment. */
static uint64_t used_at(int64_t at_ns)
{
	struct tare_recording *r;
	struct tare_event e;
	uint64_t used = 0;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	while (tare_recording_next(r, &e))
		if (e.kind == TARE_KIND_READING && e.at_ns <= at_ns)
			used = e.rec.reading->used;
	tare_recording_close(r);
	return used;
}

/* Nothing since the last checkpoint leaves room for a cut: what that one says must not be cut off. */
TEST(a_checkpoint_is_never_replaced_by_an_earlier_one)
{
	int64_t last = 3 * S + 1000 * INT64_C(50000);

	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	make_log_program(&m);
	MAKE(&t, device, DEVICE, .nvml_index = 3, .total = 1u << 30,
	     .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	add_reading(1 * S, 1u << 20);
	add_reading(2 * S, 2u << 20);
	for (int64_t at = 3 * S; at <= last; at += 50000)
		add_reading(at, 3u << 20);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	fold(last - 3 * S);
	CHECK_INT((int64_t)used_at(3 * S - 1), 2 << 20);
	fold((last - 3 * S) / 2);
	CHECK_INT((int64_t)used_at(3 * S - 1), 2 << 20);
	make_log_free(&m);
	make_log_free(&t);
}

/* A text of a record that a checkpoint is made of has its length with it: here the program of another process. */
TEST(texts_survive_a_fold)
{
	struct tare_recording *r;
	struct tare_event e;
	int found = 0;

	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	make_log_program(&m);
	MAKE(&t, device, DEVICE, .nvml_index = 3, .total = 1u << 30,
	     .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	add_reading(1 * S, 1u << 20);
	MAKE_TEXT(&t, peer, PEER, "neighbour", .pid = 77, .used = 1u << 19, .list = 1);
	for (int i = 2; i <= 8; i++)
		add_reading(i * S, (uint64_t)i << 20);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	fold(5 * S);
	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	while (tare_recording_next(r, &e))
		if (e.kind == TARE_KIND_PEER && e.rec.peer->pid == 77) {
			CHECK_STR(e.text, "neighbour");
			CHECK(e.process->checkpoint_events > 0);
			found++;
		}
	CHECK_INT(found, 1);
	tare_recording_close(r);
	make_log_free(&m);
	make_log_free(&t);
}

/* Files of a log that was folded go; what is counted are all of them. */
TEST(a_log_in_several_files_is_folded)
{
	const char *events = make_path(make_dir(), "431-0.events");
	uint64_t before, folded;

	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	m.header.has_lanes = 1;
	m.header.chunk_bytes = TARE_CHUNK_BYTES_MIN;
	make_log_program(&m);
	while (m.size < 3 * TARE_CHUNK_BYTES_MIN)
		MAKE(&m, event, EVENT, .tid = 11, .effect = TARE_EFFECT_CHANGE);
	m.stamp = m.header.first_stamp + 6 * S;
	while (m.size < 4 * TARE_CHUNK_BYTES_MIN)
		MAKE(&m, event, EVENT, .tid = 11, .effect = TARE_EFFECT_CHANGE);
	MAKE(&t, device, DEVICE, .nvml_index = 3, .total = 1u << 30,
	     .uuid_high = 0x1122334455667788, .uuid_low = 0x99aabbccddeeff00);
	for (int i = 1; i <= 8; i++)
		add_reading(i * S, (uint64_t)i << 20);
	make_log_write_chunks(&m, events);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	before = tare_cap_used(make_dir());
	CHECK(before >= m.size);
	fold(5 * S);
	folded = checkpoint_position(431);
	CHECK(folded >= 3 * TARE_CHUNK_BYTES_MIN && folded < 4 * TARE_CHUNK_BYTES_MIN);
	CHECK(access(make_path(make_dir(), "431-0.events.1"), F_OK) != 0);
	CHECK(access(make_path(make_dir(), "431-0.events.2"), F_OK) != 0);
	CHECK(access(make_path(make_dir(), "431-0.events.3"), F_OK) == 0);
	CHECK(tare_cap_used(make_dir()) < before - 2 * TARE_CHUNK_BYTES_MIN);
	fold(2 * S);
	CHECK_INT(checkpoint_position(431), folded);
	make_log_free(&m);
	make_log_free(&t);
}
