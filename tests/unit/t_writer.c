/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/writer.h"
#include "make_log.h"
#include "test.h"
#include "record/chunk.h"
#include "trace/log.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static struct tare_writer *open_ok(const char *path)
{
	struct tare_file_header header;
	struct tare_writer *w = NULL;
	struct tare_err err = { 0 };

	tare_encode_header(&header, TARE_ROLE_TARE, TARE_CLOCK_MONOTONIC_NS);
	if (tare_writer_open(&w, path, &header, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return w;
}

TEST(what_is_added_can_be_read)
{
	const char *path = make_path(make_dir(), "tare.events");
	struct tare_writer *w = open_ok(path);
	struct tare_log_record rec;
	struct tare_log *log;
	static char text[66000];
	uint32_t n;

	memset(text, 't', sizeof(text));
	for (n = 0; n < 1000; n++) {
		struct tare_rec_string string = { .head = { .kind = TARE_KIND_STRING, .stamp = n }, .id = n, .bytes = n * 65 };

		CHECK_INT(tare_writer_add(w, &string, sizeof(string), text, n * 65), 0);
	}
	CHECK_INT(tare_writer_add(w, text, 1000, text, sizeof(text)), TARE_E_RANGE);
	CHECK_INT(tare_writer_flush(w), 0);
	CHECK_INT(tare_log_open(&log, path, NULL), 0);
	for (n = 0; n < 1000; n++) {
		CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
		CHECK_INT(rec.rec.string->id, n);
		CHECK_INT(rec.text_len, n * 65);
	}
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_END);
	tare_log_close(log);
	CHECK_INT(tare_writer_close(w), 0);
}

TEST(a_log_in_several_files)
{
	const char *path = make_path(make_dir(), "tare.events");
	struct tare_file_header header;
	struct tare_log_record rec;
	struct tare_writer *w;
	struct tare_log *log;
	uint64_t n = 0;

	tare_encode_header(&header, TARE_ROLE_TARE, TARE_CLOCK_MONOTONIC_NS);
	header.chunk_bytes = TARE_CHUNK_BYTES_MIN;
	CHECK_INT(tare_writer_open(&w, path, &header, NULL), 0);
	for (uint64_t i = 0; i < 3000; i++) {
		struct tare_rec_event event = { .head = { .kind = TARE_KIND_EVENT }, .handle = i };

		CHECK_INT(tare_writer_add(w, &event, sizeof(event), NULL, 0), 0);
	}
	CHECK_INT(tare_writer_close(w), 0);
	CHECK(access(make_path(make_dir(), "tare.events.3"), F_OK) == 0);
	CHECK_INT(tare_log_open(&log, path, NULL), 0);
	while (tare_log_next(log, &rec) == TARE_LOG_RECORD)
		CHECK_INT(rec.rec.event->handle, n++);
	CHECK_INT(n, 3000);
	tare_log_close(log);
}

TEST(an_existing_file_is_left_alone)
{
	const char *path = make_path(make_dir(), "tare.events");
	struct tare_file_header header;
	struct tare_writer *w = open_ok(path);
	struct tare_err err = { 0 };

	CHECK_INT(tare_writer_close(w), 0);
	tare_encode_header(&header, TARE_ROLE_TARE, TARE_CLOCK_MONOTONIC_NS);
	CHECK_INT(tare_writer_open(&w, path, &header, &err), TARE_E_EXISTS);
	CHECK_INT(tare_writer_open(&w, "/nonexistent/x.events", &header, &err), TARE_E_NOT_FOUND);
}

static void limit_file_size(uint64_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* A limit on the size of files stands for a disk that is full, then has room again. */
TEST(a_full_disk_is_counted_loss)
{
	const char *path = make_path(make_dir(), "tare.events");
	struct tare_writer *w = open_ok(path);
	struct tare_log_record rec;
	struct tare_log *log;
	uint64_t kept = 0, lost = 0, told = 0, events = 0;

	signal(SIGXFSZ, SIG_IGN);
	limit_file_size(100000);
	for (int i = 0; i < 20000; i++) {
		struct tare_rec_event event = { .head = { .kind = TARE_KIND_EVENT } };

		if (i == 15000)
			limit_file_size(RLIM_INFINITY);
		if (tare_writer_add(w, &event, sizeof(event), NULL, 0))
			lost++;
		else
			kept++;
	}
	CHECK(lost > 0);
	CHECK_INT(tare_writer_close(w), 0);
	CHECK_INT(tare_log_open(&log, path, NULL), 0);
	while (tare_log_next(log, &rec) == TARE_LOG_RECORD) {
		if (rec.info->kind == TARE_KIND_LOST)
			told += rec.rec.lost->records;
		else
			events++;
	}
	CHECK_INT(told, lost);
	CHECK_INT(events, kept);
	CHECK_INT(tare_log_counts(log)->gaps, 0);
	tare_log_close(log);
}

TEST(a_device_is_not_written_to)
{
	struct tare_file_header header;
	struct tare_writer *w = NULL;
	struct tare_err err = { 0 };

	tare_encode_header(&header, TARE_ROLE_TARE, TARE_CLOCK_MONOTONIC_NS);
	/* It exists, so O_EXCL refuses it before a byte is written. */
	CHECK_INT(tare_writer_open(&w, "/dev/full", &header, &err), TARE_E_EXISTS);
}
