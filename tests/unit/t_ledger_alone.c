/* SPDX-License-Identifier: Apache-2.0 */
/* One log alone: what other processes have is told by the recorder's own readings. */
#include "ledger_world.h"
#include "test.h"

#define BASE UINT64_C(0x7f0000000000)

/* A log alone, without lists: calls say what others have where the device changed since the last one. */
TEST(a_neighbour_is_told_by_the_readings_of_a_log_that_is_alone)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 3 * MIB);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 529 * MIB, .after = 1052 * MIB,
	     .peers = true, .peers_before = 518 * MIB, .peers_after = 518 * MIB);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 3 * MS, .end = 4 * MS, .handle = BASE,
	     .context = 0xc0, .asked = 2 * MIB, .granted = 2 * MIB, .weigh = true, .before = 1252 * MIB,
	     .after = 1254 * MIB, .peers = true, .peers_before = 718 * MIB, .peers_after = 718 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(world_bytes(&l, 0, "other"), 729 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_reading_peers(w, 5 * MS, 1354 * MIB, 818 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(world_bytes(&l, 0, "other"), 829 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_reading_peers(w, 6 * MS, 532 * MIB, 0); /* it went, with what NVML leaves out */
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 7 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431"), 525 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* What others did not take or give back is no more theirs than with a list. */
TEST(a_drift_is_not_hidden_behind_readings_of_a_log_that_is_alone)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 1 * MS + 10, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 1000 * MIB, .after = 1500 * MIB);
	world_reading_peers(w, 2 * MS, 1500 * MIB, 600 * MIB);
	world_reading_peers(w, 3 * MS, 1607 * MIB, 700 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 7 * MIB);
	tare_ledger_free(&l);
	world_reading_peers(w, 4 * MS, 1557 * MIB, 700 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 1100 * MIB);
	CHECK_INT(l.devices[0].unexplained, -43 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Two processes are recorded: each is among what the other's readings call others, so nobody is told by them. */
TEST(the_readings_of_two_recorded_processes_tell_nothing_of_others)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_process(w, 432, 0, "second");
	world_reading(w, 0, 0, 1000 * MIB);
	world_reading_peers(w, 1 * MS, 1000 * MIB, 0);
	world_reading_peers(w, 2 * MS, 1518 * MIB, 518 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 1000 * MIB);
	CHECK_INT(l.devices[0].unexplained, 518 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Others that a call told of stand in a list for the first time when one of them has gone. */
TEST(a_list_that_comes_after_a_call_told_of_others)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 3 * MIB);
	world_peer(w, 0, 0, 1, 0, 0, NULL);
	world_reading_peers(w, 1 * MS, 1051 * MIB, 1036 * MIB); /* two, and what NVML leaves out */
	world_reading(w, 0, 2 * MS, 527 * MIB);
	world_peer(w, 0, 2 * MS, 2, 99, 518 * MIB, "stays");
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(world_bytes(&l, 0, "other"), 527 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* The list still has one that the counter has not: the next call tells that it has gone. */
TEST(a_list_and_a_counter_of_two_moments)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_reading(w, 0, 0, 3 * MIB);
	world_peer(w, 0, 0, 1, 0, 0, NULL);
	world_reading_peers(w, 1 * MS, 1051 * MIB, 1036 * MIB);
	world_reading(w, 0, 2 * MS, 627 * MIB); /* one went, the other took 100 more */
	world_peer(w, 0, 2 * MS, 2, 98, 518 * MIB, "goes");
	world_peer(w, 0, 2 * MS, 2, 99, 618 * MIB, "stays");
	world_reading_peers(w, 3 * MS, 627 * MIB, 618 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(world_bytes(&l, 0, "other"), 627 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}
