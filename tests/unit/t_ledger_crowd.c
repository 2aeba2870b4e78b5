/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that start, make contexts and end at the same time: times in ms, sizes in MiB. */
#include "ledger_world.h"
#include "test.h"

#include <stdio.h>

#define BASE UINT64_C(0x7f0000000000)

static void start(struct world *w, int process, int64_t begin, int64_t end, int64_t before, int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_DRIVER, .effect = TARE_EFFECT_CHANGE, .begin = begin * MS,
	     .end = end * MS, .weigh = true, .before = before * MIB, .after = after * MIB);
}

static void context(struct world *w, int process, int64_t begin, int64_t end, int64_t before, int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = begin * MS,
	     .end = end * MS, .handle = 0xc0, .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true,
	     .before = before * MIB, .after = after * MIB);
}

static void alloc(struct world *w, int process, int64_t begin, int64_t end, int page, int64_t size, int64_t before,
                  int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = begin * MS,
	     .end = end * MS, .handle = BASE + (uint64_t)page * 2 * MIB, .context = 0xc0, .asked = (uint64_t)(size * MIB),
	     .weigh = true, .before = before * MIB, .after = after * MIB);
}

/* The driver takes 3, and a context of the first process 500: what others take is known from then on. */
static struct world *one_process(int others, int *process)
{
	static const char *const names[] = { "b", "c", "d", "e" };
	struct world *w = world_new();

	for (int i = 0; i < others; i++)
		process[i] = world_process(w, (uint32_t)(500 + 100 * i), 0, names[i]);
	start(w, 0, 1, 2, 1000, 1003);
	context(w, 0, 3, 4, 1003, 1503);
	return w;
}

static void check_at(struct world *w, const char *at, int64_t used)
{
	struct tare_ledger l = world_ledger(w, at);

	CHECK_INT(l.devices[0].used, used * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
}

static void check_row(struct world *w, const char *path, int64_t bytes)
{
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_INT(world_bytes(&l, 0, path), bytes * MIB);
	tare_ledger_free(&l);
}

TEST(a_context_inside_the_start_of_another_process_is_there_once)
{
	int p[2];
	struct world *w = one_process(2, p);

	start(w, p[0], 10, 11, 1503, 1503);
	start(w, p[1], 12, 20, 1503, 2003);
	context(w, p[0], 13, 15, 1503, 2003);
	check_row(w, "process:500/context", 500);
	check_row(w, "process:600/driver", 0);
	check_at(w, "end", 2003);
	check_at(w, "peak", 2003);
	world_free(w);
}

/* The start reads how much of the context there is by then; it takes none of it, whether or not another process is ending meanwhile. */
TEST(a_start_inside_the_first_context_of_a_device)
{
	for (int has_leaver = 0; has_leaver < 2; has_leaver++) {
		struct world *w = world_new();
		int second = world_process(w, 500, 0, "b"), gone = world_process(w, 600, 0, "c");

		start(w, gone, 1, 2, 1000, 1003);
		if (has_leaver)
			world_process_at(w, gone)->last_ns = 2 * MS;
		start(w, 0, 5, 6, 1003, 1003);
		context(w, 0, 10, 30, 1003, 1503);
		start(w, second, 12, 20, 1003, 1022);
		context(w, second, 31, 32, 1503, 2003);
		check_row(w, "process:431/context", 500);
		check_row(w, "process:500/driver", 0);
		check_row(w, "process:500/context", 500);
		check_at(w, "21ms", 1022);
		check_at(w, "end", 2003);
		world_free(w);
	}
}

/* The start of the driver took 3 beside: nothing else can have been that. */
TEST(what_a_context_leaves_is_of_the_start_beside_it)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "b");

	context(w, 0, 1, 2, 1000, 1500);
	start(w, second, 5, 9, 1500, 2003);
	CALL(w, .process = 0, .tid = 2, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 6 * MS,
	     .end = 8 * MS, .handle = 0xc1, .context = 0xc1, .weigh = true, .before = 1500 * MIB, .after = 2003 * MIB);
	start(w, second, 20, 21, 2003, 2003);
	check_row(w, "process:500/driver", 3);
	check_row(w, "process:431/context", 1000);
	check_at(w, "end", 2003);
	world_free(w);
}

TEST(two_contexts_and_two_starts_that_cross)
{
	int p[4];
	struct world *w = one_process(4, p);

	start(w, p[2], 10, 20, 1503, 2503);
	start(w, p[3], 12, 22, 1503, 2503);
	context(w, p[0], 11, 17, 1503, 2503);
	context(w, p[1], 14, 19, 2003, 2503);
	alloc(w, p[1], 24, 25, 0, 2, 2503, 2505);
	check_row(w, "process:500/context", 500);
	check_row(w, "process:600/context", 500);
	check_row(w, "process:700/driver", 0);
	check_row(w, "process:800/driver", 0);
	for (int t = 12; t <= 24; t += 2) {
		char at[16];

		snprintf(at, sizeof(at), "%dms", t);
		check_at(w, at, t < 14 ? 1503 : t < 17 ? 2003 : 2503);
	}
	check_at(w, "end", 2505);
	world_free(w);
}

/* Its call is in no log; what it had goes while another process starts and a third one makes a context. */
TEST(a_process_that_is_killed_while_others_start)
{
	int p[3];
	struct world *w = one_process(3, p);

	context(w, p[0], 5, 6, 1503, 2003);
	world_process_at(w, p[0])->last_ns = 6 * MS;
	start(w, p[1], 10, 20, 2003, 2005);
	context(w, p[2], 11, 18, 2003, 2003);
	alloc(w, p[2], 19, 22, 0, 2, 2003, 2005);
	check_row(w, "process:600/driver", 0);
	check_row(w, "process:700/context", 500);
	check_at(w, "end", 2005);
	world_free(w);
}

/* One killed inside cuInit has nothing in the books, and what it took was nobody's: it goes as it came. */
TEST(a_process_that_is_killed_inside_its_start)
{
	int p[2];
	struct world *w = one_process(2, p);
	struct tare_ledger l;

	world_process_at(w, p[0])->last_ns = 10 * MS;
	alloc(w, 0, 9, 12, 0, 2, 1503, 1507); /* 2 of the process that starts meanwhile */
	CALL(w, .process = 0, .tid = 2, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 11 * MS,
	     .end = 14 * MS, .handle = BASE + 64 * MIB, .context = 0xc0, .asked = 4 * MIB, .weigh = true,
	     .before = 1507 * MIB, .after = 1511 * MIB);
	start(w, p[1], 20, 30, 1511, 2009);
	context(w, p[1], 31, 32, 2009, 2009);
	l = world_ledger(w, "15ms");
	CHECK_INT(l.devices[0].used, 1511 * MIB);
	CHECK_INT(l.devices[0].unexplained, 2 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* A process ends, and another makes a context, while two that start look at the device. */
TEST(an_end_and_a_context_in_one_stretch)
{
	int p[3];
	struct world *w = one_process(3, p);

	alloc(w, 0, 5, 6, 0, 6, 1503, 1509);
	start(w, p[0], 7, 8, 1509, 1509);
	world_end(w, 0, 9 * MS);
	context(w, p[0], 10, 18, 1509, 1503);
	start(w, p[1], 11, 19, 1509, 1503);
	start(w, p[2], 12, 20, 1509, 1503);
	alloc(w, p[0], 22, 23, 0, 2, 1503, 1505);
	check_row(w, "process:500/context", 500);
	check_at(w, "end", 1505);
	world_free(w);
}

/* A thread read the counter and lost the CPU: others that were taken meanwhile say more. */
TEST(readings_that_are_kept_are_exact)
{
	int p[1];
	struct world *w = one_process(1, p);

	context(w, p[0], 5, 6, 1503, 2003);
	for (int i = 0; i < 10; i++)
		alloc(w, 0, 10 + 2 * i, 11 + 2 * i, 8 + 8 * i, 4, 2003 + 4 * i + (i >= 6 ? 2 : 0),
		      2007 + 4 * i + (i >= 6 ? 2 : 0));
	CALL(w, .process = p[0], .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 21 * MS + MS / 2,
	     .end = 21 * MS + 3 * MS / 4, .handle = BASE, .context = 0xc0, .asked = 2 * MIB, .weigh = true,
	     .before = 2007 * MIB, .after = 2037 * MIB, .reading_before = 10 * MS, .reading_after = 7 * MS);
	for (int i = 0; i < 10; i++) {
		char at[16];

		snprintf(at, sizeof(at), "%d500us", 11 + 2 * i);
		check_at(w, at, 2007 + 4 * i + (i >= 6 ? 2 : 0));
	}
	check_at(w, "peak", 2045);
	check_at(w, "end", 2045);
	world_free(w);
}

/*
 * Process 500 makes its context, of 500, while process 431 starts the driver, which took 3: what each took cannot be told, and they
 * share it.
 */
static struct world *a_context_in_a_start(int *second)
{
	struct world *w = world_new();

	*second = world_process(w, 500, 0, "b");
	start(w, 0, 1, 21, 1000, 1503);
	start(w, *second, 3, 4, 1000, 1003);
	context(w, *second, 6, 7, 1003, 1503);
	return w;
}

static void alloc_of_thread(struct world *w, uint32_t tid, int64_t begin, int64_t end, int page, int64_t before,
                            int64_t after)
{
	CALL(w, .process = 0, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = begin * MS,
	     .end = end * MS, .handle = BASE + (uint64_t)page * 2 * MIB, .context = 0xc0, .asked = 2 * MIB, .weigh = true,
	     .before = before * MIB, .after = after * MIB);
}

TEST(what_a_context_shared_with_a_start_shows_when_its_process_goes)
{
	int second;
	struct world *w = a_context_in_a_start(&second);
	struct tare_ledger l = world_ledger(w, "22ms");

	CHECK(world_row(&l, 0, "process:500/context")->contended);
	CHECK(world_row(&l, 0, "process:431/driver")->contended);
	tare_ledger_free(&l);
	world_end(w, second, 25 * MS);
	alloc_of_thread(w, 1, 30, 31, 0, 1003, 1005);
	check_row(w, "process:431/driver", 3);
	check_at(w, "end", 1005);
	world_free(w);
}

/* Another process goes in the same stretch: what the two had is one sum. */
TEST(what_was_shared_shows_when_two_go_at_once)
{
	int second, third;
	struct world *w = a_context_in_a_start(&second);

	third = world_process(w, 600, 0, "c");
	context(w, third, 27, 28, 1503, 2003);
	world_end(w, second, 29 * MS);
	world_end(w, third, 30 * MS);
	alloc_of_thread(w, 1, 28, 40, 0, 2003, 1007);
	alloc_of_thread(w, 2, 38, 39, 8, 1003, 1005);
	check_row(w, "process:431/driver", 3);
	check_at(w, "end", 1007);
	world_free(w);
}

/* Those that shared go together, and no other row was given a share: of the start stays what the counter says. */
TEST(what_was_shared_by_those_that_go_is_no_one_elses)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "b"), third = world_process(w, 600, 0, "c");
	struct tare_ledger l;

	start(w, 0, 1, 200, 1000, 1503);
	start(w, second, 3, 4, 1000, 1003);
	context(w, second, 6, 7, 1003, 1503);
	context(w, 0, 201, 202, 1503, 2003);
	context(w, third, 203, 204, 2003, 2503);
	l = world_ledger(w, "205ms");
	CHECK(world_row(&l, 0, "process:431/driver")->bytes + world_row(&l, 0, "process:500/driver")->bytes > 3 * MIB);
	tare_ledger_free(&l);
	world_end(w, second, 209 * MS);
	world_end(w, 0, 210 * MS);
	CALL(w, .process = third, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 220 * MS, .end = 221 * MS,
	     .handle = BASE, .context = 0xc0, .asked = 2 * MIB, .weigh = true, .before = 1503 * MIB, .after = 1505 * MIB);
	check_row(w, "process:600/driver", 3);
	check_at(w, "end", 1505);
	world_free(w);
}

/* The counter falls by less than a small share of the start: that stays, to the byte. */
TEST(a_share_of_a_start_that_is_smaller_than_the_counters_step)
{
	int p[1];
	struct world *w = world_new();

	p[0] = world_process(w, 500, 0, "b");
	CALL(w, .process = 0, .class = TARE_CLASS_DRIVER, .effect = TARE_EFFECT_CHANGE, .begin = 1 * MS, .end = 4 * MS,
	     .weigh = true, .before = 1000 * MIB, .after = 1003 * MIB);
	CALL(w, .process = p[0], .class = TARE_CLASS_DRIVER, .effect = TARE_EFFECT_CHANGE, .begin = 3 * MS + MS / 2,
	     .end = 200 * MS, .weigh = true, .before = 1000 * MIB, .after = 1003 * MIB);
	context(w, p[0], 201, 202, 1003, 1503);
	context(w, 0, 203, 204, 1503, 2003);
	world_end(w, p[0], 209 * MS);
	alloc_of_thread(w, 1, 208, 220, 0, 2003, 1507);
	alloc_of_thread(w, 2, 215, 216, 8, 1503, 1505);
	check_row(w, "process:431/driver", 3);
	check_at(w, "end", 1507);
	world_free(w);
}

static void touch_page(struct world *w, uint32_t tid, enum tare_effect effect, int64_t begin, int64_t end, int64_t kib,
                       int64_t before, int64_t after)
{
	CALL(w, .process = 0, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = effect, .begin = begin * MS,
	     .end = end * MS, .handle = BASE + (uint64_t)kib * 1024, .context = 0xc0,
	     .asked = effect == TARE_EFFECT_NEW ? 64 << 10 : 0, .weigh = true, .before = before * MIB,
	     .after = after * MIB);
}

/* It took the page at once, and lost the CPU before it was back. */
TEST(the_first_to_take_a_page_ends_last)
{
	struct world *w = one_process(0, NULL);

	touch_page(w, 1, TARE_EFFECT_NEW, 10, 40, 0, 1503, 1507);
	alloc_of_thread(w, 3, 20, 21, 8, 1505, 1507);
	touch_page(w, 2, TARE_EFFECT_NEW, 24, 25, 64, 1507, 1507);
	touch_page(w, 2, TARE_EFFECT_DEL, 26, 27, 64, 1507, 1507);
	touch_page(w, 2, TARE_EFFECT_NEW, 28, 29, 64, 1507, 1507);
	check_at(w, "20500us", 1505);
	check_at(w, "22ms", 1507);
	check_at(w, "30ms", 1507);
	check_at(w, "end", 1507);
	world_free(w);
}

/* It gave its part of the page back late: that of the other was not the last. */
TEST(the_last_to_give_a_page_back_began_first)
{
	struct world *w = one_process(0, NULL);

	touch_page(w, 1, TARE_EFFECT_NEW, 6, 7, 0, 1503, 1505);
	touch_page(w, 2, TARE_EFFECT_NEW, 8, 9, 64, 1505, 1505);
	touch_page(w, 1, TARE_EFFECT_DEL, 10, 40, 0, 1505, 1505);
	touch_page(w, 2, TARE_EFFECT_DEL, 20, 21, 64, 1505, 1505);
	alloc_of_thread(w, 3, 30, 31, 8, 1505, 1507);
	check_at(w, "25ms", 1505);
	check_at(w, "30500us", 1505);
	check_at(w, "end", 1505);
	world_free(w);
}
