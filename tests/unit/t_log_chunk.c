/* SPDX-License-Identifier: Apache-2.0 */
/* A log in several files: what lies across two of them, what is missing, what had to be written elsewhere. */
#include "make_log.h"
#include "test.h"
#include "trace/chunk_files.h"
#include "trace/log_private.h"
#include "trace/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { C = TARE_CHUNK_BYTES_MIN, CHUNKS = 5 };

static struct make_log m; /* large; a test runs in a process of its own */
static const struct tare_chunks chunks = { TARE_HEADER_BYTES, C };

static const char *events_path(void)
{
	return make_path(make_dir(), "1-0.events");
}

/* Records for CHUNKS files. The seeds of kind LANE are records like others: no block lies behind them. */
static void make(void)
{
	make_log_init(&m, 1, 0);
	m.header.has_lanes = 1;
	m.header.chunk_bytes = C;
	while (m.size < (CHUNKS - 1) * C + C / 2)
		make_log_every_kind(&m);
	for (int i = 0; i < m.record_nr; i++) {
		struct tare_record *rec = (struct tare_record *)(void *)(m.bytes + m.records[i].position);

		if (rec->kind == TARE_KIND_LANE)
			rec->kind = TARE_KIND_CLOCK;
	}
	CHECK(m.size < CHUNKS * C);
}

static void write_at(uint64_t chunk, uint64_t offset, const void *bytes, size_t size)
{
	char *path = tare_chunk_path(events_path(), chunk);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	CHECK(fd >= 0 && pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size);
	close(fd);
	free(path);
}

static void write_header(void)
{
	write_at(0, 0, &m.header, sizeof(m.header));
}

/* Positions from .. to, each in its chunk; or as if there were none. */
static void write_range(uint64_t from, uint64_t to)
{
	struct tare_chunk_part part;

	for (; from < to; from += part.size) {
		part = tare_chunk_part(&chunks, from, to - from);
		write_at(part.chunk, part.offset, m.bytes + from, part.size);
	}
}

static void write_range_in_first(uint64_t from, uint64_t to)
{
	write_at(0, tare_chunk_part_in_first(&chunks, from, to - from).offset, m.bytes + from, to - from);
}

static void write_all(void)
{
	make_log_write_chunks(&m, events_path());
}

/* Of this chunk, or -1: there is none. */
static int64_t size_of(uint64_t chunk)
{
	char *path = tare_chunk_path(events_path(), chunk);
	struct stat st;
	int64_t size = stat(path, &st) == 0 ? (int64_t)st.st_size : -1;

	free(path);
	return size;
}

struct bytes {
	uint64_t disk, apparent;
};

/* Of all files of the log. */
static struct bytes bytes_of_all(void)
{
	struct bytes sum = { 0 };

	for (uint64_t i = 0; i <= CHUNKS; i++) {
		char *path = tare_chunk_path(events_path(), i);
		struct stat st;

		if (stat(path, &st) == 0) {
			sum.disk += (uint64_t)st.st_blocks * 512;
			sum.apparent += (uint64_t)st.st_size;
		}
		free(path);
	}
	return sum;
}

static struct tare_log *open_log(const char *path)
{
	struct tare_err err = { 0 };
	struct tare_log *log;

	if (tare_log_open(&log, path, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return log;
}

/* The records from this one on come out, whole, each once and in order, and nothing else, not even a gap. */
static void check_from(struct tare_log *log, int next)
{
	struct tare_log_record rec;

	CHECK_INT(tare_log_info(log)->end, m.size);
	while (tare_log_next(log, &rec) == TARE_LOG_RECORD) {
		CHECK(next < m.record_nr);
		CHECK_INT(rec.position, m.records[next].position);
		CHECK_INT(rec.bytes, m.records[next].size);
		CHECK(!memcmp(rec.raw + 4, m.bytes + rec.position + 4, rec.bytes - 4));
		next++;
	}
	CHECK_INT(next, m.record_nr);
	CHECK_INT(tare_log_counts(log)->gaps, 0);
	tare_log_close(log);
}

static void check_all(void)
{
	struct tare_log *log = open_log(events_path());

	CHECK(!tare_log_info(log)->is_header_damaged);
	check_from(log, 0);
}

/* The first record that begins at this position or behind it. */
static int record_from(uint64_t position)
{
	int i = 0;

	while (m.records[i].position < position)
		i++;
	return i;
}

TEST(positions_have_a_file)
{
	static const struct tare_chunks one = { 512, 0 }, many = { 512, C };
	struct tare_chunk_part part = tare_chunk_part(&one, 1ull << 41, 100);

	CHECK(part.chunk == 0 && part.offset == 512 + (1ull << 41) && part.size == 100);
	part = tare_chunk_part(&many, C - 16, 100);
	CHECK(part.chunk == 0 && part.offset == 512 + C - 16 && part.size == 16);
	part = tare_chunk_part(&many, C, 100);
	CHECK(part.chunk == 1 && part.offset == 0 && part.size == 100);
	part = tare_chunk_part(&many, 3 * C - 1, 2);
	CHECK(part.chunk == 2 && part.offset == C - 1 && part.size == 1);
	CHECK(tare_chunk_bytes_are_sane(TARE_CHUNK_BYTES));
	CHECK(!tare_chunk_bytes_are_sane(0) && !tare_chunk_bytes_are_sane(C - 1));
	CHECK(!tare_chunk_bytes_are_sane(C / 2) && !tare_chunk_bytes_are_sane(3 * C));
}

TEST(names_of_chunks)
{
	static const char *const no[] = { "1-0.events",
		                              "1-0.events.",
		                              "1-0.events.0",
		                              "1-0.events.01",
		                              "1-0.events.1x",
		                              "1-0.ring.1",
		                              ".events.1",
		                              "1-0.events.new",
		                              "1-0.events.67108864",
		                              "1",
		                              "",
		                              "1-0.events.99999999999999999999" };
	uint32_t number = 0;

	CHECK_INT(tare_chunk_name("1-0.events.1", &number), 10);
	CHECK_INT(number, 1);
	CHECK_INT(tare_chunk_name("431-12.events.67108863", &number), 13);
	CHECK_INT(number, 67108863);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (tare_chunk_name(no[i], NULL))
			test_fail(__FILE__, __LINE__, "%s", no[i]);
}

TEST(records_lie_across_files)
{
	int across = 0;

	make();
	for (int i = 0; i < m.record_nr; i++)
		across += m.records[i].position / C != (m.records[i].position + m.records[i].size - 1) / C;
	CHECK(across > 0);
	write_all();
	CHECK_INT(size_of(0), TARE_HEADER_BYTES + C);
	CHECK_INT(size_of(1), C);
	CHECK(size_of(CHUNKS - 1) > 0 && size_of(CHUNKS) < 0);
	check_all();
}

TEST(the_ring_goes_on_behind_the_last_file)
{
	int next = 0, drained;
	struct tare_log_record rec;
	struct tare_log *log;

	make();
	drained = record_from(m.size - 3000);
	write_header();
	write_range(0, m.records[drained].position);
	make_log_write_ring(&m, make_path(make_dir(), "1-0.ring"), m.records[drained].position, false);
	log = open_log(events_path());
	CHECK_INT(tare_log_info(log)->file_end, m.records[drained].position);
	while (tare_log_next(log, &rec) != TARE_LOG_END)
		if (rec.info && rec.info->kind != TARE_KIND_LANE) {
			CHECK_INT(rec.bytes, m.records[next].size);
			CHECK_INT(rec.is_in_ring, next >= drained);
			next++;
		}
	CHECK_INT(next, m.record_nr);
	tare_log_close(log);
}

/* Somebody reads the folder, and meanwhile drainers make two chunks, of which the folder tells the second. */
TEST(a_chunk_is_made_while_the_folder_is_read)
{
	char *chunk, *aside = strdup(make_path(make_dir(), "aside"));
	struct tare_log_record rec;
	struct tare_log *log;
	int next = 0;

	make();
	chunk = tare_chunk_path(events_path(), 1);
	write_all();
	make_log_write_ring(&m, make_path(make_dir(), "1-0.ring"), m.size, false);
	CHECK(rename(chunk, aside) == 0);
	log = open_log(events_path());
	CHECK(rename(aside, chunk) == 0);
	while (tare_log_next(log, &rec) == TARE_LOG_RECORD)
		CHECK_INT(rec.position, m.records[next++].position);
	CHECK_INT(next, m.record_nr);
	tare_log_close(log);
	free(chunk);
	free(aside);
}

TEST(an_empty_chunk_is_no_end)
{
	make();
	write_all();
	write_at(40, 0, "", 0);
	check_all();
}

TEST(what_is_missing_is_skipped)
{
	struct tare_log *log;
	struct tare_log_record rec;
	enum tare_log_step step;
	char *path;
	int seen = 0;

	make();
	write_all();
	path = tare_chunk_path(events_path(), 2);
	CHECK(unlink(path) == 0);
	free(path);
	log = open_log(events_path());
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END)
		seen += step == TARE_LOG_RECORD && (rec.position + rec.bytes <= 2 * C || rec.position >= 3 * C);
	for (int i = 0; i < m.record_nr; i++)
		seen -= m.records[i].position + m.records[i].size <= 2 * C || m.records[i].position >= 3 * C;
	CHECK_INT(seen, 0);
	tare_log_close(log);
}

/* As far as a number can be: what lies between costs no time. */
TEST(a_chunk_far_away)
{
	struct tare_log *log;
	struct tare_log_record rec;
	enum tare_log_step step;
	int seen = 0;

	make();
	write_all();
	write_at(67108863, 100, m.bytes, 5000);
	log = open_log(events_path());
	CHECK(tare_log_info(log)->end > 1ull << 41);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END)
		seen += step == TARE_LOG_RECORD;
	CHECK_INT(seen, m.record_nr);
	tare_log_close(log);
}

TEST(who_could_make_no_chunk_wrote_into_the_first_file)
{
	make();
	write_header();
	write_range(0, 2 * C - 1000);
	/* No chunk 2 at all, of chunk 3 a part, across its begin and its end; some of it in both. */
	write_range_in_first(2 * C - 1000, 3 * C + 500);
	write_range(3 * C + 300, 4 * C - 700);
	write_range_in_first(4 * C - 700, 4 * C + 900);
	write_range(4 * C + 900, m.size);
	CHECK(size_of(2) < 0);
	check_all();
}

/* Behind a hole in which no chunk is. */
TEST(the_first_file_has_what_lies_far_behind)
{
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_log *log;
	int seen = 0;

	make();
	write_header();
	write_range(0, m.records[record_from(C / 2)].position);
	write_range_in_first(m.records[record_from(3 * C + 1000)].position, m.size);
	log = open_log(events_path());
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END)
		seen += step == TARE_LOG_RECORD;
	CHECK_INT(seen, record_from(C / 2) + m.record_nr - record_from(3 * C + 1000));
	tare_log_close(log);
}

TEST(all_of_it_in_the_first_file)
{
	make();
	write_header();
	write_range_in_first(0, m.size);
	check_all();
}

TEST(a_damaged_size_is_noticed)
{
	static const uint32_t wrong[] = { 2 * C, C + 16, C | 1, 1, UINT32_MAX, 3u << 30 };

	make();
	write_all();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct tare_log *log;

		m.header.chunk_bytes = wrong[i];
		write_header();
		log = open_log(events_path());
		CHECK(tare_log_info(log)->is_header_damaged);
		CHECK_INT(tare_log_info(log)->header.chunk_bytes, C);
		check_from(log, 0);
	}
}

TEST(what_is_given_back)
{
	struct bytes bytes;
	struct tare_log *log;
	int first;

	make();
	write_all();
	bytes = bytes_of_all();
	CHECK_INT(bytes.apparent, TARE_HEADER_BYTES + m.size);
	CHECK(bytes.disk >= m.size);
	first = record_from(2 * C + 5000);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(tare_log_trim(events_path(), m.records[first].position), 0);
		CHECK_INT(size_of(0), TARE_HEADER_BYTES);
		CHECK(size_of(1) < 0 && size_of(2) == C);
		/* A drainer that is late writes some of it again. */
		if (i == 0) {
			write_range(C - 5000, C + 5000);
			CHECK(size_of(1) == 5000);
		}
	}
	log = open_log(events_path());
	check_from(log, first);
	bytes = bytes_of_all();
	CHECK_INT(bytes.apparent, TARE_HEADER_BYTES + m.size - 2 * C);
	CHECK(bytes.disk < bytes.apparent + 16384);
}

TEST(a_part_of_the_first_file_is_given_back)
{
	int first;

	make();
	write_all();
	first = record_from(C / 2);
	CHECK_INT(tare_log_trim(events_path(), m.records[first].position), 0);
	CHECK_INT(size_of(0), TARE_HEADER_BYTES + C);
	check_from(open_log(events_path()), first);
	CHECK_INT(tare_log_trim(events_path(), 0), 0);
	check_from(open_log(events_path()), first);
}

TEST(all_is_given_back)
{
	struct tare_log *log;
	struct tare_log_record rec;

	make();
	write_all();
	CHECK_INT(tare_log_trim(events_path(), CHUNKS * C), 0);
	for (int i = 1; i < CHUNKS; i++)
		CHECK(size_of((uint64_t)i) < 0);
	log = open_log(events_path());
	CHECK(tare_log_next(log, &rec) == TARE_LOG_END);
	tare_log_close(log);
}

TEST(a_log_in_one_file_gives_back_a_hole)
{
	int first;

	make();
	m.header.chunk_bytes = 0;
	write_header();
	write_range_in_first(0, m.size);
	first = record_from(3 * C);
	CHECK_INT(tare_log_trim(events_path(), m.records[first].position), 0);
	CHECK(bytes_of_all().disk < 2 * C + 16384);
	check_from(open_log(events_path()), first);
}

/* What lies in the first file behind its own positions stays: whether the log was trimmed there or is being written. */
TEST(what_the_first_file_has_for_others_is_not_cut)
{
	int first, fd;

	make();
	write_header();
	write_range(0, 3 * C);
	write_range_in_first(3 * C, m.size);
	first = record_from(2 * C);
	CHECK_INT(tare_log_trim(events_path(), m.records[first].position), 0);
	CHECK(size_of(1) < 0);
	CHECK_INT(size_of(0), TARE_HEADER_BYTES + m.size);
	check_from(open_log(events_path()), first);

	unlink(events_path());
	write_header();
	write_range(0, m.size);
	fd = open(events_path(), O_WRONLY);
	CHECK(flock(fd, LOCK_SH | LOCK_NB) == 0);
	CHECK_INT(tare_log_trim(events_path(), m.records[first].position), 0);
	CHECK_INT(size_of(0), TARE_HEADER_BYTES + C);
	close(fd);
	CHECK_INT(tare_log_trim(events_path(), m.records[first].position), 0);
	CHECK_INT(size_of(0), TARE_HEADER_BYTES);
	check_from(open_log(events_path()), first);
}

TEST(a_damaged_header_gives_back_nothing)
{
	make();
	write_all();
	m.header.chunk_bytes = C + 16;
	write_header();
	CHECK_INT(tare_log_trim(events_path(), m.size), -EBADMSG);
	m.header.chunk_bytes = C;
	m.header.magic[0] = 'X';
	write_header();
	CHECK_INT(tare_log_trim(events_path(), m.size), -EBADMSG);
	CHECK_INT(size_of(1), C);
	CHECK_INT(tare_log_trim(make_path(make_dir(), "2-0.events"), 1), -ENOENT);
}

/* Two readers in turns, with descriptors for one: files are closed and opened again. */
TEST(few_descriptors)
{
	struct rlimit limit = { 16, 16 };
	struct tare_log *logs[2], *shared[2];
	struct tare_log_record rec;
	int seen[2] = { 0 };

	make();
	write_all();
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	for (int i = 0; i < 2; i++) {
		logs[i] = open_log(events_path());
		shared[i] = tare_log_share(logs[i]);
		tare_log_set_range(shared[i], 0, UINT64_MAX);
	}
	for (bool is_more = true; is_more;) {
		is_more = false;
		for (int i = 0; i < 2; i++)
			if (tare_log_next(shared[i], &rec) == TARE_LOG_RECORD) {
				is_more = true;
				seen[i]++;
			}
	}
	CHECK(seen[0] == m.record_nr && seen[1] == m.record_nr);
	for (int i = 0; i < 2; i++) {
		tare_log_close(shared[i]);
		tare_log_close(logs[i]);
	}
}

/* A reader that goes on where the log had nothing yet when it was opened. */
TEST(a_hole_that_came_later)
{
	struct tare_rec_peer later = { .head = { .kind = TARE_KIND_PEER,
		                                     .cells = (sizeof(later) + TARE_CELL - 1) / TARE_CELL } };
	const uint64_t bytes = later.head.cells * (uint64_t)TARE_CELL;
	struct tare_log *log, *reader;
	struct tare_log_record rec;
	int fd;

	make_log_init(&m, 1, 0);
	MAKE_TEXT(&m, peer, PEER, "what there was");
	make_log_write(&m, events_path(), SIZE_MAX);
	log = open_log(events_path());
	reader = tare_log_share(log);
	for (uint64_t at = m.size + TARE_CELL; at < 4 * C; at += C / 2) {
		later.head.seal = tare_seal(at);
		fd = open(events_path(), O_WRONLY | O_TRUNC);
		CHECK(fd >= 0 && pwrite(fd, &later, sizeof(later), (off_t)(TARE_HEADER_BYTES + at)) == sizeof(later));
		close(fd);
		reader->info.file_end = reader->info.end = reader->ring_end = at + bytes;
		tare_log_set_range(reader, m.size, at + bytes);
		CHECK_INT(tare_log_next(reader, &rec), TARE_LOG_GAP);
		CHECK_INT(rec.bytes, at - m.size);
		CHECK_INT(tare_log_next(reader, &rec), TARE_LOG_RECORD);
		CHECK_INT(rec.position, at);
		CHECK_INT(tare_log_next(reader, &rec), TARE_LOG_END);
	}
	tare_log_close(reader);
	tare_log_close(log);
	make_log_free(&m);
}

enum { GLANCED_BLOCKS = 40, IN_GLANCED = 50 };

/* A block of a lane, whose first records are long ones; returns its position. */
static size_t add_block(struct make_log *m, uint32_t lane, uint64_t *from, int strings)
{
	static char text[5000];
	size_t at = MAKE(m, lane, LANE, .lane = lane, .from = *from), begin = m->size;

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < strings; i++)
		MAKE_TEXT(m, string, STRING, text + i * 1200, .id = (uint32_t)(m->size + 1));
	for (int i = 0; i < IN_GLANCED; i++)
		MAKE(m, heap_freed, HEAP_FREED, .block = 4096 + (uint64_t)i);
	((struct tare_rec_lane *)(void *)(m->bytes + at))->bytes = (uint32_t)(m->size - begin);
	*from += m->size - begin;
	return at;
}

/* Of each block the first record is looked at, wherever it lies behind strings that are longer than what is read at once. */
TEST(the_oldest_record_behind_a_place)
{
	const char *path = make_path(make_dir(), "1-0.events");
	uint64_t from[8] = { 0 }, first[GLANCED_BLOCKS], oldest = UINT64_MAX;
	size_t at[GLANCED_BLOCKS];
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	m.header.has_lanes = 1;
	for (int b = 0; b < GLANCED_BLOCKS; b++) {
		first[b] = 1000000 + (uint64_t)(b * 7919 % 1000) * 1000 + (uint64_t)(b / 10) * 100000;
		m.stamp = first[b] - (uint64_t)(b % 5) - 1; /* of the head and the strings */
		at[b] = add_block(&m, (uint32_t)b % 8, &from[b % 8], b % 5);
	}
	make_log_write(&m, path, SIZE_MAX);
	CHECK_INT(tare_log_open(&log, path, NULL), 0);
	for (int b = GLANCED_BLOCKS; b-- > 0;) {
		oldest = first[b] < oldest ? first[b] : oldest;
		CHECK_INT(tare_log_oldest_between(log, at[b], m.size), oldest);
	}
	tare_log_close(log);
	make_log_free(&m);
}
