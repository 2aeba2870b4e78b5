/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a recording is read and folded, a compacted one or what no segment has yet.
 *
 *     bench_reading make FOLDER tensors RECORDS LIVE     blocks on a GPU, of which LIVE are out at a time
 *     bench_reading make FOLDER overlaps RECORDS LIVE    the same of two threads, compacted 16 MiB at a time: segments overlap
 *     bench_reading make FOLDER phases PHASES            phases, two in each other, and a block with every 50th
 *     bench_reading make FOLDER raw RECORDS LIVE         tensors as they are before anything is compacted
 *     bench_reading FOLDER                               prints, and judges nothing
 *     bench_reading FOLDER ledger                        only what makes a ledger, for a profiler
 *
 * Times are of the processor, the best of some rounds. "opened" is tare_recording_open(), which reads every block
 * and its checksum, in several threads where there is much, so that is told by the clock, too; "read" is tare_recording_next() up to the end, "outlined" the same after tare_recording_outline();
 * "ledger" is opening, and the ledger of its peak, which needs both.
 */
#include "base/xalloc.h"
#include "base/str.h"
#include "compact/compact.h"
#include "ledger/build.h"
#include "record/encode.h"
#include "trace/recording.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define BASE    (UINT64_C(0x7f) << 40)
#define BLOCK   UINT64_C(1024)
#define SEGMENT (UINT64_C(20) << 20)
#define CODE    UINT64_C(0x7e0000001000)

enum {
	ROUNDS = 3,
	DRAINED = 4000,   /* records of a thread, before those of another */
	PIECE = 16 << 20, /* of a log, at once into a segment */
	LINES = 200,
	TICKS_PER_US = 2100,
	START_NS = 1000000000,
	PID = 431,
	DRIVER_CALL = 1,
	FIRST_NAME = 10, /* ids of strings: the lines' file, their functions, names of phases */
};

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- making one ---- */

struct making {
	struct tare_writer *log;
	uint64_t ticks; /* of the next record */
	uint64_t random;
	uint64_t live;
	uint64_t drained; /* records of a thread at once; 0: there is one thread */
	uint64_t drained_ticks;
};

static void add(struct making *m, struct tare_record *rec, enum tare_kind kind, size_t size, const void *tail,
                size_t tail_size)
{
	rec->kind = kind;
	rec->stamp = m->ticks;
	if (tare_writer_add(m->log, rec, size, tail, tail_size))
		exit(1);
}

#define ADD(M, NAME, KEY, ...)                                                                                         \
	do {                                                                                                               \
		struct tare_rec_##NAME rec = { __VA_ARGS__ };                                                                  \
		add(M, &rec.head, TARE_KIND_##KEY, sizeof(rec), NULL, 0);                                                      \
	} while (0)

static void add_string(struct making *m, uint32_t id, const char *text)
{
	struct tare_rec_string rec = { .id = id, .bytes = (uint32_t)strlen(text) };

	add(m, &rec.head, TARE_KIND_STRING, sizeof(rec), text, rec.bytes);
}

static void add_tables(struct making *m)
{
	static const char gpu[] = "bench", object[] = "/x/libc10_cuda.so";
	static const uint64_t pc = CODE + 0x10;
	struct tare_rec_device device = { .total = UINT64_C(140) << 30,
		                              .reserved = TARE_NOT_KNOWN,
		                              .used = TARE_NOT_KNOWN,
		                              .nvml_index = -1,
		                              .uuid_high = 1,
		                              .uuid_low = 2,
		                              .bytes = sizeof(gpu) - 1 };
	struct tare_rec_object code = { .base = CODE, .begin = CODE, .end = CODE + 0x1000, .bytes = sizeof(object) - 1 };
	struct tare_rec_stack stack = { .id = 1, .depth = 1 };

	add(m, &device.head, TARE_KIND_DEVICE, sizeof(device), gpu, sizeof(gpu) - 1);
	add(m, &code.head, TARE_KIND_OBJECT, sizeof(code), object, sizeof(object) - 1);
	add(m, &stack.head, TARE_KIND_STACK, sizeof(stack), &pc, sizeof(pc));
	add_string(m, DRIVER_CALL, "cuMemAlloc_v2");
	add_string(m, FIRST_NAME, "/home/me/train.py");
	for (uint32_t i = 1; i <= LINES; i++) {
		struct tare_rec_line_stack lines = { .id = i, .depth = 1 };
		uint64_t line = i;
		char name[32];

		snprintf(name, sizeof(name), "step%u", i);
		add_string(m, FIRST_NAME + i, name);
		ADD(m, line, LINE, .id = i, .file = FIRST_NAME, .function = FIRST_NAME + i, .line = i);
		add(m, &lines.head, TARE_KIND_LINE_STACK, sizeof(lines), &line, sizeof(line));
	}
}

/* Both clocks; a reader goes from one to the other by what lies between two such records. */
static void add_clock(struct making *m)
{
	uint64_t ns = m->ticks * 1000 / TICKS_PER_US;

	ADD(m, clock, CLOCK, .ticks = m->ticks, .monotonic_ns = ns, .realtime_ns = UINT64_C(1700000000000000000) + ns);
}

/* Calls do not come at even times. */
static void step(struct making *m)
{
	m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	m->ticks += TICKS_PER_US / 2 + (m->random >> 33) % (4 * TICKS_PER_US);
}

static void add_segments(struct making *m)
{
	for (uint64_t i = 0; i <= 2 * m->live * BLOCK / SEGMENT; i++) {
		step(m);
		ADD(m, event, EVENT, .tid = PID, .stack = 1, .effect = TARE_EFFECT_NEW, .class = TARE_CLASS_DEVICE,
		    .api = DRIVER_CALL, .ticks = TICKS_PER_US / 4, .context = 0xc0, .handle = BASE + i * SEGMENT,
		    .asked = SEGMENT, .granted = SEGMENT, .before = TARE_NOT_KNOWN, .after = TARE_NOT_KNOWN,
		    .peers_before = TARE_NOT_KNOWN, .peers_after = TARE_NOT_KNOWN);
	}
}

/* Neighbours in time are none in memory. */
static uint64_t address_of(const struct making *m, uint64_t number)
{
	return BASE + number * UINT64_C(7919) % (2 * m->live) * BLOCK;
}

static void add_block(struct making *m, uint64_t number, bool is_new)
{
	step(m);
	ADD(m, tensor, TENSOR, .block = address_of(m, number), .bytes = is_new ? (int64_t)BLOCK : -(int64_t)BLOCK,
	    .tid = PID, .python = is_new ? (uint32_t)(1 + number * 31 % LINES) : 0);
}

/* What the second thread did meanwhile stands behind what the first one did. */
static void go_to_thread(struct making *m, uint64_t i)
{
	if (!m->drained || i % m->drained)
		return;
	if (i / m->drained % 2)
		m->ticks = m->drained_ticks;
	else
		m->drained_ticks = m->ticks;
}

static void make_tensors(struct making *m, uint64_t count)
{
	uint64_t handed = 0, taken = 0;

	add_segments(m);
	for (uint64_t i = 0; i < count; i++) {
		if (i % 100000 == 0)
			add_clock(m);
		go_to_thread(m, i);
		if (handed - taken < m->live)
			add_block(m, handed++, true);
		else
			add_block(m, taken++, false);
	}
}

static void add_phase(struct making *m, enum tare_phase_what what, uint64_t name)
{
	step(m);
	ADD(m, phase, PHASE, .tid = PID, .what = (uint8_t)what,
	    .name = what == TARE_PHASE_PUSH ? (uint32_t)(FIRST_NAME + 1 + name % LINES) : 0);
}

static void make_phases(struct making *m, uint64_t count)
{
	add_segments(m);
	for (uint64_t i = 0; i < count; i += 2) {
		if (i % 100000 == 0)
			add_clock(m);
		if (i % 50 == 0)
			add_block(m, i / 100, i % 100 == 0);
		add_phase(m, TARE_PHASE_PUSH, 0);
		add_phase(m, TARE_PHASE_PUSH, 1 + i / 2 % 50);
		add_phase(m, TARE_PHASE_POP, 0);
		add_phase(m, TARE_PHASE_POP, 0);
	}
}

static uint64_t below(void *arg, const char *log, bool has_ring)
{
	(void)log;
	(void)has_ring;
	return *(uint64_t *)arg;
}

/* As `tare compact --running` does while a log grows. */
static int compact(const char *folder, uint64_t records, struct tare_err *err)
{
	uint64_t until = 0, end = records * sizeof(struct tare_rec_tensor);
	struct tare_compact_options options = { .below = below, .arg = &until };
	struct tare_compacted compacted;
	int rc = 0;

	for (until = PIECE; until < end && !rc; until += PIECE)
		rc = tare_compact(folder, &options, &compacted, err);
	return rc;
}

static int make(const char *folder, const char *what, uint64_t count, uint64_t live)
{
	static struct making m = { .random = 1 };
	struct tare_compact_options options = { .is_forced = true };
	struct tare_compacted compacted;
	struct tare_file_header header;
	struct tare_str path = { 0 };
	struct tare_err err = { 0 };
	int rc;

	m.live = live;
	m.drained = strcmp(what, "overlaps") ? 0 : DRAINED;
	m.ticks = (uint64_t)START_NS * TICKS_PER_US / 1000;
	tare_encode_header(&header, TARE_ROLE_PROGRAM, TARE_CLOCK_TSC);
	header.pid = PID;
	header.ppid = 1;
	header.first_stamp = m.ticks;
	header.first_monotonic_ns = START_NS;
	header.first_realtime_ns = UINT64_C(1700000000000000000) + START_NS;
	snprintf(header.host, sizeof(header.host), "bench");
	snprintf(header.program, sizeof(header.program), "bench");
	tare_str_addf(&path, "%s/%d-0.events", folder, PID);
	mkdir(folder, 0700);
	rc = tare_writer_open(&m.log, path.data, &header, &err);
	tare_str_free(&path);
	if (!rc) {
		add_tables(&m);
		add_clock(&m);
		if (!strcmp(what, "phases"))
			make_phases(&m, count);
		else
			make_tensors(&m, count);
		step(&m);
		add_clock(&m);
		ADD(&m, end, END, .tid = PID, .how = TARE_HOW_EXIT);
		rc = tare_writer_close(m.log);
	}
	if (!rc && m.drained)
		rc = compact(folder, count, &err);
	if (!rc && strcmp(what, "raw"))
		rc = tare_compact(folder, &options, &compacted, &err);
	if (rc)
		fprintf(stderr, "bench_reading: %s\n", err.text);
	return rc ? 1 : 0;
}

/* ---- measuring one ---- */

static struct tare_recording *open_or_die(const char *path)
{
	struct tare_recording *r;
	struct tare_err err = { 0 };

	if (tare_recording_open(&r, path, &err)) {
		fprintf(stderr, "bench_reading: %s\n", err.text);
		exit(1);
	}
	return r;
}

struct times {
	double opened, opened_clock, outlined, read, ledger;
	size_t events;
};

static void keep_least(double *best, double took)
{
	if (*best == 0 || took < *best)
		*best = took;
}

static void least(double *best, double begin)
{
	keep_least(best, seconds() - begin);
}

static void measure_reading(struct times *t, const char *path)
{
	double begin = seconds(), clock = seconds_of(CLOCK_MONOTONIC);
	struct tare_recording *r = open_or_die(path);
	struct tare_event e;

	least(&t->opened, begin);
	keep_least(&t->opened_clock, seconds_of(CLOCK_MONOTONIC) - clock);
	begin = seconds();
	tare_recording_outline(r);
	while (tare_recording_next(r, &e))
		;
	least(&t->outlined, begin);
	tare_recording_rewind(r);
	begin = seconds();
	for (t->events = 0; tare_recording_next(r, &e);)
		t->events++;
	least(&t->read, begin);
	tare_recording_close(r);
}

static void measure_ledger(struct times *t, const char *path)
{
	struct tare_instant at = { .moment = TARE_MOMENT_PEAK, .text = "peak" };
	double begin = seconds();
	struct tare_ledger_opts as_a_report = { .without_tensors = true };
	struct tare_recording *r = open_or_die(path);
	struct tare_ledger ledger;

	tare_ledger_of_recording(r, &as_a_report, &at, 1, &ledger);
	least(&t->ledger, begin);
	tare_ledger_free(&ledger);
	tare_recording_close(r);
}

static long peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
	struct times t = { 0 };
	bool is_profiled = argc == 3 && !strcmp(argv[2], "ledger");

	tare_xalloc_begin();
	if (argc >= 5 && !strcmp(argv[1], "make"))
		return make(argv[2], argv[3], strtoull(argv[4], NULL, 10), argc > 5 ? strtoull(argv[5], NULL, 10) : 1000);
	if (argc != 2 && !is_profiled) {
		fprintf(stderr,
		        "bench_reading FOLDER [ledger], or bench_reading make FOLDER tensors|overlaps|phases|raw N [LIVE]\n");
		return 2;
	}
	for (int i = 0; i < ROUNDS; i++)
		measure_ledger(&t, argv[1]);
	if (is_profiled)
		return 0;
	for (int i = 0; i < ROUNDS; i++)
		measure_reading(&t, argv[1]);
	printf(
		"%zu events: opened %.0f M/s (%.1f ms by the clock), outlined %.1f M/s, read %.1f M/s, ledger %.2f M/s (%.0f ns each), %ld MiB at most\n",
		t.events, (double)t.events / t.opened / 1e6, t.opened_clock * 1e3, (double)t.events / t.outlined / 1e6,
		(double)t.events / t.read / 1e6, (double)t.events / t.ledger / 1e6, t.ledger / (double)t.events * 1e9,
		peak_mib());
	return 0;
}
