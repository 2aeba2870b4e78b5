/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of logs that overlap in time, many of them: their records come as from the logs. */
#include "base/array.h"
#include "compact/compact.h"
#include "make_log.h"
#include "segments.h"
#include "test.h"
#include "trace/recording.h"

#include <stdlib.h>

enum { RECORDS = 30000, STEPS = 60, LATE = 3000, LOGS = 2 };

struct seen {
	int64_t at_ns;
	uint64_t stamp, handle;
	int process;
	uint32_t segment; /* 0: not asked for */
};

struct list {
	struct seen *items;
	size_t count, cap;
};

static struct make_log logs[LOGS];
static const char *const names[LOGS] = { "431-0.events", "432-0.events" };
static uint64_t state;

static uint64_t number(uint64_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % limit;
}

/* Many stamps are equal, within a log and in both; a segment has about 20,000 ns of records, and the one behind it LATE of them. */
static void make(void)
{
	state = 1;
	for (uint32_t l = 0; l < LOGS; l++) {
		make_log_init(&logs[l], 431 + l, 0);
		for (uint64_t i = 0; i < RECORDS; i++) {
			logs[l].stamp = 2000000000 + i * 40 - number(LATE) / 20 * 20;
			MAKE(&logs[l], event, EVENT, .tid = 10, .effect = TARE_EFFECT_NEW, .class = TARE_CLASS_DEVICE, .handle = i);
		}
	}
}

static void free_logs(void)
{
	for (int l = 0; l < LOGS; l++)
		make_log_free(&logs[l]);
}

static void write_logs(size_t part, size_t parts)
{
	for (int l = 0; l < LOGS; l++)
		make_log_write(&logs[l], make_path(make_dir(), names[l]), sizeof(logs[l].header) + logs[l].size * part / parts);
}

static void make_segments(void)
{
	struct tare_compact_options o = { .below = segments_everything };
	struct tare_compacted done;

	for (size_t i = 1; i <= STEPS; i++) {
		write_logs(i, STEPS);
		CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	}
}

static struct tare_recording *open_it(void)
{
	struct tare_recording *r;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	return r;
}

static void add(struct list *l, const struct seen *item)
{
	l->items = tare_array_reserve(l->items, &l->cap, l->count + 1, sizeof(*l->items));
	l->items[l->count++] = *item;
}

static struct list read_events(struct tare_recording *r, bool has_segments)
{
	struct list l = { 0 };
	struct tare_event e;

	while (tare_recording_next(r, &e)) {
		struct seen item = {
			.at_ns = e.at_ns, .stamp = e.rec.head->stamp, .handle = e.rec.event->handle, .process = e.process->index
		};

		item.segment = has_segments ? tare_recording_segment(r) : 0;
		add(&l, &item);
	}
	return l;
}

/* The same by tare_recording_next_record(), which does not tell the time. */
static struct list read_records(struct tare_recording *r)
{
	const struct tare_process *process;
	const struct tare_log *log;
	struct tare_log_record rec;
	struct list l = { 0 };

	while (tare_recording_next_record(r, &process, &log, &rec)) {
		struct seen item = { .stamp = rec.rec.head->stamp, .handle = rec.rec.event->handle, .process = process->index };

		CHECK(rec.bytes >= sizeof(struct tare_rec_event));
		add(&l, &item);
	}
	return l;
}

static void check_same(const struct list *l, const struct list *expected)
{
	CHECK_INT(l->count, expected->count);
	for (size_t i = 0; i < l->count; i++) {
		const struct seen *a = &l->items[i], *b = &expected->items[i];

		CHECK_INT(a->stamp, b->stamp);
		CHECK_INT(a->handle, b->handle);
		CHECK_INT(a->process, b->process);
		CHECK(a->at_ns == b->at_ns || a->at_ns == 0);
	}
}

static struct list from_logs(void)
{
	struct tare_recording *r;
	struct list l;

	make();
	write_logs(1, 1);
	r = open_it();
	l = read_events(r, false);
	tare_recording_close(r);
	CHECK_INT(l.count, LOGS * RECORDS);
	return l;
}

TEST(records_of_segments_that_overlap_come_as_from_the_logs)
{
	struct list expected = from_logs(), l;
	struct tare_recording *r;

	make_segments();
	r = open_it();
	for (int i = 0; i < 3; i++) {
		l = i == 1 ? read_records(r) : read_events(r, false);
		check_same(&l, &expected);
		free(l.items);
		/* Begun again in the middle, too. */
		tare_recording_rewind(r);
		for (int k = 0; k < 10000 * i; k++)
			CHECK(tare_recording_next(r, &(struct tare_event){ 0 }));
		tare_recording_rewind(r);
	}
	/* No block of a tensor, no phase: an outline leaves nothing out. */
	tare_recording_outline(r);
	l = read_events(r, false);
	check_same(&l, &expected);
	free(l.items);
	tare_recording_close(r);
	free(expected.items);
	free_logs();
}

/* What a state knows: what lies in these segments, and not after that moment. */
static struct list without_known(const struct list *l, const struct tare_recording_state *known)
{
	struct list rest = { 0 };

	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].segment > known->number || l->items[i].at_ns > known->until_ns)
			add(&rest, &l->items[i]);
	return rest;
}

/* All of `l` is in `all`, in the same order. */
static void check_is_part(const struct list *l, const struct list *all)
{
	size_t found = 0;

	for (size_t i = 0; i < all->count && found < l->count; i++)
		found += all->items[i].handle == l->items[found].handle && all->items[i].process == l->items[found].process &&
		         all->items[i].segment == l->items[found].segment;
	CHECK_INT(found, l->count);
}

TEST(segments_that_are_known_are_passed_over)
{
	struct list all, l, expected, rest;
	struct tare_recording_state known;
	struct tare_recording *r;
	size_t back = 0;

	free(from_logs().items);
	make_segments();
	r = open_it();
	all = read_events(r, true);
	for (size_t i = 1; i < all.count; i++)
		back += all.items[i].segment < all.items[i - 1].segment;
	CHECK(back > STEPS); /* they do overlap */
	known = (struct tare_recording_state){ STEPS / 2, all.items[all.count / 2].at_ns - LATE };
	tare_recording_rewind(r);
	tare_recording_skip(r, &known);
	l = read_events(r, true);
	CHECK(l.count < all.count * 2 / 3);
	check_is_part(&l, &all);
	rest = without_known(&l, &known);
	expected = without_known(&all, &known);
	check_same(&rest, &expected);
	free(l.items);
	tare_recording_skip(r, NULL);
	tare_recording_rewind(r);
	l = read_events(r, true);
	check_same(&l, &all);
	tare_recording_close(r);
	free(l.items);
	free(rest.items);
	free(expected.items);
	free(all.items);
	free_logs();
}
