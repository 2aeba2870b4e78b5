/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of tensors and of the heap, and phases, many at once: the same as one by one. */
#include "compact/compact.h"

#include "base/array.h"
#include "make_log.h"
#include "record/schema_text.h"
#include "test.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 40000, ALIKE = 40000, TABLES = 4 /* devices */ };

enum mostly { BLOCKS, PHASES, HEAP, MOSTLY_NR };

struct seen {
	int64_t at_ns, bytes;
	uint64_t address;
	int kind, process, device;
	uint32_t python;
	uint32_t tid, what; /* of a phase */
	const char *name;
};

struct list {
	struct seen *items;
	size_t count, cap;
	size_t blocks_together, phases_together, heap_together; /* of these came in runs */
};

static struct make_log a, b; /* logs of two programs */
static uint64_t state = 1;

static uint64_t number(uint64_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % limit;
}

static void add_of_heap(struct make_log *m)
{
	int16_t device = (int16_t)(number(40) ? 0 : 1);

	if (number(2))
		MAKE(m, heap_block, HEAP_BLOCK, .block = 4096 + number(100) * 64, .bytes = number(500) ? 48 : UINT64_MAX - 1,
		     .tid = 10, .device = device, .python = 1);
	else
		MAKE(m, heap_freed, HEAP_FREED, .block = 4096 + number(100) * 64, .tid = 10, .device = device);
}

static void add_any(struct make_log *m, enum mostly mostly)
{
	m->stamp += number(3);
	if (mostly == HEAP && number(50))
		add_of_heap(m);
	else if (mostly == PHASES && number(50))
		MAKE(m, phase, PHASE, .tid = 10 + (uint32_t)number(3), .what = (uint8_t)number(6), .name = (uint32_t)number(4),
		     .id = number(5));
	else if (number(50))
		MAKE(m, tensor, TENSOR, .block = 0x7f0000000000 + number(100) * 512,
		     .bytes = number(500) ? (int64_t)number(2) * 1024 : INT64_MAX, .tid = 10,
		     .device = (int16_t)(number(40) ? 0 : (int)number(4) - 1), .python = 1);
	else if (number(2))
		MAKE(m, phase, PHASE, .tid = 10, .what = TARE_PHASE_MARK);
	else
		MAKE(m, oom, OOM, .tid = 10);
}

static void write_as_ours(struct make_log *m, const char *path)
{
	make_log_write(m, path, SIZE_MAX);
}

/* As a version has them whose records lie as ours but for OOM, of which a field has another name there. */
static void write_as_other(struct make_log *m, const char *path)
{
	char *text = tare_xstrdup(tare_schema_text), *oom = strstr(text, " oom ");

	memcpy(strstr(oom, "reserved0"), "newfield0", strlen("newfield0"));
	strcpy(m->header.tool, "9.8.7");
	make_log_write_schema(m, path, text);
	free(text);
}

/* A log has runs of records, for the other program works meanwhile only now and then. */
static void make_recording(void (*write)(struct make_log *m, const char *path))
{
	static const uint64_t lines[] = { 1 };
	struct make_log *both[] = { &a, &b };

	for (uint32_t i = 0; i < 2; i++) {
		make_log_init(both[i], 431 + i, 0);
		for (int d = 0; d < 2; d++)
			MAKE_TEXT(both[i], device, DEVICE, "H200", .ordinal = d, .uuid_low = 1, .uuid_high = 2 + (uint64_t)d);
		MAKE(both[i], line, LINE, .id = 1, .line = 7);
		for (uint32_t id = 1; id < 4; id++)
			MAKE_TEXT(both[i], string, STRING, "step", .id = id);
		make_log_add(both[i],
		             &(struct tare_rec_line_stack){ .head = { .kind = TARE_KIND_LINE_STACK }, .id = 1, .depth = 1 },
		             sizeof(struct tare_rec_line_stack), lines, sizeof(lines));
	}
	for (int i = 0; i < RECORDS; i++)
		add_any(number(300) ? &a : &b, (enum mostly)(i / 1000 % MOSTLY_NR));
	/* And at last whole blocks of nothing else. */
	for (int i = 0; i < ALIKE; i++) {
		a.stamp++;
		MAKE(&a, tensor, TENSOR, .block = 512, .bytes = 1, .tid = 10);
	}
	write(&a, make_path(make_dir(), "431-0.events"));
	write(&b, make_path(make_dir(), "432-0.events"));
	make_log_free(&a);
	make_log_free(&b);
}

static void compact(void)
{
	struct tare_compact_options o = { .is_forced = true };
	struct tare_compacted done;

	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
}

static void take(struct list *l, const struct tare_event *e)
{
	bool is_block = e->kind == TARE_KIND_TENSOR, is_phase = e->kind == TARE_KIND_PHASE;
	bool is_heap = e->kind == TARE_KIND_HEAP_BLOCK, is_freed = e->kind == TARE_KIND_HEAP_FREED;

	l->items = tare_array_reserve(l->items, &l->cap, l->count + 1, sizeof(*l->items));
	l->items[l->count++] = (struct seen){ .at_ns = e->at_ns,
		                                  .kind = (int)e->kind,
		                                  .process = e->process->index,
		                                  .device = e->device ? e->device->index : -1,
		                                  .bytes = is_block  ? e->rec.tensor->bytes
		                                           : is_heap ? (int64_t)e->rec.heap_block->bytes
		                                                     : 0,
		                                  .address = is_block   ? e->rec.tensor->block
		                                             : is_heap  ? e->rec.heap_block->block
		                                             : is_freed ? e->rec.heap_freed->block
		                                                        : 0,
		                                  .python = e->python ? e->python->id : 0,
		                                  .tid = is_phase ? e->rec.phase->tid : 0,
		                                  .what = is_phase ? e->rec.phase->what : 0,
		                                  .name = e->name };
}

static void take_run(struct list *l, struct tare_recording *r, int64_t until)
{
	struct tare_block_run run;
	struct tare_event e;

	if (!tare_recording_run(r, until, &run))
		return;
	for (size_t i = 0; i < run.n; i++) {
		run.refer(&run, i, &e);
		CHECK_INT(e.rec.tensor->block, run.columns.addresses[i]);
		CHECK_INT(e.rec.tensor->bytes, run.columns.bytes[i]);
		CHECK_INT(e.at_ns, run.times[i]);
		CHECK(e.at_ns <= until);
		take(l, &e);
	}
	l->blocks_together += run.n;
	/* Also where the run went to the end of its block. */
	CHECK(!tare_recording_run(r, until, &run));
}

static void take_phase_run(struct list *l, struct tare_recording *r, int64_t until)
{
	struct tare_phase_run run;
	struct tare_event e;

	if (!tare_recording_phase_run(r, until, &run))
		return;
	for (size_t i = 0; i < run.n; i++) {
		run.refer(&run, i, &e);
		CHECK(e.rec.phase == tare_phase_run_at(&run, i));
		CHECK_INT(e.at_ns, run.times[i]);
		CHECK(e.at_ns <= until);
		take(l, &e);
	}
	l->phases_together += run.n;
	/* Also where the run went to the end of its block. */
	CHECK(!tare_recording_phase_run(r, until, &run));
}

static void take_heap_run(struct list *l, struct tare_recording *r, int64_t until)
{
	struct tare_heap_run run;
	struct tare_event e;

	if (!tare_recording_heap_run(r, until, &run))
		return;
	for (size_t i = 0; i < run.n; i++) {
		run.refer(&run, i, &e);
		CHECK(e.rec.head == run.records[i]);
		CHECK_INT(e.at_ns, run.times[i]);
		CHECK(e.at_ns <= until);
		take(l, &e);
	}
	l->heap_together += run.n;
	/* Also where the run went to the end of its block. */
	CHECK(!tare_recording_heap_run(r, until, &run));
}

/* `span` -1: one by one; else runs of no more than that time. */
static struct list read_all(struct tare_recording *r, int64_t span)
{
	struct list l = { 0 };
	struct tare_event e;

	tare_recording_rewind(r);
	while (tare_recording_next(r, &e)) {
		int64_t until = span < INT64_MAX ? e.at_ns + span : span;

		take(&l, &e);
		if (span >= 0 && e.kind == TARE_KIND_TENSOR && e.device)
			take_run(&l, r, until);
		if (span >= 0 && e.kind == TARE_KIND_PHASE)
			take_phase_run(&l, r, until);
		if (span >= 0 && (e.kind == TARE_KIND_HEAP_BLOCK || e.kind == TARE_KIND_HEAP_FREED))
			take_heap_run(&l, r, until);
	}
	return l;
}

static void check_same(const struct list *l, const struct list *expected)
{
	CHECK_INT(l->count, expected->count);
	CHECK(!memcmp(l->items, expected->items, l->count * sizeof(*l->items)));
}

/* Read as they come, at once, and as far as five nanoseconds: the same, and many come together. */
static void check_runs(void)
{
	struct tare_recording *r;
	struct list all, runs, few;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	all = read_all(r, -1);
	runs = read_all(r, INT64_MAX);
	few = read_all(r, 5);
	CHECK_INT(all.count, RECORDS + ALIKE + TABLES);
	check_same(&runs, &all);
	check_same(&few, &all);
	CHECK(runs.blocks_together > ALIKE * 9 / 10 + RECORDS / 4);
	CHECK(runs.phases_together > RECORDS / 4);
	CHECK(runs.heap_together > RECORDS / 4);
	CHECK(few.blocks_together > RECORDS / 6 && few.blocks_together < runs.blocks_together);
	CHECK(few.phases_together > RECORDS / 6 && few.phases_together < runs.phases_together);
	CHECK(few.heap_together > RECORDS / 6 && few.heap_together < runs.heap_together);
	tare_recording_close(r);
	free(all.items);
	free(runs.items);
	free(few.items);
}

TEST(runs_are_the_events)
{
	make_recording(write_as_ours);
	compact();
	check_runs();
}

TEST(runs_of_a_log_are_the_events)
{
	make_recording(write_as_ours);
	check_runs();
}

TEST(runs_of_another_version_are_the_events)
{
	make_recording(write_as_other);
	check_runs();
	compact();
	check_runs();
}
