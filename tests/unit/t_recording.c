/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/recording.h"
#include "two_logs.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(a_program_with_names_times_and_objects)
{
	struct tare_recording *r;
	struct tare_event e;
	const struct tare_process *p;

	init_both();
	m.stamp += 5000;
	make_log_program(&m);
	MAKE_TEXT(&t, symbol, SYMBOL, "train_step", .pid = 431, .address = 0x401100, .offset = 16);
	MAKE(&t, exit, EXIT, .head.stamp = m.stamp + 100, .pid = 431, .status = 9);
	write_both();
	r = open_ok(make_dir());
	CHECK_INT(tare_recording_process_nr(r), 2);
	CHECK_INT(tare_recording_process(r, 0)->role, TARE_ROLE_TARE);
	p = process_of(r, 431);
	CHECK(p && p->is_ended && !p->is_open && !tare_recording_is_open(r));
	CHECK_STR(p->program, "program");
	CHECK_INT(p->object_nr, 1);
	CHECK_INT(tare_recording_started_realtime_ns(r), 1700000000000000000);

	CHECK(tare_recording_next(r, &e));
	CHECK_INT(e.kind, TARE_KIND_DEVICE);
	CHECK_STR(e.text, "NVIDIA H200");
	CHECK_STR(e.device->uuid, "GPU-11223344-5566-7788-99aa-bbccddeeff00");
	CHECK_INT(e.device->nvml_index, 3);
	CHECK_INT(e.at_ns, 5003);

	CHECK(tare_recording_next(r, &e));
	CHECK_STR(e.api, "cuInit");
	CHECK(!e.device && !e.name && !e.stack && e.process == p);
	CHECK_INT(e.end_ns, 5006);
	CHECK_INT(e.begin_ns, 4956);
	CHECK_INT(e.rec.event->after, 200);

	CHECK(tare_recording_next(r, &e));
	CHECK_STR(e.api, "cuMemAlloc_v2");
	CHECK_INT(e.stack->depth, 2);
	CHECK_INT(e.stack->pcs[1], 0x401200);
	CHECK_STR(tare_process_object(p, e.stack, e.stack->pcs[0])->path, "/usr/bin/program");
	CHECK(!tare_process_object(p, e.stack, 0x402000) && !tare_process_object(p, e.stack, 0x400fff));
	CHECK_STR(tare_process_symbol(p, e.stack, e.stack->pcs[0])->name, "train_step");
	CHECK(!tare_process_symbol(p, e.stack, e.stack->pcs[1]));
	CHECK_INT(e.begin_ns, e.at_ns - 20);

	CHECK(tare_recording_next(r, &e));
	CHECK_STR(e.api, "cuMemFree_v2");
	CHECK_INT(e.begin_ns, e.at_ns);
	CHECK_INT(e.end_ns, e.at_ns + 10);

	CHECK(tare_recording_next(r, &e));
	CHECK_INT(e.kind, TARE_KIND_END);
	CHECK(tare_recording_next(r, &e));
	CHECK_INT(e.kind, TARE_KIND_EXIT);
	CHECK(e.about == p);
	CHECK(!tare_recording_next(r, &e));
	CHECK(!tare_recording_next(r, &e));
	CHECK_INT(tare_recording_last_ns(r), m.stamp + 100 - 1000000000);

	tare_recording_rewind(r);
	CHECK(tare_recording_next(r, &e));
	CHECK_INT(e.kind, TARE_KIND_DEVICE);
	CHECK_INT(tare_recording_note_nr(r), 0);
	tare_recording_close(r);
	free_both();
}

/* Threads overtake each other; a name can come after its first use. */
TEST(order_is_by_stamp_over_all_logs)
{
	struct tare_recording *r;
	struct tare_event e;
	uint64_t last = 0;
	unsigned seed = 1;
	int n = 0;

	init_both();
	for (int i = 0; i < 3000; i++) {
		uint64_t base = m.header.first_stamp + (uint64_t)i * 100;

		seed = seed * 1103515245 + 12345;
		MAKE(&m, event, EVENT, .head.stamp = base + (seed >> 16) % 5000, .api = 1, .device = -1);
		seed = seed * 1103515245 + 12345;
		MAKE_TEXT(&t, peer, PEER, "other", .head.stamp = base + (seed >> 16) % 300, .pid = 5);
	}
	MAKE_TEXT(&m, string, STRING, "cuLate", .id = 1);
	write_both();
	r = open_ok(make_dir());
	for (int turn = 0; turn < 2; turn++, tare_recording_rewind(r))
		for (n = 0, last = 0; tare_recording_next(r, &e); n++) {
			CHECK(e.rec.head->stamp >= last);
			last = e.rec.head->stamp;
			if (e.kind == TARE_KIND_EVENT)
				CHECK_STR(e.api, "cuLate");
			else
				CHECK_STR(e.text, "other");
		}
	CHECK_INT(n, 6000);
	tare_recording_close(r);
	free_both();
}

TEST(a_damaged_stamp_costs_its_own_place_only)
{
	for (int high = 0; high < 2; high++) {
		struct tare_recording *r;
		struct tare_event e;
		uint64_t last = 0;
		int64_t at = INT64_MIN;
		int n = 0, wrong = 0;

		init_both();
		for (int i = 0; i < 500; i++)
			MAKE(&m, event, EVENT, .head.stamp = m.header.first_stamp + 1000 + (uint64_t)i * 10 - (i % 3 == 2 ? 15 : 0),
			     .device = -1, .tid = 1);
		if (high)
			((struct tare_record *)(void *)(m.bytes + m.records[200].position))->stamp |= 1ull << 62;
		else
			((struct tare_record *)(void *)(m.bytes + m.records[200].position))->stamp = 3;
		write_both();
		r = open_ok(make_dir());
		for (; tare_recording_next(r, &e); n++) {
			CHECK(e.at_ns >= at);
			at = e.at_ns;
			if (e.rec.head->stamp == 3 || e.rec.head->stamp >> 60)
				continue;
			wrong += e.rec.head->stamp < last;
			last = e.rec.head->stamp;
		}
		CHECK_INT(n, 500);
		CHECK(wrong <= 3);
		CHECK(at < 100000);
		CHECK(tare_recording_last_ns(r) < 100000);
		tare_recording_close(r);
		free_both();
	}
}

/* What is told of a record whichever way it was read. */
struct told {
	int64_t at_ns, bytes;
	uint64_t block, stamp, kind;
};

static struct told told_of(const struct tare_event *e)
{
	struct told t = { .at_ns = e->at_ns, .stamp = e->rec.head->stamp, .kind = (uint64_t)e->kind };

	if (e->kind != TARE_KIND_TENSOR)
		return t;
	t.bytes = e->rec.tensor->bytes;
	t.block = e->rec.tensor->block;
	return t;
}

static size_t read_one_by_one(struct tare_recording *r, struct told *out)
{
	struct tare_event e;
	size_t n = 0;

	for (tare_recording_rewind(r); tare_recording_next(r, &e); n++)
		out[n] = told_of(&e);
	return n;
}

/* Returns how many were in runs. */
static size_t read_in_runs(struct tare_recording *r, struct told *out, size_t *n)
{
	struct tare_block_run run;
	struct tare_event e;
	size_t in_runs = 0;

	*n = 0;
	for (tare_recording_rewind(r); tare_recording_next(r, &e);) {
		out[(*n)++] = told_of(&e);
		if (e.kind != TARE_KIND_TENSOR || !tare_recording_run(r, INT64_MAX, &run))
			continue;
		for (size_t i = 0; i < run.n; i++) {
			run.refer(&run, i, &e);
			CHECK_INT((long long)run.columns.bytes[i], (long long)e.rec.tensor->bytes);
			out[(*n)++] = told_of(&e);
		}
		in_runs += run.n;
	}
	return in_runs;
}

/*
 * Records of a log that stand some, or many, records behind where they belong, in a lag of hundreds, with others between them: one by one
 * and many at once they are the same, and in order.
 */
TEST(a_log_is_read_in_runs_as_it_is_one_by_one)
{
	enum { RECORDS = 6000 };
	static struct told one[RECORDS + 10], many[RECORDS + 10];

	for (int late = 0; late < 1000; late = 7 * late + 1) {
		struct tare_recording *r;
		size_t n, n_many, in_runs;
		int wrong = 0;

		init_both();
		make_log_gpu(&m);
		for (int i = 0; i < RECORDS; i++) {
			uint64_t stamp = m.header.first_stamp + 100000 + (uint64_t)i * 10;

			if (i % 50 == 49)
				stamp -= (uint64_t)late * 10 + 5;
			if (i % 400 == 7)
				MAKE(&m, phase, PHASE, .head.stamp = stamp, .tid = 1, .what = TARE_PHASE_PUSH, .name = 1);
			else
				MAKE(&m, tensor, TENSOR, .head.stamp = stamp, .block = 0x1000 * (uint64_t)(i + 1),
				     .bytes = i % 3 ? 512 : -512, .device = i % 90 < 60 ? 0 : -1, .tid = 1);
		}
		write_both();
		r = open_ok(make_dir());
		n = read_one_by_one(r, one);
		in_runs = read_in_runs(r, many, &n_many);
		CHECK(n >= RECORDS);
		CHECK_INT((int)n_many, (int)n);
		CHECK(!memcmp(one, many, n * sizeof(*one)));
		for (size_t i = 2; i < n; i++)
			wrong += one[i].stamp < one[i - 1].stamp;
		CHECK_INT(wrong, 0);
		CHECK(in_runs > RECORDS / 2);
		tare_recording_close(r);
		free_both();
	}
}

TEST(one_device_seen_by_many)
{
	struct tare_recording *r;
	struct tare_event e;
	int readings = 0;

	init_both();
	MAKE_TEXT(&t, device, DEVICE, "H200", .ordinal = 0, .nvml_index = 0, .uuid_high = 1, .uuid_low = 1, .total = 100,
	          .reserved = 5, .used = 10);
	MAKE_TEXT(&t, device, DEVICE, "H200", .ordinal = 1, .nvml_index = 1, .uuid_high = 2, .uuid_low = 2, .total = 100,
	          .reserved = 5, .used = 20);
	MAKE(&t, reading, READING, .device = 1, .used = 30);
	MAKE(&t, reading, READING, .device = 7, .used = 30);
	/* The program sees the second one only, as its first. */
	m.stamp = t.stamp + 10;
	MAKE_TEXT(&m, device, DEVICE, "H200", .ordinal = 0, .nvml_index = -1, .uuid_high = 2, .uuid_low = 2, .total = 100,
	          .reserved = TARE_NOT_KNOWN, .used = 40, .multiprocessors = 132);
	MAKE(&m, event, EVENT, .device = 0);
	write_both();
	r = open_ok(make_dir());
	CHECK_INT(tare_recording_device_nr(r), 2);
	while (tare_recording_next(r, &e)) {
		if (e.kind == TARE_KIND_EVENT) {
			CHECK_INT(e.device->nvml_index, 1);
			CHECK_INT(e.device->reserved, 5);
			CHECK_INT(e.device->used, 20);
			CHECK_INT(e.device->multiprocessors, 132);
		}
		if (e.kind == TARE_KIND_READING) {
			CHECK(readings++ == 0 ? e.device->nvml_index == 1 : !e.device);
		}
	}
	CHECK_INT(readings, 2);
	tare_recording_close(r);
	free_both();
}

/* exec, and a pid that is used again: EXIT names a pid, and means who had it then. */
TEST(generations)
{
	struct tare_recording *r;
	struct tare_event e;
	struct make_log *second = calloc(1, sizeof(*second));
	int n = 0;

	CHECK(second);
	init_both();
	MAKE(&m, end, END, .how = TARE_HOW_EXEC);
	make_log_init(second, 431, 1);
	second->header.first_stamp += 1000;
	second->stamp = second->header.first_stamp;
	strcpy(second->header.program, "second");
	MAKE(second, end, END, .how = TARE_HOW_EXIT);
	MAKE(&t, exit, EXIT, .head.stamp = t.header.first_stamp + 500, .pid = 431);
	MAKE(&t, exit, EXIT, .head.stamp = t.header.first_stamp + 5000, .pid = 431);
	MAKE(&t, host, HOST, .head.stamp = t.header.first_stamp + 5001, .pid = 431, .generation = 1);
	MAKE(&t, host, HOST, .head.stamp = t.header.first_stamp + 5002, .pid = 999, .generation = 0);
	write_both();
	make_log_write(second, make_path(make_dir(), "431-1.events"), SIZE_MAX);
	r = open_ok(make_dir());
	while (tare_recording_next(r, &e)) {
		if (e.kind == TARE_KIND_END)
			continue;
		n++;
		if (n == 1)
			CHECK_INT(e.about->generation, 0);
		else if (n < 4)
			CHECK_STR(e.about->program, "second");
		else
			CHECK(!e.about);
	}
	CHECK_INT(n, 4);
	tare_recording_close(r);
	make_log_free(second);
	free(second);
	free_both();
}

TEST(objects_that_took_the_place_of_others)
{
	struct tare_recording *r;
	const struct tare_process *p;

	init_both();
	MAKE_TEXT(&m, object, OBJECT, "old", .begin = 0x1000, .end = 0x3000);
	MAKE_TEXT(&m, object, OBJECT, "far", .begin = 0x9000, .end = 0xa000);
	MAKE_TEXT(&m, object, OBJECT, "new", .begin = 0x2000, .end = 0x4000);
	MAKE_TEXT(&m, object, OBJECT, "empty", .begin = 0x5000, .end = 0x5000);
	MAKE_TEXT(&m, object, OBJECT, "low", .begin = 0x500, .end = 0x1000);
	write_both();
	r = open_ok(make_dir());
	p = process_of(r, 431);
	CHECK_INT(p->object_nr, 4);
	CHECK_STR(tare_process_object(p, NULL, 0x2800)->path, "new");
	CHECK_STR(tare_process_object(p, NULL, 0x9fff)->path, "far");
	CHECK_STR(tare_process_object(p, NULL, 0x500)->path, "low");
	CHECK(!tare_process_object(p, NULL, 0x1800) && !tare_process_object(p, NULL, 0));
	tare_recording_close(r);
	free_both();
}

TEST(ticks_become_time_through_clock_records)
{
	struct tare_recording *r;
	struct tare_event e;

	init_both();
	m.header.clock = t.header.clock = TARE_CLOCK_TSC;
	t.header.first_stamp = 2000; /* 1 s is 3,000 ticks */
	m.header.first_stamp = 3500;
	m.header.first_monotonic_ns = 1500000000;
	m.header.first_realtime_ns += 500000000;
	MAKE(&t, clock, CLOCK, .head.stamp = 32000, .ticks = 32000, .monotonic_ns = 11000000000,
	     .realtime_ns = 1700000010000000000);
	MAKE(&m, event, EVENT, .head.stamp = 8000, .ticks = 1500, .device = -1);
	write_both();
	r = open_ok(make_dir());
	CHECK(tare_recording_next(r, &e));
	CHECK_INT(e.at_ns, 2000000000);
	CHECK_INT(e.begin_ns, 1500000000);
	CHECK_INT(tare_recording_note_nr(r), 0);
	tare_recording_close(r);

	/* Alone, the program's log has one pair: the rate is not known, and that is said. */
	r = open_ok(make_path(make_dir(), "431-0.events"));
	CHECK(has_note(r, "rate of the clock is not known"));
	tare_recording_close(r);
	free_both();
}

/* Two machines: their clocks differ, the time of day does not. */
TEST(a_folder_of_ranks)
{
	const char *folders[2] = { "r0.tare", "r1.tare" };
	struct tare_recording *r;
	struct tare_event e;
	struct tare_err err;
	char root[300];
	const char *paths = root;
	int n = 0;

	snprintf(root, sizeof(root), "%s", make_dir());
	for (int i = 0; i < 2; i++) {
		char path[400];

		init_both();
		memset(m.header.boot_id, i + 1, 16);
		memset(t.header.boot_id, i + 1, 16);
		m.header.first_stamp += (uint64_t)i * 50000000000;
		m.header.first_monotonic_ns += (uint64_t)i * 50000000000;
		t.header.first_stamp += (uint64_t)i * 50000000000;
		t.header.first_monotonic_ns += (uint64_t)i * 50000000000;
		MAKE(&m, event, EVENT, .head.stamp = m.header.first_stamp + 1000u - 500u * (unsigned)i, .tid = (uint32_t)i,
		     .device = -1);
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		CHECK(mkdir(path, 0700) == 0);
		make_log_write(&m, make_path(path, "431-0.events"), SIZE_MAX);
		make_log_write(&t, make_path(path, "tare.events"), SIZE_MAX);
		free_both();
	}
	CHECK(mkdir(make_path(root, "something else"), 0700) == 0);
	/* Nothing says that they are of one job. */
	CHECK_INT(tare_recording_open(&r, root, &err), TARE_E_USAGE);
	CHECK_HAS(err.text, "tare diff");
	CHECK_INT(tare_recording_open_any(&r, &paths, 1, NULL), 0);
	CHECK_INT(tare_recording_process_nr(r), 4);
	for (; tare_recording_next(r, &e); n++) {
		CHECK_INT(e.rec.event->tid, 1 - n);
		CHECK_INT(e.at_ns, 500 + 500 * n);
		CHECK_HAS(e.process->folder, folders[1 - n]);
	}
	CHECK_INT(n, 2);
	tare_recording_close(r);
}

TEST(a_spool_is_followed)
{
	char real[300], target[300], text[700];
	struct tare_recording *r;

	snprintf(real, sizeof(real), "%s/spool", make_dir());
	snprintf(target, sizeof(target), "%s/target.tare", make_dir());
	CHECK(mkdir(real, 0700) == 0 && mkdir(target, 0700) == 0);
	snprintf(text, sizeof(text), "{\"tare\": 1, \"state\": \"recording\", \"spool\": \"%s\"}", real);
	write_text(make_path(target, "recording.json"), text);
	init_both();
	make_log_program(&m);
	make_log_write(&m, make_path(real, "431-0.events"), SIZE_MAX);
	/* The copy at the end was interrupted: what is cut here is whole in the spool. */
	make_log_write(&m, make_path(target, "431-0.events"), 700);
	m.header.pid = 500;
	make_log_write(&m, make_path(target, "500-0.events"), SIZE_MAX);
	r = open_ok(target);
	CHECK_INT(tare_recording_process_nr(r), 2);
	CHECK_INT(tare_recording_note_nr(r), 0);
	CHECK(tare_recording_is_open(r));
	tare_recording_close(r);

	/* Elsewhere the spool is not there. */
	CHECK(rename(real, make_path(make_dir(), "gone")) == 0);
	r = open_ok(target);
	CHECK(has_note(r, "open it on the machine it was recorded on"));
	tare_recording_close(r);
	free_both();
}

TEST(still_being_written)
{
	const char *ring = make_path(make_dir(), "431-0.ring");
	struct tare_recording *r;
	struct tare_event e;
	int n = 0;

	init_both();
	make_log_program(&m);
	make_log_program(&m);
	/* One END is taken away, and the last event is being written right now. */
	((struct tare_record *)(void *)(m.bytes + m.records[9].position))->kind = TARE_KIND_LOST;
	((struct tare_record *)(void *)(m.bytes + m.records[19].position))->kind = TARE_KIND_LOST;
	memset(m.bytes + m.records[18].position, 0, 4);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + m.records[10].position);
	make_log_write_ring(&m, ring, m.records[10].position, false);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	r = open_ok(make_dir());
	CHECK(tare_recording_is_open(r));
	CHECK(process_of(r, 431)->is_open);
	CHECK_INT(process_of(r, 431)->unfinished, 0);
	while (tare_recording_next(r, &e))
		n += e.kind == TARE_KIND_EVENT;
	CHECK_INT(n, 5);
	tare_recording_close(r);
	free_both();
}

static int fails(const char *path, const char *part)
{
	struct tare_recording *r = NULL;
	struct tare_err err = { 0 };
	int rc = tare_recording_open(&r, path, &err);

	CHECK_HAS(err.text, part);
	return rc;
}

TEST(refusals)
{
	char empty[300], other[300];

	snprintf(empty, sizeof(empty), "%s/empty.tare", make_dir());
	snprintf(other, sizeof(other), "%s/other", make_dir());
	CHECK(mkdir(empty, 0700) == 0 && mkdir(other, 0700) == 0);
	CHECK_INT(fails("/nonexistent.tare", "there is no such recording"), TARE_E_NOT_FOUND);
	CHECK_INT(fails(other, "holds no recording of Tare"), TARE_E_FORMAT);
	write_text(make_path(empty, "recording.json"), "{\"tare\": 1}");
	CHECK_INT(fails(empty, "holds no log"), TARE_E_EMPTY);
	write_text(make_path(empty, "1-0.events"), "");
	CHECK_INT(fails(empty, "is empty"), TARE_E_EMPTY);
	init_both();
	m.header.version = TARE_FORMAT_VERSION + 1;
	make_log_write(&m, make_path(empty, "1-0.events"), SIZE_MAX);
	CHECK_INT(fails(empty, "open it with Tare"), TARE_E_NEWER);
	if (geteuid() != 0) {
		CHECK(chmod(empty, 0) == 0);
		CHECK_INT(fails(empty, "ermission denied"), TARE_E_DENIED);
		CHECK(chmod(empty, 0700) == 0);
	}
	free_both();
}
