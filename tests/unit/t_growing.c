/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is kept open: what is made into segments before it was read is read there. */
#include "compact_logs.h"
#include "store/manifest.h"
#include "store/segment.h"
#include "segments.h"
#include "test.h"
#include "trace/growing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READINGS = 6000, PIECES = 6 };

static size_t sizes[READINGS]; /* of the log behind each */
static struct tare_growing *growing;
static struct tare_recording *recording;
static uint64_t next; /* reading, by its number */

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(make_path(make_dir(), name), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* The log of `tare` has so many pieces now: the rest of its file is written, what was taken out of it stays out. */
static void grow(int pieces)
{
	static size_t written;
	size_t size = sizes[READINGS * pieces / PIECES - 1];
	const char *path = make_path(make_dir(), "tare.events");
	int fd;

	if (!written) {
		make_log_write(&compact_tare, path, sizeof(compact_tare.header) + size);
	} else {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK_INT(pwrite(fd, compact_tare.bytes + written, size - written,
		                 (off_t)(sizeof(compact_tare.header) + written)),
		          size - written);
		close(fd);
	}
	written = size;
}

static void seal(void)
{
	struct tare_compact_options o = { .below = segments_everything, .segment_records = 500 };
	struct tare_compacted done;

	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK(done.segments > 0);
}

static void begin(void)
{
	compact_init();
	for (uint64_t i = 0; i < READINGS; i++) {
		compact_tare.stamp = UINT64_C(2000000000) + i * 1000000;
		MAKE(&compact_tare, reading, READING, .used = 1000 + i, .total = 1 << 20);
		sizes[i] = compact_tare.size;
	}
	write_text("control", "a page");
	write_text("recording.json", "{\"tare\": 1, \"state\": \"recording\"}");
	grow(1);
	CHECK_INT(tare_recording_open(&recording, make_dir(), NULL), 0);
	CHECK(tare_growing_begin_ns(recording) > 0);
	growing = tare_growing_new(recording, tare_growing_begin_ns(recording));
	next = 0;
}

static void finish(void)
{
	tare_growing_free(growing);
	tare_recording_close(recording);
	make_log_free(&compact_program);
	make_log_free(&compact_tare);
}

/* What is settled comes in order, each once. */
static void take_all(void)
{
	struct tare_event e;

	while (tare_growing_look(growing, &e))
		;
	while (tare_growing_take(growing, INT64_MAX, &e)) {
		CHECK_INT(e.kind, TARE_KIND_READING);
		if (next)
			CHECK_INT(e.rec.reading->used, next);
		next = e.rec.reading->used + 1;
	}
}

/* A few turns: what is missing is waited for, and then is not. */
static void turn(void)
{
	for (int i = 0; i < 6; i++) {
		CHECK(tare_growing_read(growing));
		take_all();
	}
}

/* All but the last tenth of a second, which is not settled. */
static void check_read(int pieces)
{
	CHECK(next > 1000 + (uint64_t)READINGS * (uint64_t)pieces / PIECES - 150);
}

TEST(what_only_segments_have_is_read_there)
{
	begin();
	turn();
	for (int piece = 2; piece < PIECES; piece++) {
		grow(piece);
		seal();
		turn();
		if (piece == 2)
			continue;
		check_read(piece - 1);
	}
	grow(PIECES);
	turn();
	check_read(PIECES);
	finish();
}

TEST(what_was_read_is_not_read_again)
{
	begin();
	turn();
	for (int piece = 2; piece <= PIECES; piece++) {
		grow(piece);
		turn();
		check_read(piece);
		seal();
		turn();
	}
	finish();
}

TEST(a_damaged_segment_makes_all_begin_again)
{
	bool is_again = false;

	begin();
	turn();
	grow(2);
	seal();
	segments_damage(4);
	for (int i = 0; i < 6 && !is_again; i++)
		is_again = !tare_growing_read(growing);
	CHECK(is_again);
	finish();
}
