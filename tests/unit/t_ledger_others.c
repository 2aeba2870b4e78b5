/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes: recorded ones that come and go, and others that are only seen by NVML. */
#include "ledger_world.h"
#include "test.h"

#define BASE UINT64_C(0x7f0000000000)

static void context(struct world *w, int process, int64_t t, int64_t before, int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = t * MS,
	     .end = t * MS + 10, .handle = 0xc0, .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true,
	     .before = before * MIB, .after = after * MIB);
}

static void code(struct world *w, int process, int64_t t, int64_t before, int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_CODE, .effect = TARE_EFFECT_CHANGE, .begin = t * MS,
	     .end = t * MS + 10, .handle = 1, .context = 0xc0, .weigh = true, .before = before * MIB, .after = after * MIB);
}

TEST(the_first_list_splits_what_was_there_before)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "jupyter/kernel");
	world_peer(w, 0, 0, 1, 88, 300 * MIB, NULL);
	context(w, 0, 1, 1000, 1500);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 1000 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 600 * MIB);
	CHECK_STR(world_row(&l, 0, "other/pid:77")->label, "jupyter/kernel (pid 77)");
	CHECK_INT(world_row(&l, 0, "other/pid:77")->pid, 77);
	CHECK_INT(world_row(&l, 0, "other/pid:77")->evidence, TARE_EVIDENCE_WITNESS);
	CHECK_INT(world_bytes(&l, 0, "other/pid:88"), 300 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other/before"), 100 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_noisy_neighbour_with_lists_is_in_others_row)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "noise");
	context(w, 0, 1, 1000, 1500);
	world_reading(w, 0, 5 * MS, 1600 * MIB);
	world_peer(w, 0, 5 * MS, 2, 431, 490 * MIB, NULL);
	world_peer(w, 0, 5 * MS, 2, 77, 700 * MIB, "noise");
	code(w, 0, 6, 1600, 1610);
	code(w, 0, 7, 1660, 1660); /* it grew meanwhile, and nobody knows yet why */
	world_peer(w, 0, 8 * MS, 3, 431, 500 * MIB, NULL);
	world_peer(w, 0, 8 * MS, 3, 77, 750 * MIB, "noise");
	world_reading(w, 0, 8 * MS, 1660 * MIB);
	l = world_ledger(w, "6500us");
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 700 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 750 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other/before"), 400 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431"), 510 * MIB);
	CHECK(!world_row(&l, 0, "other/pid:431"));
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* A reading that took long is of no use beside what is known since. Its list is not that of the next reading, which has its own. */
TEST(each_reading_goes_with_its_own_list)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 100 * MIB, "noise");
	context(w, 0, 1, 1000, 1500);
	world_reading_since(w, 0, MS / 2, 3 * MS, 1600 * MIB);
	world_peer(w, 0, 3 * MS, 2, 77, 200 * MIB, "noise");
	world_reading(w, 0, 10 * MS, 1800 * MIB);
	world_peer(w, 0, 10 * MS, 3, 77, 400 * MIB, "noise");
	code(w, 0, 20, 1800, 1790);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 1800 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 400 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_noisy_neighbour_without_lists_is_unexplained)
{
	struct world *w = world_new();
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	world_reading(w, 0, 5 * MS, 1600 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other"), 1000 * MIB);
	CHECK_INT(l.devices[0].unexplained, 100 * MIB);
	CHECK(world_has_note(&l, "or another process changed"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_neighbour_inside_our_call_is_told_by_the_calls_own_readings)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "noise");
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0,
	     .context = 0xc0, .weigh = true, .before = 1010 * MIB, .after = 1610 * MIB, .peers = true,
	     .peers_before = 610 * MIB, .peers_after = 710 * MIB);
	l = world_ledger(w, "1500us");
	CHECK_INT(world_bytes(&l, 0, "other"), 1010 * MIB);
	tare_ledger_free(&l);
	world_peer(w, 0, 3 * MS, 2, 77, 710 * MIB, "noise");
	world_peer(w, 0, 3 * MS, 2, 431, 490 * MIB, NULL);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:431/context"), 500 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other"), 1110 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 710 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* NVML said 518 MiB for a process that made the device grow by 526.8. */
TEST(a_neighbour_that_comes_brings_what_nvml_does_not_list)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "noise");
	world_reading(w, 0, 1 * MS, 1526 * MIB);
	world_peer(w, 0, 1 * MS, 2, 77, 600 * MIB, "noise");
	world_peer(w, 0, 1 * MS, 2, 99, 518 * MIB, "more");
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other/pid:99"), 526 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other/before"), 400 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);

	world_reading(w, 0, 2 * MS, 1000 * MIB);
	world_peer(w, 0, 2 * MS, 3, 77, 600 * MIB, "noise");
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 1000 * MIB);
	CHECK(!world_row(&l, 0, "other/pid:99"));
	CHECK_INT(world_bytes(&l, 0, "other/before"), 400 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);

	world_reading(w, 0, 3 * MS, 400 * MIB);
	world_peer(w, 0, 3 * MS, 4, 0, 0, NULL); /* the list was read and is empty */
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 400 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The same, but our next call saw it before the list did. */
TEST(a_neighbour_that_a_call_met_first)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 0, 0, NULL);
	CALL(w, .class = TARE_CLASS_CODE, .effect = TARE_EFFECT_CHANGE, .begin = 1 * MS, .end = 2 * MS, .handle = 1,
	     .context = 0xc0, .weigh = true, .before = 1526 * MIB, .after = 1528 * MIB, .peers = true,
	     .peers_before = 518 * MIB, .peers_after = 518 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 1526 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_peer(w, 0, 3 * MS, 2, 99, 518 * MIB, "more");
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other/pid:99"), 518 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other/before"), 1008 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431/code"), 2 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_drift_is_not_hidden_behind_a_neighbour)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "noise");
	world_reading(w, 0, 1 * MS, 1107 * MIB);
	world_peer(w, 0, 1 * MS, 2, 77, 700 * MIB, "noise");
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 700 * MIB);
	CHECK_INT(l.devices[0].unexplained, 7 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* tare was put aside between the stamp and the reading, and a context was made meanwhile. */
TEST(a_witness_out_of_time_is_no_peak)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "noise");
	world_reading(w, 0, 990000, 1500 * MIB);
	world_peer(w, 0, 991000, 2, 77, 600 * MIB, "noise");
	world_peer(w, 0, 991000, 2, 431, 490 * MIB, NULL);
	context(w, 0, 1, 1000, 1500);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 1500 * MIB);
	CHECK_INT(l.devices[0].t_ns, 1 * MS + 10);
	CHECK_INT(world_bytes(&l, 0, "process:431/context"), 500 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_fall_inside_a_call_that_only_takes_is_not_its_own)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "noise");
	context(w, 0, 1, 1000, 900);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:431/context"), 0);
	CHECK_INT(l.devices[0].unexplained, -100 * MIB);
	tare_ledger_free(&l);
	world_peer(w, 0, 2 * MS, 2, 431, 490 * MIB, NULL);
	world_reading(w, 0, 2 * MS, 900 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 400 * MIB);
	CHECK_INT(l.devices[0].unexplained, 500 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(figures_nvml_does_not_give_change_nothing)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, -1, "noise");
	context(w, 0, 1, 1000, 1500);
	world_reading(w, 0, 2 * MS, 1510 * MIB);
	world_peer(w, 0, 2 * MS, 2, 77, -1, "noise");
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 1000 * MIB);
	CHECK_INT(l.devices[0].unexplained, 10 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* In a container NVML lists us under a pid that is not ours. */
TEST(a_pid_of_another_namespace_is_not_taken_for_a_neighbour)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, NULL);
	context(w, 0, 1, 1000, 1500);
	world_reading(w, 0, 2 * MS, 1500 * MIB);
	world_peer(w, 0, 2 * MS, 2, 77, 600 * MIB, NULL);
	world_peer(w, 0, 2 * MS, 2, 98431, 490 * MIB, NULL);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 1000 * MIB);
	CHECK(!world_row(&l, 0, "other/pid:98431"));
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK(world_has_note(&l, "pids of another namespace"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_process_that_nvml_lists_and_that_made_no_context_came_by_another_way)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	CALL(w, .class = TARE_CLASS_DRIVER, .effect = TARE_EFFECT_CHANGE, .begin = 1 * MS, .end = 2 * MS, .weigh = true,
	     .before = 1000 * MIB, .after = 1003 * MIB);
	world_reading(w, 0, 3 * MS, 1500 * MIB);
	world_peer(w, 0, 3 * MS, 2, 431, 490 * MIB, NULL);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 497 * MIB);
	CHECK(world_has_note(&l, "process 431 reached the driver by an unknown route: NVML lists "
	                         "it with 490.0 MiB on GPU 0"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(the_end_is_the_last_moment_the_program_lived)
{
	struct world *w = world_new();
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	world_end(w, 0, 5 * MS);
	world_reading(w, 0, 6 * MS, 1500 * MIB); /* the driver has not freed it yet */
	world_reading(w, 0, 7 * MS, 1002 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.t_ns, 5 * MS);
	CHECK_INT(l.devices[0].t_ns, 5 * MS);
	CHECK_INT(l.devices[0].used, 1500 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431/context"), 500 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "6500us");
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "8ms");
	CHECK(!world_row(&l, 0, "process:431"));
	CHECK_INT(l.devices[0].used, 1002 * MIB);
	CHECK_INT(l.devices[0].unexplained, 2 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(one_process_ends_and_another_works_on)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "eval");
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	context(w, second, 2, 1500, 1900);
	world_end(w, 0, 5 * MS);
	code(w, second, 10, 1400, 1410); /* the fall shows at the next call */
	world_end(w, second, 20 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 1410 * MIB);
	CHECK_INT(l.devices[0].t_ns, 20 * MS);
	CHECK(!world_row(&l, 0, "process:431"));
	CHECK_INT(world_bytes(&l, 0, "process:500"), 410 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 1900 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

static void start(struct world *w, int process, int64_t t, int64_t before, int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_DRIVER, .effect = TARE_EFFECT_CHANGE, .begin = t * MS,
	     .end = t * MS + 10, .weigh = true, .before = before * MIB, .after = after * MIB);
}

/* The first to open the driver pays for all; that stays when it goes and others are there. */
TEST(what_the_driver_keeps_is_handed_over)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "eval");
	struct tare_ledger l;

	start(w, 0, 1, 1000, 1003);
	context(w, 0, 2, 1003, 1503);
	start(w, second, 3, 1503, 1504);
	context(w, second, 4, 1504, 1904);
	world_end(w, 0, 5 * MS);
	code(w, second, 10, 1401, 1411);
	l = world_ledger(w, "20ms");
	CHECK_INT(world_bytes(&l, 0, "process:500/driver"), 1 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);

	w = world_new();
	second = world_process(w, 500, 0, "eval");
	start(w, 0, 1, 1000, 1003);
	context(w, 0, 2, 1003, 1503);
	start(w, second, 3, 1503, 1504);
	context(w, second, 4, 1504, 1904);
	world_end(w, 0, 5 * MS);
	code(w, second, 10, 1403, 1413); /* two of the three stayed */
	l = world_ledger(w, "20ms");
	CHECK_INT(world_bytes(&l, 0, "process:500/driver"), 3 * MIB);
	CHECK_INT(world_row(&l, 0, "process:500/driver")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Each rank of a job has its own `tare`, and they see the same processes at nearly the same time. */
TEST(lists_of_two_witnesses_are_not_added_up)
{
	struct world *w = world_new();
	int second = world_process(w, 0, 0, "tare");
	struct tare_ledger l;

	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 7, 77, 600 * MIB, "noise");
	world_peer_of(w, second, 0, 1, 7, 77, 600 * MIB);
	context(w, 0, 1, 1000, 1500);
	world_reading(w, 0, 5 * MS, 1600 * MIB);
	world_peer(w, 0, 5 * MS, 8, 431, 490 * MIB, NULL);
	world_peer(w, 0, 5 * MS, 8, 77, 700 * MIB, "noise");
	world_peer_of(w, second, 0, 5 * MS + 1, 8, 431, 490 * MIB);
	world_peer_of(w, second, 0, 5 * MS + 1, 8, 77, 700 * MIB);
	code(w, 0, 6, 1600, 1610);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 700 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other"), 1100 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The pids of one machine say nothing about those of another. */
TEST(a_pid_of_another_machine_is_somebody_else)
{
	struct world *w = world_new();
	int there = world_process(w, 77, 0, "rank 1"), next = world_process(w, 431, 1, "rank 2");
	struct tare_ledger l;

	world_process_at(w, there)->machine = 1;
	world_process_at(w, next)->machine = 1;
	world_device_at(w, world_device(w))->machine = 1;
	world_reading(w, 0, 0, 1000 * MIB);
	world_peer(w, 0, 0, 1, 77, 600 * MIB, "noise");
	context(w, 0, 1, 1000, 1500);
	CALL(w, .process = next, .device = 1, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 2 * MS,
	     .end = 2 * MS + 10, .handle = 0xc0, .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true,
	     .after = 500 * MIB);
	code(w, 0, 6, 1500, 1510);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other/pid:77"), 600 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431/context"), 500 * MIB);
	CHECK_INT(world_bytes(&l, 1, "process:431.1/context"), 500 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(processes_that_end_together_are_shown_together)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "eval");
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	context(w, second, 2, 1500, 1900);
	world_end(w, 0, 5 * MS);
	CALL(w, .process = second, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 6 * MS, .end = 7 * MS,
	     .handle = 0xc0, .context = 0xc0, .weigh = true, .before = 1400 * MIB, .after = 1000 * MIB);
	world_end(w, second, 8 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].t_ns, 5 * MS);
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:500"), 400 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "9ms");
	CHECK_INT(l.devices[0].used, 1000 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_fall_inside_a_call_of_another_process_is_the_ended_ones)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "eval");
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	world_end(w, 0, 5 * MS);
	context(w, second, 6, 1500, 1400);
	l = world_ledger(w, "end");
	CHECK(!world_row(&l, 0, "process:431"));
	CHECK_INT(world_bytes(&l, 0, "process:500/context"), 400 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(of_two_that_ended_the_fall_tells_which)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "eval");
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	context(w, second, 2, 1500, 1700);
	world_end(w, 0, 5 * MS);
	world_end(w, second, 5 * MS);
	world_reading(w, 0, 6 * MS, 1500 * MIB);
	world_reading(w, 0, 8 * MS, 1000 * MIB);
	l = world_ledger(w, "7ms");
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	CHECK(!world_row(&l, 0, "process:500"));
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "9ms");
	CHECK_INT(l.devices[0].row_nr, 1);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);

	w = world_new();
	second = world_process(w, 500, 0, "eval");
	context(w, 0, 1, 1000, 1500);
	context(w, second, 2, 1500, 1700);
	world_end(w, 0, 5 * MS);
	world_end(w, second, 5 * MS);
	world_reading(w, 0, 6 * MS, 1000 * MIB);
	l = world_ledger(w, "7ms");
	CHECK_INT(l.devices[0].row_nr, 1);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_killed_process_has_no_end_record)
{
	struct world *w = world_new();
	struct tare_ledger l;

	context(w, 0, 1, 1000, 1500);
	world_process_at(w, 0)->last_ns = 1 * MS + 10;
	world_reading(w, 0, 9 * MS, 1000 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	CHECK_INT(l.devices[0].used, 1500 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "10ms");
	CHECK_INT(l.devices[0].used, 1000 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}
