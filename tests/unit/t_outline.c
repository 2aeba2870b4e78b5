/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a recording by somebody who looks for everything but blocks of tensors and phases. */
#include "compact/compact.h"

#include "base/array.h"
#include "make_log.h"
#include "segments.h"
#include "test.h"
#include "trace/recording.h"

#include <stdlib.h>

enum { PLACES = 14, HEAP = 10 }; /* processes by devices, and phases; and what the heap has and frees */

/* An event as far as an outline tells it, and the last block before it on each device of each process, and phase. */
struct seen {
	int64_t at_ns;
	int kind, process;
	int64_t last[PLACES];
};

struct list {
	struct seen *items;
	size_t count, cap;
	size_t blocks; /* how many were given */
	int64_t first; /* when the first block was; -1: there is none */
};

enum { RECORDS = 40000, STEPS = 20, LATE = 300 };

static struct make_log a, b; /* logs of two programs */
static uint64_t state;
static bool is_one_device; /* all blocks are on the first one */

static uint64_t number(uint64_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % limit;
}

static void add_block(struct make_log *m)
{
	MAKE(m, tensor, TENSOR, .block = 0x7f0000000000 + number(100) * 512, .bytes = (int64_t)number(2) * 1024,
	     .tid = 10 + (uint32_t)number(2), .device = (int16_t)(is_one_device || number(10) ? 0 : (int)number(4) - 1),
	     .python = 0);
}

static void add_of_heap(struct make_log *m)
{
	if (number(2))
		MAKE(m, heap_block, HEAP_BLOCK, .block = 4096 + number(100) * 64, .bytes = 48, .tid = 10);
	else
		MAKE(m, heap_freed, HEAP_FREED, .block = 4096 + number(100) * 64, .tid = 10);
}

static void add_any(struct make_log *m, uint64_t often)
{
	m->stamp += number(3);
	if (number(often) && !number(4)) {
		add_of_heap(m);
		return;
	}
	if (number(often) && number(3))
		add_block(m);
	else if (number(often))
		MAKE(m, phase, PHASE, .tid = 10, .what = TARE_PHASE_MARK);
	else if (number(2))
		MAKE(m, event, EVENT, .tid = 10, .effect = TARE_EFFECT_NEW, .class = TARE_CLASS_DEVICE,
		     .handle = number(1 << 20), .asked = 512);
	else
		MAKE(m, oom, OOM, .tid = 10);
}

/* Stamps are up to `late` behind. */
static void make(uint64_t seed, uint64_t often, uint64_t late)
{
	struct make_log *both[] = { &a, &b };

	state = seed;
	for (uint32_t i = 0; i < 2; i++) {
		make_log_init(both[i], 431 + i, 0);
		for (int d = 0; d < 2; d++)
			MAKE_TEXT(both[i], device, DEVICE, "H200", .ordinal = d, .uuid_low = 1, .uuid_high = 2 + (uint64_t)d);
	}
	for (int i = 0; i < RECORDS; i++) {
		struct make_log *m = both[number(10) == 0];
		uint64_t now = m->stamp, back = late ? number(late) : 0;

		m->stamp -= back < now - m->header.first_stamp ? back : 0;
		add_any(m, often);
		m->stamp = late ? now + number(4) : m->stamp;
	}
}

static void write_part(size_t part, size_t parts)
{
	make_log_write(&a, make_path(make_dir(), "431-0.events"), sizeof(a.header) + a.size * part / parts);
	make_log_write(&b, make_path(make_dir(), "432-0.events"), sizeof(b.header) + b.size * part / parts);
}

static void free_logs(void)
{
	make_log_free(&a);
	make_log_free(&b);
}

static void compact(void)
{
	struct tare_compact_options o = { .is_forced = true };
	struct tare_compacted done;

	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
}

/* While the logs grow. */
static void compact_in_steps(void)
{
	struct tare_compact_options o = { .below = segments_everything };
	struct tare_compacted done;

	for (size_t i = 1; i <= STEPS; i++) {
		write_part(i, STEPS);
		CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	}
}

static void take(struct list *l, struct seen *now, const struct tare_event *e)
{
	int place = e->process->index * 5 + (e->device ? e->device->index + 1 : 0);

	if (e->kind == TARE_KIND_PHASE)
		place = e->process->index * 5 + 4;
	if (e->kind == TARE_KIND_HEAP_BLOCK || e->kind == TARE_KIND_HEAP_FREED)
		place = HEAP + e->process->index * 2 + (e->kind == TARE_KIND_HEAP_FREED);
	if (e->kind == TARE_KIND_TENSOR || e->kind == TARE_KIND_PHASE || place >= HEAP) {
		CHECK(place < PLACES);
		now->last[place] = e->at_ns;
		l->blocks++;
		/* What only frees is the begin of nothing. */
		if (l->first < 0 && e->kind != TARE_KIND_HEAP_FREED)
			l->first = e->at_ns;
		return;
	}
	now->at_ns = e->at_ns;
	now->kind = (int)e->kind;
	now->process = e->process->index;
	l->items = tare_array_reserve(l->items, &l->cap, l->count + 1, sizeof(*l->items));
	l->items[l->count++] = *now;
}

static struct list read_all(struct tare_recording *r)
{
	struct list l = { .first = -1 };
	struct seen now = { 0 };
	struct tare_event e;

	while (tare_recording_next(r, &e))
		take(&l, &now, &e);
	now.kind = -1; /* the end */
	l.items = tare_array_reserve(l.items, &l.cap, l.count + 1, sizeof(*l.items));
	l.items[l.count++] = now;
	return l;
}

/* How many blocks all have, and how many the outline. */
static struct list check_same(size_t *all_blocks)
{
	struct tare_recording *r;
	struct list all, outline, again;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	all = read_all(r);
	tare_recording_outline(r);
	outline = read_all(r);
	tare_recording_rewind(r);
	again = read_all(r);
	CHECK_INT(outline.count, all.count);
	CHECK(!memcmp(outline.items, all.items, all.count * sizeof(*all.items)));
	CHECK_INT(outline.first, all.first);
	CHECK_INT(again.count, all.count);
	CHECK_INT(again.blocks, all.blocks);
	*all_blocks = all.blocks;
	tare_recording_close(r);
	free(all.items);
	free(again.items);
	return outline;
}

static void check_outline(uint64_t seed, uint64_t often, uint64_t late)
{
	size_t all, in_logs;
	struct list outline;

	make(seed, often, late);
	write_part(1, 1);
	free(check_same(&in_logs).items);
	if (late)
		compact_in_steps();
	else
		compact();
	free_logs();
	outline = check_same(&all);
	CHECK_INT(all, in_logs);
	CHECK(outline.blocks < all);
	free(outline.items);
}

TEST(an_outline_has_the_last_block_before_each_other_event)
{
	check_outline(1, 4, 0);
}

TEST(an_outline_of_almost_only_blocks_does_too)
{
	check_outline(2, 3000, 0);
}

TEST(an_outline_of_segments_that_overlap_does_too)
{
	check_outline(3, 40, LATE);
}

TEST(an_outline_of_blocks_of_one_device_does_too)
{
	is_one_device = true;
	check_outline(4, 3000, 0);
}

TEST(an_outline_of_overlapping_segments_of_one_device_does_too)
{
	is_one_device = true;
	check_outline(5, 20000, LATE);
}

/* Nothing comes between: each block of records has its ends only. */
TEST(an_outline_of_nothing_but_blocks_is_short)
{
	struct list outline;
	size_t all;

	is_one_device = true;
	make(6, UINT64_MAX, 0);
	write_part(1, 1);
	make_log_write(&b, make_path(make_dir(), "432-0.events"), sizeof(b.header));
	compact();
	free_logs();
	outline = check_same(&all);
	CHECK(all > RECORDS / 2);
	CHECK(outline.blocks <= 20);
	free(outline.items);
}
