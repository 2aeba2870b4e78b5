/* SPDX-License-Identifier: Apache-2.0 */
/* Processes with the same pid, the same handles, or the same kind of memory. */
#include "ledger_world.h"
#include "test.h"

#define BASE UINT64_C(0x7f0000000000)

static void context(struct world *w, int process, int64_t t, int64_t before, int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = t * MS,
	     .end = t * MS + 10, .handle = 0xc0, .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true,
	     .before = before * MIB, .after = after * MIB);
}

TEST(exec_generations_are_processes_of_their_own)
{
	struct world *w = world_new();
	int next = world_process(w, 431, 1, "child");
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	context(w, next, 5, 1000, 1400);
	l = world_ledger(w, "end");
	CHECK(!world_row(&l, 0, "process:431"));
	CHECK_INT(world_bytes(&l, 0, "process:431.1/context"), 400 * MIB);
	CHECK_INT(world_row(&l, 0, "process:431.1")->generation, 1);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(handles_of_a_forked_child_are_its_own)
{
	struct world *w = world_new();
	int child = world_process(w, 432, 0, "train");
	struct tare_ledger l;

	for (int p = 0; p < 2; p++)
		CALL(w, .process = p ? child : 0, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = (p + 1) * MS,
		     .end = (p + 1) * MS + 10, .handle = BASE, .context = 0xc0, .asked = 2 * MIB, .weigh = true,
		     .before = (100 + 2 * p) * MIB, .after = (102 + 2 * p) * MIB);
	CALL(w, .process = child, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = 5 * MS, .end = 6 * MS,
	     .handle = BASE, .context = 0xc0, .weigh = true, .before = 104 * MIB, .after = 102 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:431/allocations"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:432/allocations"), 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_pid_that_comes_twice_has_two_rows)
{
	struct world *w = world_new();
	int twin = world_process(w, 431, 0, "train");
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	context(w, twin, 2, 1500, 2000);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431~2"), 500 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(two_processes_with_managed_memory_are_not_guessed_between)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "eval");
	struct tare_ledger l;

	for (int p = 0; p < 2; p++)
		CALL(w, .process = p ? second : 0, .class = TARE_CLASS_MANAGED, .effect = TARE_EFFECT_NEW,
		     .begin = (p + 1) * MS, .end = (p + 1) * MS + 10, .handle = BASE, .context = 0xc0, .asked = 64 * MIB,
		     .weigh = true, .before = 100 * MIB, .after = 100 * MIB);
	world_reading(w, 0, 5 * MS, 120 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 20 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(what_the_recorder_says_is_degraded_is_said_once)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_degraded(w, 1 * MS, "cuFoo_v9 passed by");
	world_degraded(w, 2 * MS, "cuFoo_v9 passed by");
	l = world_ledger(w, "end");
	CHECK_INT(l.degraded_nr, 1);
	CHECK_STR(l.degraded[0], "cuFoo_v9 passed by");
	tare_ledger_free(&l);
	world_free(w);
}
