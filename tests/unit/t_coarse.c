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
