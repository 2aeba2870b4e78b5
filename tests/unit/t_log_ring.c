/* SPDX-License-Identifier: Apache-2.0 */
/* A log that goes on in a ring: what is in the file, what only a lane has, and what is in both. */
#include "make_log.h"
#include "test.h"
#include "trace/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct make_log m; /* large; a test runs in a process of its own */

enum { OPENING = 4096 }; /* opening a log reads less at once */

/* What a reader sees of a block that is being written: not these bytes of its file, at the first few times. */
static struct {
	uint64_t begin, end;
	int times;
} unwritten;

size_t __real_tare_log_pread(int fd, void *to, size_t size, uint64_t offset);
size_t __wrap_tare_log_pread(int fd, void *to, size_t size, uint64_t offset);

/* The linker puts this in place of the reader's own (meson.build). */
size_t __wrap_tare_log_pread(int fd, void *to, size_t size, uint64_t offset)
{
	size_t got = __real_tare_log_pread(fd, to, size, offset);

	if (unwritten.times == 0 || size <= OPENING || offset >= unwritten.end || offset + got <= unwritten.begin)
		return got;
	unwritten.times--;
	for (uint64_t at = unwritten.begin; at < unwritten.end && at < offset + got; at++)
		((uint8_t *)to)[at - offset] = 0;
	return got;
}

static const char *events_path(void)
{
	return make_path(make_dir(), "1-0.events");
}

static const char *ring_path(void)
{
	return make_path(make_dir(), "1-0.ring");
}

/* The same fields and the same tail, wherever it lies. */
static bool is_record(const struct tare_log_record *rec, int i)
{
	const uint8_t *bytes = m.bytes + m.records[i].position;
	size_t fixed = rec->info->fixed < rec->bytes ? rec->info->fixed : rec->bytes;

	return rec->bytes == m.records[i].size && !memcmp((const uint8_t *)rec->rec.head + 4, bytes + 4, fixed - 4) &&
	       (!rec->text || !memcmp(rec->text, bytes + rec->info->fixed, rec->text_len));
}

/* The records of `m` from `first` on come out, each once and in order, and nothing else. Returns the gaps. */
static uint64_t read_all_from(const char *path, int first, int last)
{
	struct tare_log *log = NULL;
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_err err = { 0 };
	uint64_t gaps;
	int next = first;

	if (tare_log_open(&log, path, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		if (step == TARE_LOG_GAP || rec.info->kind == TARE_KIND_LANE)
			continue;
		CHECK(next < last);
		CHECK(is_record(&rec, next));
		next++;
	}
	CHECK_INT(next, last);
	gaps = tare_log_counts(log)->gaps;
	tare_log_close(log);
	return gaps;
}

static uint64_t read_all(const char *path)
{
	return read_all_from(path, 0, m.record_nr);
}

static void make(int times)
{
	make_log_init(&m, 1, 0);
	for (int i = 0; i < times; i++)
		make_log_every_kind(&m);
	/* The seeds of kind LANE are records like others here: no block lies behind them. */
	for (int i = 0; i < m.record_nr; i++) {
		struct tare_record *rec = (struct tare_record *)(void *)(m.bytes + m.records[i].position);

		if (rec->kind == TARE_KIND_LANE)
			rec->kind = TARE_KIND_CLOCK;
	}
}

TEST(the_ring_goes_on_where_the_file_ends)
{
	make(24);
	CHECK(m.size > MAKE_LANE_BYTES); /* the lane wraps, in the middle of records */
	for (int i = m.record_nr - 100; i <= m.record_nr; i++) {
		uint64_t drained = i < m.record_nr ? m.records[i].position : m.size;

		make_log_write_block(&m, events_path(), drained, SIZE_MAX);
		make_log_write_ring(&m, ring_path(), drained, i == m.record_nr);
		CHECK_INT(read_all(events_path()), 0);
	}
	make_log_free(&m);
}

/* A drainer was killed in its write, or has not moved the tail yet: the file may have any part of the block. */
TEST(a_block_that_is_not_whole_is_read_from_the_ring)
{
	make(1);
	make_log_write_ring(&m, ring_path(), 0, false);
	for (size_t body = 0; body <= m.size + sizeof(struct tare_rec_lane); body += 7) {
		make_log_write_block(&m, events_path(), m.size, sizeof(m.header) + body);
		CHECK_INT(read_all(events_path()), 0);
	}
	/* The ring alone, too: it has the header. */
	CHECK(remove(events_path()) == 0);
	CHECK_INT(read_all(events_path()), 0);
	CHECK_INT(read_all(ring_path()), 0);
	make_log_free(&m);
}

/* Its head comes first, so who reads once more has it. */
TEST(the_begin_of_a_block_is_written_while_it_is_read)
{
	const uint64_t block = sizeof(m.header), head = sizeof(struct tare_rec_lane);

	make(3);
	CHECK(m.size > OPENING && m.size < MAKE_LANE_BYTES);
	make_log_write_ring(&m, ring_path(), 0, false);
	make_log_write_block(&m, events_path(), m.size, SIZE_MAX);
	for (unwritten.begin = block; unwritten.begin < block + head; unwritten.begin += TARE_CELL)
		for (unwritten.end = block + head; unwritten.end < block + m.size; unwritten.end += 37 * TARE_CELL) {
			unwritten.times = 1;
			CHECK_INT(read_all(events_path()), 0);
			CHECK_INT(unwritten.times, 0);
		}
	make_log_free(&m);
}

/* Of its last record only the end is there: no record of the block is, and the next one is that of another block. */
TEST(all_records_of_a_block_are_written_while_it_is_read)
{
	const uint64_t block = sizeof(m.header), head = sizeof(struct tare_rec_lane);
	uint64_t last;

	make(3);
	MAKE_TEXT(&m, peer, PEER, "a text that is longer than the cell in which the record of it ends");
	last = m.records[m.record_nr - 1].position;
	make_log_write_ring(&m, ring_path(), 0, false);
	make_log_write_block(&m, events_path(), m.size, SIZE_MAX);
	unwritten.begin = block;
	for (unwritten.end = block + head + last + TARE_CELL; unwritten.end < block + head + m.size;
	     unwritten.end += TARE_CELL) {
		unwritten.times = 1;
		CHECK_INT(read_all(events_path()), 0);
		CHECK_INT(unwritten.times, 0);
	}
	make_log_free(&m);
}

/* A block whose begin never comes is damage, and not waited for. */
TEST(the_begin_of_a_block_is_not_there)
{
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_log *log;

	make(3);
	CHECK(m.size > OPENING && m.size < MAKE_LANE_BYTES);
	make_log_write_ring(&m, ring_path(), m.size, false);
	make_log_write_block(&m, events_path(), m.size, SIZE_MAX);
	unwritten.begin = sizeof(m.header);
	unwritten.end = sizeof(m.header) + sizeof(struct tare_rec_lane) + m.records[3].position;
	unwritten.times = 1 << 30;
	CHECK_INT(tare_log_open(&log, events_path(), NULL), 0);
	for (int next = 3; (step = tare_log_next(log, &rec)) != TARE_LOG_END;)
		if (step == TARE_LOG_RECORD)
			CHECK(is_record(&rec, next++));
	CHECK_INT(tare_log_counts(log)->records, m.record_nr - 3);
	tare_log_close(log);
	make_log_free(&m);
}

static void poke(const char *path, off_t at, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && pwrite(fd, bytes, size, at) == (ssize_t)size && close(fd) == 0);
}

TEST(damaged_counts_of_a_lane_cost_nothing)
{
	static const size_t places[] = { offsetof(struct tare_lane, head), offsetof(struct tare_lane, tail) };
	uint64_t wild = 1ull << 60 | 5;

	make(1);
	for (int drained = 0; drained < m.record_nr; drained += 9)
		for (size_t i = 0; i < 2; i++) {
			make_log_write_block(&m, events_path(), m.records[drained].position, SIZE_MAX);
			make_log_write_ring(&m, ring_path(), m.records[drained].position, false);
			poke(ring_path(), (off_t)(TARE_RING_HEADER_BYTES + places[i]), &wild, sizeof(wild));
			CHECK_INT(read_all(events_path()), 0);
		}
	make_log_free(&m);
}

/* A header that says nothing usable, and a ring that is none: the file is all there is, and a crash is not. */
TEST(a_ring_that_cannot_be_understood)
{
	uint32_t odd = 12345;
	int half;

	make(1);
	half = m.record_nr / 2;
	make_log_write_block(&m, events_path(), m.records[half].position, SIZE_MAX);
	make_log_write_ring(&m, ring_path(), m.records[half].position, false);
	poke(ring_path(), offsetof(struct tare_ring_header, lane_bytes), &odd, sizeof(odd));
	CHECK_INT(read_all_from(events_path(), 0, half), 0);
	CHECK(truncate(ring_path(), 5000) == 0);
	CHECK_INT(read_all_from(events_path(), 0, half), 0);
	make_log_free(&m);
}

/* A lane says how far it came: what is not there is missing, however long ago. */
TEST(a_lane_that_goes_on_later_shows_what_is_missing)
{
	struct tare_rec_lane lane = { .head = { .seal = tare_seal(0), .kind = TARE_KIND_LANE, .cells = 2 },
		                          .lane = 3,
		                          .from = 4096 };
	struct tare_log_record rec;
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	m.header.has_lanes = 1;
	make_log_add(&m, &lane, sizeof(lane), NULL, 0);
	make_log_write(&m, events_path(), SIZE_MAX);
	CHECK_INT(tare_log_open(&log, events_path(), NULL), 0);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_GAP);
	CHECK_INT(rec.gap, TARE_GAP_MISSING);
	CHECK_INT(rec.bytes, 4096);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_END);
	tare_log_close(log);
	make_log_free(&m);
}

/* What a lane lost and could not say any more stands in its header. */
TEST(losses_that_nobody_told_are_read_from_the_lane)
{
	struct tare_lane lane = {
		.tid = 77, .lost = 9, .lost_told = 2, .lost_first = 100, .lost_last = 200, .lost_reason = TARE_LOST_DISK_FULL
	};
	struct tare_log_record rec;
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	make_log_write_block(&m, events_path(), 0, sizeof(m.header));
	make_log_write_ring(&m, ring_path(), 0, false);
	poke(ring_path(), TARE_RING_HEADER_BYTES, &lane, sizeof(lane));
	CHECK_INT(tare_log_open(&log, events_path(), NULL), 0);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(rec.info->kind, TARE_KIND_LOST);
	CHECK_INT(rec.rec.lost->records, 7);
	CHECK_INT(rec.rec.lost->first, 100);
	CHECK_INT(rec.rec.lost->last, 200);
	CHECK_INT(rec.rec.lost->tid, 77);
	CHECK_INT(rec.rec.lost->reason, TARE_LOST_DISK_FULL);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_END);
	tare_log_close(log);
	make_log_free(&m);
}
