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
#include <string.h>
#include <unistd.h>

/* READINGS, a millisecond apart, and of each of LANES threads ROUNDS blocks of TENSORS, as many in each of PIECES. */
enum { READINGS = 6000, PIECES = 6, LANES = 3, ROUNDS = 48, TENSORS = 40, ALL_TENSORS = LANES * ROUNDS * TENSORS };
enum { TENSOR_BYTES = sizeof(struct tare_rec_tensor), BLOCK_BYTES = TENSORS * TENSOR_BYTES };

/* A log that is written piece by piece. */
static struct grown {
	struct make_log *log;
	const char *name;
	size_t sizes[PIECES + 1]; /* of the log behind each piece */
	size_t written;
} tares, own;

static struct tare_growing *growing;
static struct tare_recording *recording;
static uint64_t next_reading, next_tensor; /* by their numbers */
static bool has_program;

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(make_path(make_dir(), name), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void make_readings(void)
{
	tares = (struct grown){ &compact_tare, "tare.events", { 0 }, 0 };
	for (uint64_t i = 0; i < READINGS; i++) {
		compact_tare.stamp = UINT64_C(2000000000) + i * 1000000;
		MAKE(&compact_tare, reading, READING, .used = 1000 + i, .total = 1 << 20);
		tares.sizes[i * PIECES / READINGS + 1] = compact_tare.size;
	}
}

/* Blocks of tensors that are numbered from 1 on as they come in time: the threads take turns. */
static void make_tensors(void)
{
	own = (struct grown){ &compact_program, "431-0.events", { 0 }, 0 };
	compact_program.header.has_lanes = 1;
	for (uint64_t round = 0; round < ROUNDS; round++)
		for (uint64_t lane = 0; lane < LANES; lane++) {
			MAKE(&compact_program, lane, LANE, .lane = (uint32_t)lane, .bytes = BLOCK_BYTES,
			     .from = round * BLOCK_BYTES);
			for (uint64_t i = 0; i < TENSORS; i++) {
				uint64_t number = (round * TENSORS + i) * LANES + lane;

				compact_program.stamp = UINT64_C(2000000000) + number * (READINGS * UINT64_C(1000000) / ALL_TENSORS);
				MAKE(&compact_program, tensor, TENSOR, .block = 1 + number, .bytes = 512,
				     .tid = (uint32_t)(431 + lane));
			}
			own.sizes[round * PIECES / ROUNDS + 1] = compact_program.size;
		}
}

/* All that the threads wrote is in the log. */
static void write_ring(int pieces)
{
	static struct {
		struct tare_ring_header header;
		uint8_t pad[TARE_RING_HEADER_BYTES - sizeof(struct tare_ring_header)];
		struct tare_lane lanes[LANES];
	} ring;
	FILE *f = fopen(make_path(make_dir(), "431-0.ring"), "w");

	memcpy(ring.header.magic, TARE_RING_MAGIC, sizeof(ring.header.magic));
	ring.header.version = TARE_FORMAT_VERSION;
	ring.header.lane_bytes = MAKE_LANE_BYTES;
	ring.header.lane_nr = LANES;
	ring.header.log_end = own.sizes[pieces];
	ring.header.file = compact_program.header;
	for (int i = 0; i < LANES; i++)
		ring.lanes[i].head = ring.lanes[i].tail = (uint64_t)(ROUNDS * pieces / PIECES) * BLOCK_BYTES;
	CHECK(f && fwrite(&ring, sizeof(ring), 1, f) == 1 && fclose(f) == 0);
	CHECK_INT(truncate(make_path(make_dir(), "431-0.ring"), (off_t)tare_lane_offset(MAKE_LANE_BYTES, LANES)), 0);
}

/* The rest of its file is written, what was taken out of it stays out. */
static void grow_log(struct grown *g, int pieces)
{
	size_t size = g->sizes[pieces], head = sizeof(g->log->header);
	const char *path = make_path(make_dir(), g->name);
	int fd;

	if (!g->written) {
		make_log_write(g->log, path, head + size);
	} else {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK_INT(pwrite(fd, g->log->bytes + g->written, size - g->written, (off_t)(head + g->written)),
		          size - g->written);
		close(fd);
	}
	g->written = size;
}

static void grow(int pieces)
{
	grow_log(&tares, pieces);
	if (!has_program)
		return;
	grow_log(&own, pieces);
	write_ring(pieces);
}

static void seal(void)
{
	struct tare_compact_options o = { .below = segments_everything, .segment_records = 500 };
	struct tare_compacted done;

	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK(done.segments > 0);
}

static void begin(bool with_program)
{
	has_program = with_program;
	compact_init();
	make_readings();
	if (has_program)
		make_tensors();
	write_text("control", "a page");
	write_text("recording.json", "{\"tare\": 1, \"state\": \"recording\"}");
	grow(1);
	CHECK_INT(tare_recording_open(&recording, make_dir(), NULL), 0);
	CHECK(tare_growing_begin_ns(recording) > 0);
	growing = tare_growing_new(recording, tare_growing_begin_ns(recording));
	next_reading = next_tensor = 0;
}

static void finish(void)
{
	tare_growing_free(growing);
	tare_recording_close(recording);
	make_log_free(&compact_program);
	make_log_free(&compact_tare);
}

static void check_next(uint64_t *next, uint64_t number)
{
	if (*next)
		CHECK_INT(number, *next);
	*next = number + 1;
}

/* What is settled comes in order, each once. */
static void take_all(void)
{
	struct tare_event e;

	while (tare_growing_look(growing, &e))
		;
	while (tare_growing_take(growing, INT64_MAX, &e))
		if (e.kind == TARE_KIND_TENSOR)
			check_next(&next_tensor, e.rec.tensor->block);
		else
			check_next(&next_reading, e.rec.reading->used);
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
	CHECK(next_reading > 1000 + (uint64_t)READINGS * (uint64_t)pieces / PIECES - 150);
	CHECK(!has_program ||
	      next_tensor > (uint64_t)ALL_TENSORS * (uint64_t)pieces / PIECES - ALL_TENSORS * 150 / READINGS);
}

/* When each process was seen last, as who opens the recording now finds it. */
static void check_last(void)
{
	struct tare_recording *anew;

	CHECK_INT(tare_recording_open(&anew, make_dir(), NULL), 0);
	CHECK_INT(tare_recording_process_nr(recording), tare_recording_process_nr(anew));
	for (int i = 0; i < tare_recording_process_nr(anew); i++)
		CHECK_INT(tare_recording_process(recording, i)->last_ns, tare_recording_process(anew, i)->last_ns);
	tare_recording_close(anew);
}

static void check_segments(bool with_program)
{
	begin(with_program);
	turn();
	for (int piece = 2; piece < PIECES; piece++) {
		grow(piece);
		seal();
		if (piece == PIECES - 2)
			grow(piece + 1); /* before anybody looks */
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

TEST(what_only_segments_have_is_read_there)
{
	check_segments(false);
}

/* The blocks behind the segments go on where each lane stands there. */
TEST(of_a_log_of_several_lanes_too)
{
	check_segments(true);
}

static void check_once(bool with_program)
{
	begin(with_program);
	turn();
	for (int piece = 2; piece <= PIECES; piece++) {
		grow(piece);
		turn();
		check_read(piece);
		check_last();
		seal();
		turn();
	}
	finish();
}

TEST(what_was_read_is_not_read_again)
{
	check_once(false);
}

TEST(nor_is_what_lanes_had)
{
	check_once(true);
}

TEST(a_damaged_segment_makes_all_begin_again)
{
	bool is_again = false;

	begin(false);
	turn();
	grow(2);
	seal();
	segments_damage(4);
	for (int i = 0; i < 6 && !is_again; i++)
		is_again = !tare_growing_read(growing);
	CHECK(is_again);
	finish();
}
