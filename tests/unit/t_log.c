/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/log.h"
#include "make_log.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct make_log m; /* large; a test runs in a process of its own */

static struct tare_log *open_ok(const char *path)
{
	struct tare_log *log = NULL;
	struct tare_err err = { 0 };

	if (tare_log_open(&log, path, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return log;
}

/* Which of the records of `m` come out of the log as they went in. */
static int read_back(struct tare_log *log, bool *is_there)
{
	struct tare_log_record rec;
	enum tare_log_step step;
	int n = 0, i;

	memset(is_there, 0, (size_t)m.record_nr);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		uint64_t end = rec.position + rec.bytes;

		CHECK(rec.bytes > 0);
		if (step == TARE_LOG_GAP)
			continue;
		for (i = 0; i < m.record_nr; i++)
			if (m.records[i].position == rec.position && m.records[i].size == end - rec.position)
				break;
		if (i == m.record_nr || !rec.info)
			continue;
		if (memcmp(rec.rec.head, m.bytes + rec.position, rec.info->fixed < rec.bytes ? rec.info->fixed : rec.bytes) !=
		    0)
			continue;
		if (rec.text && memcmp(rec.text, m.bytes + rec.position + rec.info->fixed, rec.text_len))
			continue;
		is_there[i] = true;
		n++;
	}
	return n;
}

static int read_count(const char *path)
{
	bool is_there[4096];
	struct tare_log *log = open_ok(path);
	int n = read_back(log, is_there);

	tare_log_close(log);
	return n;
}

TEST(every_kind_comes_back)
{
	struct tare_log_record rec;
	struct tare_log *log;
	const char *path = make_path(make_dir(), "1-0.events");
	int kinds = 0;

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	make_log_write(&m, path, SIZE_MAX);
	CHECK_INT(read_count(path), m.record_nr);
	log = open_ok(path);
	while (tare_log_next(log, &rec) == TARE_LOG_RECORD) {
		kinds++;
		CHECK(rec.info);
		CHECK(!rec.is_repaired);
		if (rec.info->tail == TARE_TAIL_TEXT) {
			CHECK_INT(rec.text_len, 21);
			CHECK(!memcmp(rec.text, "a text of some length", 21));
		}
		if (rec.info->tail == TARE_TAIL_PCS) {
			CHECK_INT(rec.depth, 3);
			CHECK_INT(rec.pcs[2], 0x3000);
		}
		for (int i = 0; i < rec.info->field_nr; i++)
			CHECK(rec.info->fields[i].offset + rec.info->fields[i].size <= rec.info->fixed);
	}
	CHECK_INT(kinds, m.record_nr);
	CHECK_INT(tare_log_counts(log)->gaps, 0);
	tare_log_close(log);
	make_log_free(&m);
}

TEST(every_truncation_keeps_what_is_whole)
{
	const char *path = make_path(make_dir(), "1-0.events");

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	for (size_t size = 0; size < sizeof(m.header) + m.size; size++) {
		struct tare_log *log = NULL;
		struct tare_err err = { 0 };
		bool is_there[4096];
		int whole = 0, rc;
		size_t body = size < sizeof(m.header) ? 0 : size - sizeof(m.header);

		make_log_write(&m, path, size);
		rc = tare_log_open(&log, path, &err);
		if (size < sizeof(m.header)) {
			CHECK_INT(rc, size == 0 ? TARE_E_EMPTY : size < 8 ? TARE_E_FORMAT : TARE_E_TRUNCATED);
			continue;
		}
		CHECK_INT(rc, 0);
		while (whole < m.record_nr && m.records[whole].position + m.records[whole].size <= body)
			whole++;
		CHECK_INT(read_back(log, is_there), whole);
		if (whole < m.record_nr && body > m.records[whole].position) {
			CHECK_INT(tare_log_counts(log)->gaps, 1);
			CHECK_INT(tare_log_counts(log)->gap_bytes, body - m.records[whole].position);
		}
		tare_log_close(log);
	}
	make_log_free(&m);
}

/* Which record a byte belongs to. */
static int record_of(size_t position)
{
	for (int i = 0; i < m.record_nr; i++)
		if (position - m.records[i].position < m.records[i].size)
			return i;
	return -1;
}

TEST(a_flipped_bit_costs_one_record)
{
	const char *path = make_path(make_dir(), "1-0.events");
	bool is_there[4096];

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	for (size_t bit = 0; bit < m.size * 8; bit++) {
		uint8_t *byte = &m.bytes[bit / 8];
		int hit = record_of(bit / 8);
		struct tare_log *log;

		*byte ^= (uint8_t)(1 << bit % 8);
		make_log_write(&m, path, SIZE_MAX);
		*byte ^= (uint8_t)(1 << bit % 8);
		log = open_ok(path);
		read_back(log, is_there);
		for (int i = 0; i < m.record_nr; i++)
			if (i != hit && !is_there[i])
				test_fail(__FILE__, __LINE__, "bit %zu of record %d cost record %d", bit - m.records[hit].position * 8,
				          hit, i);
		tare_log_close(log);
	}
	make_log_free(&m);
}

TEST(a_damaged_header_is_refused_or_read)
{
	const char *path = make_path(make_dir(), "1-0.events");

	make_log_init(&m, 1, 0);
	make_log_program(&m);
	for (size_t bit = 0; bit < sizeof(m.header) * 8; bit++) {
		uint8_t *byte = (uint8_t *)&m.header + bit / 8;
		size_t at = bit / 8;
		struct tare_log *log = NULL;
		struct tare_err err = { 0 };
		bool is_there[4096];
		int rc;

		*byte ^= (uint8_t)(1 << bit % 8);
		make_log_write(&m, path, SIZE_MAX);
		*byte ^= (uint8_t)(1 << bit % 8);
		rc = tare_log_open(&log, path, &err);
		if (rc) {
			CHECK_INT(rc, TARE_E_NEWER);
			CHECK(at >= offsetof(struct tare_file_header, version));
			CHECK(at < offsetof(struct tare_file_header, header_bytes));
			continue;
		}
		CHECK_INT(read_back(log, is_there), m.record_nr);
		tare_log_close(log);
	}
	make_log_free(&m);
}

TEST(unfinished_records_leave_holes)
{
	const char *path = make_path(make_dir(), "1-0.events");
	bool is_there[4096];
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	/* Two neighbours were reserved and never begun, one was written up to its seal. */
	memset(m.bytes + m.records[3].position, 0, m.records[3].size + m.records[4].size);
	memset(m.bytes + m.records[8].position, 0, 4);
	make_log_write(&m, path, SIZE_MAX);
	log = open_ok(path);
	CHECK_INT(read_back(log, is_there), m.record_nr - 3);
	CHECK(!is_there[3] && !is_there[4] && !is_there[8]);
	CHECK_INT(tare_log_counts(log)->gaps, 2);
	CHECK_INT(tare_log_counts(log)->gap_bytes, m.records[3].size + m.records[4].size + m.records[8].size);
	tare_log_close(log);
	make_log_free(&m);
}

/* What was folded is cut off once the process has ended. */
TEST(a_log_that_was_cut_at_its_begin)
{
	const char *path = make_path(make_dir(), "1-0.events");
	struct tare_log_record rec;
	bool is_there[4096];
	struct tare_log *log;
	uint8_t *all;

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	all = m.bytes;
	for (int i = 0; i < m.record_nr; i++) {
		size_t base = m.records[i].position, whole = m.size;

		m.header.base = base;
		m.bytes = all + base;
		m.size -= base;
		make_log_write(&m, path, SIZE_MAX);
		m.bytes = all;
		m.size = whole;
		log = open_ok(path);
		CHECK_INT(read_back(log, is_there), m.record_nr - i);
		CHECK_INT(tare_log_counts(log)->gaps, 0);
		tare_log_rewind(log, 0);
		CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
		CHECK_INT(rec.position, base);
		CHECK_INT(tare_log_place(tare_log_info(log), rec.position).offset, TARE_HEADER_BYTES);
		CHECK(!tare_log_info(log)->is_header_damaged);
		tare_log_close(log);
	}
	make_log_free(&m);
}

static void poke(const char *path, off_t at, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && pwrite(fd, bytes, size, at) == (ssize_t)size && close(fd) == 0);
}

TEST(what_is_there_when_it_is_opened_is_read)
{
	const char *path = make_path(make_dir(), "1-0.events");
	bool is_there[4096];
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	make_log_write(&m, path, sizeof(m.header) + m.records[6].position);
	log = open_ok(path);
	make_log_write(&m, path, SIZE_MAX);
	CHECK_INT(read_back(log, is_there), 6);
	/* … and a file that shrinks is not a crash. */
	CHECK(truncate(path, 600) == 0);
	tare_log_rewind(log, 0);
	read_back(log, is_there);
	tare_log_close(log);
	make_log_free(&m);
}

TEST(long_records_cross_the_window)
{
	const char *path = make_path(make_dir(), "1-0.events");
	static char text[65000];
	uint64_t total = 0;
	struct tare_log_record rec;
	struct tare_log *log;
	int n = 0;

	memset(text, 'x', sizeof(text) - 1);
	make_log_init(&m, 1, 0);
	for (int i = 0; i < 100; i++) {
		text[64000 + i * 9] = '\0';
		MAKE_TEXT(&m, string, STRING, text, .id = (uint32_t)i);
		text[64000 + i * 9] = 'x';
		MAKE(&m, lost, LOST, .records = (uint64_t)i);
		total += (uint64_t)i;
	}
	make_log_write(&m, path, SIZE_MAX);
	log = open_ok(path);
	while (tare_log_next(log, &rec) == TARE_LOG_RECORD) {
		if (n % 2 == 0)
			CHECK_INT(rec.text_len, 64000 + n / 2 * 9);
		n++;
	}
	CHECK_INT(n, 200);
	CHECK_INT(tare_log_counts(log)->lost, total);
	tare_log_close(log);
	make_log_free(&m);
}

TEST(a_terabyte_of_nothing_is_stepped_over)
{
	const char *path = make_path(make_dir(), "1-0.events");
	uint64_t far = (1ull << 40);
	struct tare_rec_lost lost = { .head = { .kind = TARE_KIND_LOST, .cells = 2 }, .records = 5 };
	struct tare_log_record rec;
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	make_log_program(&m);
	make_log_write(&m, path, SIZE_MAX);
	lost.head.seal = tare_seal(far);
	if (truncate(path, (off_t)(far + 4096)) < 0)
		SKIP("no sparse files of this size here");
	poke(path, (off_t)(far + TARE_HEADER_BYTES), &lost, sizeof(lost));
	log = open_ok(path);
	for (int i = 0; i < m.record_nr; i++)
		CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_GAP);
	CHECK_INT(rec.gap, TARE_GAP_EMPTY);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(rec.position, far);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_GAP);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_END);
	CHECK(truncate(path, 0) == 0);
	tare_log_close(log);
	make_log_free(&m);
}

/* An older recorder wrote an event without its last fields; a newer one adds some, and a kind. */
TEST(older_and_newer_records)
{
	const char *path = make_path(make_dir(), "1-0.events");
	struct {
		struct tare_rec_event event;
		uint64_t added[5];
	} newer = { .event = { .head = { .kind = TARE_KIND_EVENT }, .tid = 9, .limit = 77 }, .added = { 1, 2, 3, 4, 5 } };
	struct tare_rec_lost unknown = { .head = { .kind = 999 } };
	struct tare_log_record rec;
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	make_log_add(&m, &newer, offsetof(struct tare_rec_event, before), NULL, 0);
	make_log_add(&m, &unknown, sizeof(unknown), NULL, 0);
	make_log_add(&m, &newer, sizeof(newer), NULL, 0);
	make_log_write(&m, path, SIZE_MAX);
	log = open_ok(path);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(rec.rec.event->tid, 9);
	CHECK_INT(rec.rec.event->limit, 0);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK(!rec.info);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(rec.rec.event->limit, 77);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_END);
	CHECK_INT(tare_log_counts(log)->unknown, 1);
	CHECK_INT(tare_log_counts(log)->repaired, 0);
	tare_log_close(log);
	make_log_free(&m);
}

static int open_fails(const char *path, struct tare_err *err)
{
	struct tare_log *log = NULL;

	memset(err, 0, sizeof(*err));
	return tare_log_open(&log, path, err);
}

TEST(refusals_say_what_to_do)
{
	const char *path = make_path(make_dir(), "1-0.events");
	struct tare_err err;
	FILE *f;

	CHECK_INT(open_fails("/nonexistent/1-0.events", &err), TARE_E_NOT_FOUND);
	CHECK_INT(open_fails("/tmp", &err), TARE_E_FORMAT);
	CHECK_INT(open_fails("/dev/null", &err), TARE_E_FORMAT);

	make_log_init(&m, 1, 0);
	make_log_program(&m);
	m.header.version = TARE_FORMAT_VERSION + 3;
	strcpy(m.header.tool, "9.1");
	make_log_write(&m, path, SIZE_MAX);
	CHECK_INT(open_fails(path, &err), TARE_E_NEWER);
	CHECK_HAS(err.text, "format 3, written by Tare 9.1");
	CHECK_HAS(err.text, "reads formats up to 0");
	CHECK_HAS(err.text, "open it with Tare 9.1 or newer");

	m.header.version = TARE_FORMAT_VERSION;
	m.header.endian = __builtin_bswap32(TARE_ENDIAN_MARK);
	make_log_write(&m, path, SIZE_MAX);
	CHECK_INT(open_fails(path, &err), TARE_E_UNSUPPORTED);
	CHECK_HAS(err.text, "byte order");

	f = fopen(path, "w");
	CHECK(f);
	for (int i = 0; i < 500; i++)
		fprintf(f, "this is some other file\n");
	fclose(f);
	CHECK_INT(open_fails(path, &err), TARE_E_FORMAT);
	CHECK_HAS(err.text, "is not a recording of Tare");
	make_log_free(&m);
}

TEST(header_texts_are_safe_to_print)
{
	const char *path = make_path(make_dir(), "1-0.events");
	struct tare_log *log;

	make_log_init(&m, 1, 0);
	memset(m.header.program, 'x', sizeof(m.header.program));
	strcpy(m.header.host, "a\x1b[31mb\n");
	make_log_write(&m, path, SIZE_MAX);
	log = open_ok(path);
	CHECK_INT(strlen(tare_log_info(log)->header.program), sizeof(m.header.program) - 1);
	CHECK_STR(tare_log_info(log)->header.host, "a?[31mb?");
	tare_log_close(log);
	make_log_free(&m);
}
