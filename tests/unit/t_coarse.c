/* SPDX-License-Identifier: Apache-2.0 */
/* Times of blocks of the heap in segments: less than a microsecond before the true ones, and in the same order. */
#include "compact/compact.h"

#include "base/array.h"
#include "make_log.h"
#include "test.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { RECORDS = 20000, MICROSECOND = 1000 };

struct seen {
	int kind;
	uint64_t stamp, what; /* the address, or the id of a phase */
};

struct list {
	struct seen *items;
	size_t count, cap;
};

static uint64_t state;

static uint64_t number(uint64_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % limit;
}

/* Of two threads; stamps are ns, some hundred apart, and some are equal. */
static void make(void)
{
	struct make_log m;

	state = 1;
	make_log_init(&m, 431, 0);
	m.stamp += 123;
	for (uint64_t i = 0; i < RECORDS; i++) {
		uint32_t tid = 10 + (uint32_t)number(2);

		m.stamp += number(4) ? number(900) : 0;
		if (number(20) == 0)
			MAKE(&m, phase, PHASE, .tid = tid, .what = TARE_PHASE_MARK, .id = i);
		else if (number(2))
			MAKE(&m, heap_block, HEAP_BLOCK, .block = i, .bytes = 48, .tid = tid);
		else
			MAKE(&m, heap_freed, HEAP_FREED, .block = i, .tid = tid);
		m.stamp -= number(4) == 0;
	}
	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + m.size);
	make_log_free(&m);
}

static struct list read_all(void)
{
	struct tare_recording *r;
	struct list l = { 0 };
	struct tare_event e;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	while (tare_recording_next(r, &e)) {
		l.items = tare_array_reserve(l.items, &l.cap, l.count + 1, sizeof(*l.items));
		l.items[l.count++] = (struct seen){ (int)e.kind, e.rec.head->stamp,
			                                e.kind == TARE_KIND_PHASE        ? e.rec.phase->id
			                                : e.kind == TARE_KIND_HEAP_BLOCK ? e.rec.heap_block->block
			                                                                 : e.rec.heap_freed->block };
	}
	tare_recording_close(r);
	return l;
}

/* All logs up to a position. */
static uint64_t below(void *arg, const char *log, bool has_ring)
{
	(void)log;
	(void)has_ring;
	return *(const uint64_t *)arg;
}

/* How many blocks have another time. */
static size_t check(const struct list *segments, const struct list *log)
{
	size_t moved = 0;

	CHECK_INT(segments->count, log->count);
	for (size_t i = 0; i < log->count; i++) {
		const struct seen *a = &log->items[i], *b = &segments->items[i];

		CHECK_INT(b->kind, a->kind);
		CHECK_INT(b->what, a->what);
		CHECK(b->stamp <= a->stamp && a->stamp - b->stamp < MICROSECOND);
		CHECK(a->kind != TARE_KIND_PHASE || b->stamp == a->stamp);
		/* What was at two moments still is: views at one of them have one of two changes. */
		CHECK(i == 0 || b->stamp >= b[-1].stamp + (a->stamp > a[-1].stamp));
		moved += b->stamp != a->stamp;
	}
	return moved;
}

TEST(blocks_keep_their_order_and_nearly_their_times)
{
	struct tare_compact_options o = { .is_forced = true };
	struct tare_compacted done;
	struct list log, segments;

	make();
	log = read_all();
	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK(done.segment_bytes < done.raw_bytes / 12);
	segments = read_all();
	CHECK(check(&segments, &log) > RECORDS / 2);
	free(log.items);
	free(segments.items);
}

/* What is compacted later lies behind it, whatever a multiple of the step would be. */
TEST(they_do_too_where_a_running_log_is_made_small_in_parts)
{
	struct list log, segments;
	struct tare_compacted done;
	uint64_t until = 0;

	make();
	log = read_all();
	for (int i = 0; i < 16; i++) {
		struct tare_compact_options o = { .below = below, .arg = &until };

		until += RECORDS * 32 / 16;
		CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
		segments = read_all();
		if (i % 5 == 0)
			CHECK(check(&segments, &log) > RECORDS / 32 * (size_t)i);
		free(segments.items);
	}
	free(log.items);
}

enum { TURNS = 12, BURST = 400, LANES = 2 };

/*
 * One thread takes blocks, some ns after each other; another gives every fifth back, 92 ns after it was taken. A turn of the log has a block of
 * each, as a drainer leaves them. `blocks`: how many the log has; `taker`: the block of a turn that is of the first thread.
 */
static void make_of_lanes(int blocks, uint64_t taker)
{
	uint64_t ends[LANES] = { 0 }, begin = 0;
	struct make_log m;

	state = 2;
	make_log_init(&m, 431, 0);
	m.header.has_lanes = 1;
	begin = m.stamp + 123;
	for (int n = 0; n < blocks; n++) {
		uint64_t lane = (uint64_t)(n % LANES), first, bytes, when = begin, seed = state;
		size_t head = MAKE(&m, lane, LANE, .lane = lane, .from = ends[lane]);

		first = m.size;
		for (uint64_t i = 0; i < BURST; i++) {
			when += 10 + number(60);
			m.stamp = lane == taker ? when : when + 92;
			if (lane == taker)
				MAKE(&m, heap_block, HEAP_BLOCK, .block = (uint64_t)n / LANES * BURST + i, .bytes = 48, .tid = 10);
			else if (i % 5 == 0)
				MAKE(&m, heap_freed, HEAP_FREED, .block = (uint64_t)n / LANES * BURST + i, .tid = 11);
		}
		bytes = m.size - first;
		((struct tare_rec_lane *)(void *)(m.bytes + head))->bytes = (uint32_t)bytes;
		ends[lane] += bytes;
		if (lane)
			begin = when;
		else
			state = seed; /* the other one sees the same times */
	}
	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + m.size);
	make_log_free(&m);
}

/* Each block was taken before it was given back. */
static void check_lanes(int blocks, uint64_t taker)
{
	int takes = (blocks + (taker ? 0 : 1)) / LANES, frees = blocks - takes;
	struct list l = read_all();
	bool *is_taken = calloc(TURNS * BURST, 1);

	CHECK_INT(l.count, takes * BURST + frees * (BURST / 5));
	for (size_t i = 0; i < l.count; i++) {
		CHECK_INT(is_taken[l.items[i].what], l.items[i].kind == TARE_KIND_HEAP_FREED);
		is_taken[l.items[i].what] = true;
	}
	free(is_taken);
	free(l.items);
}

static void compact_by_blocks(uint64_t taker)
{
	uint64_t until = UINT64_MAX;
	struct tare_compact_options o = { .below = below, .arg = &until, .most = TARE_CELL };
	struct tare_compacted done;

	make_of_lanes(TURNS * LANES, taker);
	for (int i = 0; i < TURNS * LANES; i++) {
		CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
		CHECK(!done.was_done);
		check_lanes(TURNS * LANES, taker);
	}
}

/* Segments overlap in time: the second block of a turn has records that are older than the last ones of the first. */
TEST(a_block_is_given_back_after_it_was_taken_in_whatever_segment_that_is)
{
	compact_by_blocks(0);
}

TEST(it_is_where_the_segment_in_which_it_is_given_back_comes_first)
{
	compact_by_blocks(1);
}

static uint64_t whole(void *arg, const char *log)
{
	(void)log;
	return ((const uint64_t *)arg)[1];
}

/* What is in no file yet is older than some of what is made small now. */
TEST(it_is_where_the_thread_that_takes_is_in_no_file_yet)
{
	uint64_t known[] = { UINT64_MAX, 0 };
	struct tare_compact_options o = { .below = below, .whole = whole, .arg = known, .keeps_raw = true };
	struct tare_compacted done;
	struct list l;

	for (int n = 1; n <= TURNS; n++) {
		make_of_lanes(n, 1);
		l = read_all();
		known[1] = n % LANES ? l.items[l.count - BURST / 5].stamp - 92 : UINT64_MAX;
		free(l.items);
		CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
		if (n % LANES == 0)
			check_lanes(n, 1);
	}
}
