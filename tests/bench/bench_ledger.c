/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the fold is, with how many live allocations. Prints, and judges nothing. */
#include "ledger/build.h"

#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define PAGE (UINT64_C(2) << 20)

struct stream {
	uint64_t count, at, live;
	uint32_t threads;
	bool is_weighed;
	int64_t used, *held; /* by slot; 0: free */
	struct tare_device device;
	struct tare_process_device process_device;
	struct tare_process process;
	struct tare_rec_event rec;
};

/* Every slot in turn is filled or emptied, so about half of them are live. */
static bool next(void *arg, struct tare_event *e)
{
	struct stream *s = arg;
	uint64_t slot = (s->at * UINT64_C(7919)) % (2 * s->live);
	int64_t t = (int64_t)s->at * 1000, before = s->used;
	bool is_new = !s->held[slot];

	if (s->at == s->count)
		return false;
	s->at++;
	s->held[slot] = is_new ? (int64_t)PAGE : 0;
	s->used += is_new ? (int64_t)PAGE : -(int64_t)PAGE;
	s->rec.tid = 1 + (uint32_t)(s->at % s->threads);
	s->rec.effect = is_new ? TARE_EFFECT_NEW : TARE_EFFECT_DEL;
	s->rec.handle = (UINT64_C(1) << 40) + slot * PAGE;
	s->rec.asked = s->rec.granted = is_new ? PAGE - 512 : 0;
	s->rec.flags = s->is_weighed ? TARE_EVENT_WEIGHED : 0;
	s->rec.before = (uint64_t)before;
	s->rec.after = (uint64_t)s->used;
	e->begin_ns = t;
	e->end_ns = t + (s->threads > 1 ? 1500 : 500);
	e->at_ns = is_new ? e->end_ns : e->begin_ns;
	return true;
}

/* The fold reads nothing else of an event of the same kind, so these stay as they are. */
static bool next_full(void *arg, struct tare_event *e)
{
	struct stream *s = arg;

	*e = (struct tare_event){
		.kind = TARE_KIND_EVENT, .rec.event = &s->rec, .process = &s->process, .device = &s->device, .text = ""
	};
	return next(arg, e);
}

static void rewind_to_start(void *arg)
{
	struct stream *s = arg;

	s->at = 0;
	s->used = 0;
	memset(s->held, 0, 2 * s->live * sizeof(*s->held));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(const char *what, uint64_t count, uint64_t live, uint32_t threads, bool is_weighed, bool is_history)
{
	struct tare_memory_history history;
	struct tare_ledger_opts opts = { .history = is_history ? &history : NULL };
	struct stream s = { .count = count, .live = live, .threads = threads };
	struct tare_ledger_source source = { .next = next_full, .rewind = rewind_to_start, .arg = &s };
	struct tare_instant at = { .moment = TARE_MOMENT_PEAK, .text = "peak" };
	struct tare_event e;
	struct tare_ledger ledger;
	struct rusage usage;
	double begin, source_s;

	s.is_weighed = is_weighed;
	s.held = tare_xcalloc(2 * live, sizeof(*s.held));
	s.device = (struct tare_device){ .name = "bench", .nvml_index = 0, .total = UINT64_C(1) << 40 };
	s.process_device = (struct tare_process_device){ 0, &s.device };
	s.process = (struct tare_process){ .role = TARE_ROLE_PROGRAM,
		                               .pid = 1,
		                               .program = "bench",
		                               .host = "",
		                               .folder = "",
		                               .log = "",
		                               .rank = TARE_RANK_NONE,
		                               .devices = &s.process_device,
		                               .device_nr = 1 };
	s.rec.class = TARE_CLASS_DEVICE;
	s.rec.context = 0xc0;
	begin = now();
	while (next_full(&s, &e))
		;
	rewind_to_start(&s);
	source_s = 2 * (now() - begin); /* the fold reads twice */
	begin = now();
	tare_ledger_build(&source, &opts, &at, 1, &ledger);
	begin = now() - begin - source_s;
	getrusage(RUSAGE_SELF, &usage);
	printf("%-32s %10llu events, %8llu live: %6.1f M events/s, %4.0f ns each, %ld MiB at most\n", what,
	       (unsigned long long)count, (unsigned long long)live, (double)count / begin / 1e6,
	       begin / (double)count * 1e9, usage.ru_maxrss / 1024);
	if (is_history)
		tare_memory_history_free(&history);
	tare_ledger_free(&ledger);
	free(s.held);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;

	measure("one thread, weighed", count, 10000, 1, true, false);
	measure("… and its picture", count, 10000, 1, true, true);
	measure("one thread, not weighed", count, 10000, 1, false, false);
	measure("one thread, weighed", count, 1000000, 1, true, false);
	measure("two threads that overlap", count / 8, 10000, 2, true, false);
	return 0;
}
