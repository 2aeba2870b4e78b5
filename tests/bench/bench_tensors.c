/* SPDX-License-Identifier: Apache-2.0 */
/* How fast blocks of PyTorch's allocator are folded, by how many are live. Prints, and judges nothing. */
#include "ledger/build.h"

#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BASE    (UINT64_C(1) << 40)
#define BLOCK   UINT64_C(1024)
#define SEGMENT (UINT64_C(20) << 20)

enum { STACK_NR = 200 };

/* Segments that hold all slots; then a block is handed out, and as soon as `live` are, the oldest taken back. */
struct stream {
	uint64_t count, at, live, handed, taken, segments, segment_at;
	struct tare_device device;
	struct tare_process_device process_device;
	struct tare_object object;
	struct tare_process process;
	struct tare_rec_event segment;
	struct tare_rec_tensor tensor;
	uint64_t pc;
	struct tare_stack native;
	struct tare_line lines[STACK_NR];
	struct tare_line_stack stacks[STACK_NR];
};

static void next_segment(struct stream *s, struct tare_event *e)
{
	e->kind = TARE_KIND_EVENT;
	e->rec.event = &s->segment;
	e->stack = &s->native;
	e->python = NULL;
	s->segment.handle = BASE + s->segment_at * SEGMENT;
	e->at_ns = e->begin_ns = e->end_ns = (int64_t)s->segment_at++ * 10;
}

/* Neighbours in time are none in memory. */
static uint64_t address_of(const struct stream *s, uint64_t number)
{
	return BASE + number * UINT64_C(7919) % (2 * s->live) * BLOCK;
}

static bool next(void *arg, struct tare_event *e)
{
	struct stream *s = arg;
	bool is_new = s->handed - s->taken < s->live;

	*e = (struct tare_event){ .process = &s->process, .device = &s->device, .text = "" };
	if (s->segment_at < s->segments) {
		next_segment(s, e);
		return true;
	}
	if (s->at == s->count)
		return false;
	s->tensor.block = address_of(s, is_new ? s->handed++ : s->taken++);
	s->tensor.bytes = is_new ? (int64_t)BLOCK : -(int64_t)BLOCK;
	e->kind = TARE_KIND_TENSOR;
	e->rec.tensor = &s->tensor;
	e->python = is_new ? &s->stacks[s->handed * 31 % STACK_NR] : NULL;
	e->at_ns = e->begin_ns = e->end_ns = (int64_t)(s->segments * 10 + ++s->at * 100);
	return true;
}

static void rewind_to_start(void *arg)
{
	struct stream *s = arg;

	s->at = s->segment_at = s->handed = s->taken = 0;
}

/* Of this process: other programs do not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void set_up(struct stream *s)
{
	s->segments = 2 * s->live * BLOCK / SEGMENT + 1;
	s->device = (struct tare_device){ .name = "bench", .host = "", .total = UINT64_C(1) << 40 };
	s->process_device = (struct tare_process_device){ 0, &s->device };
	s->object = (struct tare_object){ .begin = 0x1000, .end = 0x2000, .path = "/x/libc10_cuda.so" };
	s->process = (struct tare_process){ .role = TARE_ROLE_PROGRAM,
		                                .pid = 1,
		                                .program = "bench",
		                                .host = "",
		                                .devices = &s->process_device,
		                                .device_nr = 1,
		                                .objects = &s->object,
		                                .object_nr = 1 };
	s->pc = 0x1010;
	s->native = (struct tare_stack){ 1, 1, &s->pc, 0 };
	s->segment = (struct tare_rec_event){ .class = TARE_CLASS_DEVICE,
		                                  .effect = TARE_EFFECT_NEW,
		                                  .context = 0xc0,
		                                  .asked = SEGMENT,
		                                  .granted = SEGMENT,
		                                  .before = TARE_NOT_KNOWN,
		                                  .after = TARE_NOT_KNOWN };
	for (uint32_t i = 0; i < STACK_NR; i++) {
		s->lines[i] = (struct tare_line){ "/home/me/train.py", "step", i + 1 };
		s->stacks[i] = (struct tare_line_stack){ i + 1, 1, &s->lines[i] };
	}
}

static int64_t live_of(const struct tare_ledger *l)
{
	for (int i = 0; i < l->devices[0].row_nr; i++)
		if (strstr(l->devices[0].rows[i].path, "/tensors"))
			return (int64_t)l->devices[0].rows[i].count;
	return 0;
}

static void measure(uint64_t count, uint64_t live)
{
	struct stream *s = tare_xcalloc(1, sizeof(*s));
	struct tare_ledger_source source = { .next = next, .rewind = rewind_to_start, .arg = s };
	struct tare_instant at = { .moment = TARE_MOMENT_END, .text = "end" };
	struct tare_event e;
	struct tare_ledger ledger;
	struct rusage usage;
	double begin, source_s, best = 0;

	s->count = count;
	s->live = live;
	set_up(s);
	for (int i = 0; i < 3; i++) {
		rewind_to_start(s);
		begin = now();
		while (next(s, &e))
			;
		rewind_to_start(s);
		source_s = 2 * (now() - begin); /* the fold reads twice */
		begin = now();
		tare_ledger_build(&source, NULL, &at, 1, &ledger);
		begin = now() - begin - source_s;
		if (!i || begin < best)
			best = begin;
		if (i < 2)
			tare_ledger_free(&ledger);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%10llu events, %8lld live at the end: %6.1f M events/s, %4.0f ns each, %ld MiB at most\n",
	       (unsigned long long)count, (long long)live_of(&ledger), (double)count / best / 1e6,
	       best / (double)count * 1e9, usage.ru_maxrss / 1024);
	tare_ledger_free(&ledger);
	free(s);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;

	if (argc > 2) {
		measure(count, strtoull(argv[2], NULL, 10));
		return 0;
	}
	measure(count, 10000);
	measure(count, 1000000);
	return 0;
}
