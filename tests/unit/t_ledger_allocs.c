/* SPDX-License-Identifier: Apache-2.0 */
/* One process that allocates and frees: pages, sizes, failures, managed memory. */
#include "ledger_world.h"
#include "test.h"

#define PROCESS "process:431"
#define BASE    UINT64_C(0x7f0000000000)

TEST(pages_64_allocations_of_512_KiB_take_32_MiB)
{
	struct world *w = world_started();
	struct tare_ledger l;

	for (int i = 0; i < 64; i++)
		world_alloc(w, 5 * MS + i * 100, BASE + (uint64_t)i * 512 * 1024, 512 * 1024, 626 * MIB + (i + 3) / 4 * 2 * MIB,
		            i % 4 ? 0 : 2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/libcublas"), 32 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/allocations/libcublas")->count, 64);
	CHECK_INT(world_row(&l, 0, PROCESS "/allocations/libcublas")->evidence, TARE_EVIDENCE_EXACT);
	CHECK(!world_row(&l, 0, PROCESS "/granularity"));
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(pages_64_allocations_of_1_5_MiB_take_128_MiB)
{
	struct world *w = world_started();
	struct tare_ledger l;

	for (int i = 0; i < 64; i++)
		world_alloc(w, 5 * MS + i * 100, BASE + (uint64_t)i * 2 * MIB, 3 * MIB / 2, 626 * MIB + i * 2 * MIB, 2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 96 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/granularity"), 32 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/granularity")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The measured sequence: one page holds seven small ones and is given back with the last. */
TEST(pages_are_held_until_nothing_touches_them)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_alloc(w, 5 * MS, BASE, 1, 626 * MIB, 2 * MIB);
	world_alloc(w, 6 * MS, BASE + 512, 256, 628 * MIB, 0);
	world_alloc(w, 7 * MS, BASE + MIB, 5 * MIB, 628 * MIB, 4 * MIB);
	world_release(w, 8 * MS, BASE, 632 * MIB, 0);
	world_release(w, 9 * MS, BASE + 512, 632 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 5 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/granularity"), 1 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);

	world_release(w, 10 * MS, BASE + MIB, 632 * MIB, -6 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 626 * MIB);
	CHECK(!world_row(&l, 0, PROCESS "/granularity"));
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(page_size_is_a_parameter)
{
	struct world *w = world_started();
	struct tare_ledger l;
	const char *at = "end";

	world_alloc(w, 5 * MS, BASE, 100, 626 * MIB, 65536);
	world_build(w, &(struct tare_ledger_opts){ .page_bytes = 65536 }, &at, 1, &l);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/granularity"), 65536 - 100);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(an_address_may_come_again_after_its_free)
{
	struct world *w = world_started();
	struct tare_ledger l;

	for (int i = 0; i < 100; i++) {
		world_alloc(w, 5 * MS + i * 1000, BASE, 2 * MIB, 626 * MIB, 2 * MIB);
		world_release(w, 5 * MS + i * 1000 + 500, BASE, 628 * MIB, -2 * MIB);
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 626 * MIB);
	CHECK_INT(l.devices[0].peak_used, 628 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(an_address_that_comes_again_without_a_free_replaces_the_old_one)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_alloc(w, 5 * MS, BASE, 4 * MIB, 626 * MIB, 4 * MIB);
	world_alloc(w, 6 * MS, BASE, 2 * MIB, 630 * MIB, -2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 2 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK(world_has_note(&l, "1 allocation came back at an address still in use"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(what_an_exact_call_does_beyond_its_size_is_unexplained)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_alloc(w, 5 * MS, BASE, 2 * MIB, 626 * MIB, 12 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 2 * MIB);
	CHECK_INT(l.devices[0].unexplained, 10 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_free_that_the_driver_refused_is_undone)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_alloc(w, 5 * MS, BASE, 3 * MIB, 626 * MIB, 4 * MIB);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = 6 * MS, .end = 6 * MS, .handle = BASE,
	     .context = 0xc0);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_UNDO, .begin = 6 * MS + 10, .end = 6 * MS + 10,
	     .handle = BASE, .context = 0xc0, .flags = TARE_EVENT_FAILED);
	l = world_ledger(w, "6000005ns");
	CHECK_INT(l.devices[0].used, 626 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 630 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 3 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/granularity"), 1 * MIB);
	tare_ledger_free(&l);

	/* It is there again, so it can be freed. */
	world_release(w, 7 * MS, BASE, 630 * MIB, -4 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.devices[0].used, 626 * MIB);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_failed_free_changes_nothing)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_alloc(w, 5 * MS, BASE, 2 * MIB, 626 * MIB, 2 * MIB);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = 6 * MS, .end = 6 * MS + 10, .handle = BASE,
	     .context = 0xc0, .flags = TARE_EVENT_FAILED, .weigh = true, .before = 628 * MIB, .after = 628 * MIB);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_UNDO, .begin = 7 * MS, .end = 7 * MS, .handle = BASE,
	     .context = 0xc0);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 2 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_failed_allocation_is_no_object_and_its_change_is_weighed)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS, .context = 0xc0,
	     .asked = 999 * MIB, .flags = TARE_EVENT_FAILED, .weigh = true, .before = 626 * MIB, .after = 628 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 2 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/allocations")->count, 0);
	CHECK_INT(world_row(&l, 0, PROCESS "/allocations")->evidence, TARE_EVIDENCE_WEIGHED);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_free_of_what_was_never_seen_is_weighed_and_said)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_release(w, 5 * MS, BASE, 626 * MIB, -2 * MIB);
	world_release(w, 6 * MS, BASE + MIB, 624 * MIB, -2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), -4 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK(world_has_note(&l, "2 frees of memory allocated before recording began"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(mem_free_finds_managed_and_pitched_memory)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_MANAGED, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS, .handle = BASE,
	     .context = 0xc0, .asked = 64 * MIB, .granted = 64 * MIB, .weigh = true, .before = 626 * MIB,
	     .after = 626 * MIB);
	CALL(w, .class = TARE_CLASS_PITCH, .effect = TARE_EFFECT_NEW, .begin = 7 * MS, .end = 8 * MS,
	     .handle = BASE + 64 * MIB, .context = 0xc0, .asked = 100, .granted = 512, .weigh = true, .before = 626 * MIB,
	     .after = 628 * MIB);
	/* The kernel touched 32 MiB meanwhile. */
	world_release(w, 9 * MS, BASE, 660 * MIB, -32 * MIB);
	l = world_ledger(w, "8500us");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 512);
	tare_ledger_free(&l);
	world_release(w, 10 * MS, BASE + 64 * MIB, 628 * MIB, -2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/managed"), 0);
	CHECK_INT(world_row(&l, 0, PROCESS "/managed")->count, 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.devices[0].used, 626 * MIB);
	CHECK_INT(l.devices[0].peak_used, 660 * MIB);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(managed_touch_explains_no_more_than_what_is_not_there_yet)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_MANAGED, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS, .handle = BASE,
	     .context = 0xc0, .asked = 63 * MIB, .granted = 63 * MIB, .weigh = true, .before = 626 * MIB,
	     .after = 626 * MIB);
	world_reading(w, 0, 7 * MS, 656 * MIB);
	world_reading(w, 0, 8 * MS, 696 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/managed"), 64 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/managed")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(l.devices[0].unexplained, 6 * MIB);
	tare_ledger_free(&l);

	world_reading(w, 0, 9 * MS, 600 * MIB); /* the host took it all back, and more went */
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/managed"), 0);
	CHECK_INT(l.devices[0].unexplained, -26 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Measured: 300 MiB, then freed, then 300 MiB again. The driver takes 128 MiB at a time. */
TEST(managed_memory_is_taken_in_steps)
{
	struct world *w = world_started();
	struct tare_ledger l;

	for (int round = 0; round < 2; round++) {
		int64_t t = (10 + 10 * round) * MS, base = (626 + 84 * round) * MIB;
		int64_t taken = (384 - 128 * round) * MIB;

		CALL(w, .class = TARE_CLASS_MANAGED, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .handle = BASE,
		     .context = 0xc0, .asked = 300 * MIB, .weigh = true, .before = base, .after = base);
		world_reading(w, 0, t + 2 * MS, base + 128 * MIB);
		world_reading(w, 0, t + 3 * MS, base + taken);
		world_reading(w, 0, t + 4 * MS, base + taken + MIB); /* this is somebody else's */
		world_release(w, t + 5 * MS, BASE, base + taken, -300 * MIB);
	}
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/managed"), 40 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}
