/* SPDX-License-Identifier: Apache-2.0 */
/* How long a frame takes, here and in the compiler's runtime. */
#include "../test.h"
#include "code.h"
#include "recorder/elf/objects.h"
#include "recorder/unwind/unwind.h"
#include "walk.h"

#include <time.h>

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

struct bench {
	const char *name;
	int rounds;
};

static void bench_here(void *arg)
{
	const struct bench *b = arg;
	double begin, cold = 0, warm, gcc;
	struct walk w = { { 0 }, 0 };

	w.count = tare_unwind(w.pc, DEPTH, NULL);
	for (int i = 0; i < b->rounds / 100; i++) {
		tare_objects_changed();
		begin = now_ns();
		w.count = tare_unwind(w.pc, DEPTH, NULL);
		cold += now_ns() - begin;
	}
	begin = now_ns();
	for (int i = 0; i < b->rounds; i++)
		w.count = tare_unwind(w.pc, DEPTH, NULL);
	warm = now_ns() - begin;
	begin = now_ns();
	for (int i = 0; i < b->rounds / 100; i++) {
		struct walk unused = { { 0 }, 0 };

		_Unwind_Backtrace(walk_note, &unused);
	}
	gcc = now_ns() - begin;
	printf("# %s: %d frames; ns per frame: warm %.1f, cold %.0f, gcc %.0f; warm walk %.0f\n", b->name, w.count,
	       warm / b->rounds / w.count, cold / (b->rounds / 100) / w.count, gcc / (b->rounds / 100) / w.count,
	       warm / b->rounds);
}

TEST(bench_prints_only)
{
	struct bench b = { "recursion", 20000 };

	code_recurse(8, bench_here, &b);
	code_recurse(64, bench_here, &b);
	b.name = "registers";
	code_registers(8, bench_here, &b);
	b.name = "realigned";
	code_aligned(8, bench_here, &b);
}
