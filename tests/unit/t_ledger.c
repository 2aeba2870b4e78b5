/* SPDX-License-Identifier: Apache-2.0 */
/* One process, one thread: the rules of docs/LEDGER.md, each by name. */
#include "ledger_world.h"
#include "test.h"

#define PROCESS "process:431"
#define BASE    UINT64_C(0x7f0000000000)

TEST(weighed_calls_go_to_the_account_of_their_class)
{
	struct world *w = world_started();
	struct tare_ledger l = world_ledger(w, "end");
	const struct tare_row *context = world_row(&l, 0, PROCESS "/context");

	CHECK_INT(l.devices[0].used, 626 * MIB);
	CHECK_INT(l.devices[0].used_start, 100 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(world_bytes(&l, 0, "other"), 100 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/driver"), 3 * MIB);
	CHECK(context && context->leaf);
	CHECK_INT(context->bytes, 523 * MIB);
	CHECK_INT(context->evidence, TARE_EVIDENCE_WEIGHED);
	CHECK_INT(context->count, 1);
	CHECK_INT(context->driver_ns, 1 * MS);
	CHECK(l.opened_gpu);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Traps, "Books": the driver takes nothing and the counter drifts. No row may have it. */
TEST(a_drifting_counter_is_unexplained_and_not_a_row)
{
	struct world *w = world_started();
	struct tare_ledger l;
	int64_t used = 626 * MIB;

	for (int i = 0; i < 100; i++) {
		used += 69 * MIB;
		CALL(w, .class = TARE_CLASS_MODULE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS + i * 1000,
		     .end = 5 * MS + i * 1000 + 10, .handle = 0x100 + (uint64_t)i, .context = 0xc0, .weigh = true,
		     .before = used, .after = used);
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 6900 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/code"), 0);
	CHECK_INT(world_row(&l, 0, PROCESS "/code")->count, 100);
	CHECK_INT(world_bytes(&l, 0, "other"), 100 * MIB);
	CHECK(world_has_note(&l, "6.7 GiB changed between recorded calls"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(what_changes_inside_a_call_without_effect_is_unexplained)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_NONE, .effect = TARE_EFFECT_CHANGE, .begin = 5 * MS, .end = 6 * MS, .context = 0xc0,
	     .weigh = true, .before = 626 * MIB, .after = 636 * MIB);
	CALL(w, .class = TARE_CLASS_CODE, .begin = 7 * MS, .end = 8 * MS, .context = 0xc0, .weigh = true,
	     .before = 636 * MIB, .after = 640 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 14 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_sync_gives_back_pool_memory_and_takes_nothing)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_POOL, .effect = TARE_EFFECT_CHANGE, .begin = 5 * MS, .end = 6 * MS, .context = 0xc0,
	     .asked = 100 * MIB, .parent = 1, .weigh = true, .before = 626 * MIB, .after = 754 * MIB);
	CALL(w, .class = TARE_CLASS_POOL, .effect = TARE_EFFECT_CHANGE, .begin = 7 * MS, .end = 800 * MS, .context = 0xc0,
	     .weigh = true, .before = 754 * MIB, .after = 658 * MIB);
	CALL(w, .class = TARE_CLASS_POOL, .effect = TARE_EFFECT_CHANGE, .begin = 900 * MS, .end = 901 * MS, .context = 0xc0,
	     .weigh = true, .before = 658 * MIB, .after = 660 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/pools"), 32 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/pools")->driver_ns, 1 * MS);
	CHECK_INT(l.devices[0].unexplained, 2 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Released first, unmapped later: the fall shows at the second call, and may be of several handles. */
TEST(virtual_memory_comes_at_once_and_goes_when_it_is_weighed)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS, .handle = 7,
	     .context = 0xc0, .asked = 64 * MIB, .granted = 64 * MIB, .weigh = true, .before = 626 * MIB,
	     .after = 690 * MIB);
	CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_NEW, .device = -1, .begin = 6 * MS, .end = 7 * MS,
	     .handle = 8, .asked = 64 * MIB, .granted = 64 * MIB);
	l = world_ledger(w, "6ms");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/vmm"), 64 * MIB);
	tare_ledger_free(&l);
	CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_CHANGE, .begin = 8 * MS, .end = 9 * MS, .parent = 7,
	     .context = 0xc0, .weigh = true, .before = 690 * MIB, .after = 690 * MIB);
	CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_CHANGE, .begin = 10 * MS, .end = 11 * MS, .parent = 0x1000,
	     .context = 0xc0, .weigh = true, .before = 690 * MIB, .after = 626 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/vmm"), 64 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

static void launch(struct world *w, int64_t t, uint64_t local, int64_t before, int64_t change)
{
	CALL(w, .class = TARE_CLASS_LAUNCH, .effect = TARE_EFFECT_CHANGE, .begin = t, .end = t + 1000, .handle = 0xf,
	     .context = 0xc0, .local = local, .weigh = true, .before = before, .after = before + change);
}

/* Measured: a kernel with a 32 KiB stack, +8184 MiB; then the limit at 64 KiB, +8448 MiB. */
TEST(local_memory_is_a_high_water_mark_above_the_default_stack)
{
	struct world *w = world_started();
	struct tare_ledger l;

	launch(w, 5 * MS, 0, 626 * MIB, 64 * MIB);
	launch(w, 6 * MS, 32768, 690 * MIB, 8184 * MIB);
	launch(w, 7 * MS, 32768, 8874 * MIB, 2 * MIB);
	launch(w, 8 * MS, 16384, 8876 * MIB, 0);
	CALL(w, .class = TARE_CLASS_LIMIT, .effect = TARE_EFFECT_CHANGE, .begin = 9 * MS, .end = 10 * MS, .context = 0xc0,
	     .limit = 0, .asked = 65536, .weigh = true, .before = 8876 * MIB, .after = 17324 * MIB);
	launch(w, 11 * MS, 65536, 17324 * MIB, 2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/code"), 68 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/code")->evidence, TARE_EVIDENCE_WEIGHED);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/local"), 16632 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/local")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Measured one after the other: what each kernel's local memory adds (tests/gpu/facts/h200.facts). */
TEST(local_memory_is_rounded_as_the_driver_does)
{
	static const struct {
		uint64_t local;
		int64_t kib;
	} launches[] = { { 2048, 270336 }, { 3000, 253952 }, { 32768, 7856128 }, { 2048, 0 } };
	struct world *w = world_started();
	int64_t used = 626 * MIB;
	struct tare_ledger l;

	for (int i = 0; i < 4; i++) {
		launch(w, (5 + i) * MS, launches[i].local, used, launches[i].kib * 1024 + 65536);
		used += launches[i].kib * 1024 + 65536;
	}
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/local"), 8184 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/code"), 4 * 65536);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_larger_device_heap_is_taken_by_the_launch_that_uses_it)
{
	struct world *w = world_started();
	struct tare_ledger l;

	launch(w, 5 * MS, 0, 626 * MIB, 10 * MIB);
	CALL(w, .class = TARE_CLASS_LIMIT, .effect = TARE_EFFECT_CHANGE, .begin = 6 * MS, .end = 7 * MS, .context = 0xc0,
	     .limit = 2, .asked = 256 * MIB, .weigh = true, .before = 636 * MIB, .after = 636 * MIB);
	launch(w, 8 * MS, 0, 636 * MIB, 2 * MIB);
	launch(w, 9 * MS, 0, 638 * MIB, 258 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/kernel_heap"), 256 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/local"), 0);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/code"), 14 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(local_memory_is_never_more_than_what_was_measured)
{
	struct world *w = world_started();
	struct tare_ledger l;

	launch(w, 5 * MS, 32768, 626 * MIB, 94 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/local"), 94 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/code"), 0);
	tare_ledger_free(&l);
	world_free(w);
}

static void stream(struct world *w, int64_t t, uint64_t handle, int64_t before, int64_t change)
{
	CALL(w, .class = TARE_CLASS_STREAM, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .handle = handle,
	     .context = 0xc0, .weigh = true, .before = before, .after = before + change);
}

TEST(the_end_of_a_context_takes_everything_in_it_along)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_alloc(w, 5 * MS, BASE, 3 * MIB, 626 * MIB, 4 * MIB);
	stream(w, 6 * MS, 0x51, 630 * MIB, 2 * MIB);
	launch(w, 7 * MS, 0, 632 * MIB, 64 * MIB);
	CALL(w, .class = TARE_CLASS_HOST, .effect = TARE_EFFECT_NEW, .begin = 8 * MS, .end = 8 * MS + 10, .handle = 0x40,
	     .context = 0xc0, .asked = 5 * MIB, .granted = 5 * MIB, .weigh = true, .before = 696 * MIB, .after = 696 * MIB);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 9 * MS, .end = 10 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 696 * MIB, .after = 106 * MIB);
	l = world_ledger(w, "8500us");
	CHECK_INT(world_bytes(&l, 0, PROCESS), 596 * MIB);
	CHECK_INT(l.hosts[0].pinned, 5 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	/* 593 MiB were booked in the context, 590 came back. */
	CHECK_INT(world_bytes(&l, 0, PROCESS "/context"), 3 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/context")->count, 0);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/driver"), 3 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/streams"), 0);
	CHECK_INT(world_bytes(&l, 0, PROCESS), 6 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.hosts[0].pinned, 0);
	tare_ledger_free(&l);

	/* A new context gets the old handle and the old address: nothing is left over. */
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 11 * MS, .end = 12 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 106 * MIB, .after = 626 * MIB);
	world_alloc(w, 13 * MS, BASE, 3 * MIB, 626 * MIB, 4 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/context"), 523 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/context")->count, 1);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/granularity"), 1 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(the_end_of_a_context_can_be_undone)
{
	struct world *w = world_started();
	struct tare_ledger l;

	world_alloc(w, 5 * MS, BASE, 3 * MIB, 626 * MIB, 4 * MIB);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 9 * MS, .end = 9 * MS, .handle = 0xc0,
	     .context = 0xc0);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_UNDO, .begin = 10 * MS, .end = 10 * MS, .handle = 0xc0,
	     .context = 0xc0);
	world_release(w, 11 * MS, BASE, 630 * MIB, -4 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/context"), 523 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_release_that_frees_nothing_ends_no_primary_context)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 9 * MS, .end = 10 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 626 * MIB, .after = 626 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/context"), 523 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/context")->count, 1);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(several_contexts_are_children_of_one_row)
{
	struct world *w = world_started();
	struct tare_ledger l;

	for (uint64_t i = 1; i <= 2; i++)
		CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = (5 + (int64_t)i) * MS,
		     .end = (5 + (int64_t)i) * MS + 10, .handle = 0xc0 + i, .context = 0xc0, .weigh = true,
		     .before = 626 * MIB + (int64_t)(i - 1) * 300 * MIB, .after = 626 * MIB + (int64_t)i * 300 * MIB);
	l = world_ledger(w, "end");
	CHECK(!world_row(&l, 0, PROCESS "/context")->leaf);
	CHECK_INT(world_row(&l, 0, PROCESS "/context")->count, 3);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/context/primary"), 523 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/context/created 1"), 300 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/context/created 2"), 300 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(the_peak_has_its_own_time_and_rows)
{
	struct world *w = world_started();
	static const char *const at[] = { "peak", "end" };
	struct tare_ledger l[2];

	world_alloc(w, 5 * MS, BASE, 100 * MIB, 626 * MIB, 100 * MIB);
	world_alloc(w, 6 * MS, BASE + 100 * MIB, 4726 * MIB, 726 * MIB, 4726 * MIB);
	world_release(w, 50 * MS, BASE + 100 * MIB, 5452 * MIB, -4726 * MIB);
	stream(w, 51 * MS, 0x51, 726 * MIB, 2 * MIB);
	world_build(w, NULL, at, 2, l);
	CHECK_INT(l[0].t_ns, -1);
	CHECK_INT(l[0].devices[0].used, 5452 * MIB);
	CHECK_INT(l[0].devices[0].t_ns, 6 * MS + 10);
	CHECK_INT(world_bytes(&l[0], 0, PROCESS "/allocations"), 4826 * MIB);
	CHECK(!world_row(&l[0], 0, PROCESS "/streams"));
	CHECK_INT(l[1].devices[0].used, 728 * MIB);
	CHECK_INT(l[1].devices[0].peak_used, 5452 * MIB);
	CHECK_INT(l[1].devices[0].peak_t_ns, 6 * MS + 10);
	CHECK_INT(world_bytes(&l[1], 0, PROCESS "/streams"), 2 * MIB);
	CHECK_STR(l[0].at, "peak");
	tare_ledger_free(&l[0]);
	tare_ledger_free(&l[1]);
	world_free(w);
}

TEST(an_instant_shows_calls_that_had_ended)
{
	struct world *w = world_started();
	static const char *const at[] = { "5000us", "1500us", "0", "6000010ns", "6000011ns" };
	struct tare_ledger l[5];

	world_alloc(w, 6 * MS, BASE, 100 * MIB, 626 * MIB, 100 * MIB);
	world_build(w, NULL, at, 5, l);
	CHECK_INT(l[0].devices[0].used, 626 * MIB);
	CHECK_INT(l[1].devices[0].used, 100 * MIB);
	CHECK_INT(l[1].devices[0].row_nr, 1);
	CHECK_INT(l[2].devices[0].used, 100 * MIB);
	CHECK_INT(l[3].devices[0].used, 726 * MIB);
	CHECK_INT(l[4].devices[0].used, 726 * MIB);
	for (int i = 0; i < 5; i++)
		tare_ledger_free(&l[i]);
	world_free(w);
}

TEST(unweighed_calls_count_what_is_computed_and_say_so)
{
	struct world *w = world_started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 5 * MS + 10, .handle = BASE,
	     .context = 0xc0, .asked = 3 * MIB, .granted = 3 * MIB, .flags = TARE_EVENT_UNWEIGHED);
	CALL(w, .class = TARE_CLASS_STREAM, .effect = TARE_EFFECT_NEW, .begin = 6 * MS, .end = 6 * MS + 10, .handle = 0x51,
	     .context = 0xc0, .flags = TARE_EVENT_UNWEIGHED);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 630 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK(world_has_note(&l, "1 call could not be weighed"));
	tare_ledger_free(&l);
	world_reading(w, 0, 7 * MS, 632 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 2 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/streams")->count, 1);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(without_any_reading_used_is_computed_and_inferred)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_device_at(w, 0)->flags = 0;
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 5 * MS + 10, .handle = BASE,
	     .context = 0xc0, .asked = 3 * MIB, .granted = 3 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 4 * MIB);
	CHECK_INT(l.devices[0].used_by, TARE_EVIDENCE_INFERRED);
	CHECK(l.devices[0].used_start == TARE_NOT_KNOWN);
	CHECK(!world_row(&l, 0, "other"));
	CHECK(world_has_note(&l, "used is computed from the calls"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_second_source_is_shifted_to_the_first)
{
	struct world *w = world_started();
	struct tare_ledger l;

	/* cuMemGetInfo counts 40 MiB more; the stream takes 2. */
	CALL(w, .class = TARE_CLASS_STREAM, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS, .handle = 1,
	     .context = 0xc0, .weigh = true, .flags = TARE_EVENT_BY_CUDA, .before = 666 * MIB, .after = 668 * MIB);
	world_reading(w, 0, 7 * MS, 628 * MIB);
	CALL(w, .class = TARE_CLASS_STREAM, .effect = TARE_EFFECT_NEW, .begin = 8 * MS, .end = 9 * MS, .handle = 2,
	     .context = 0xc0, .weigh = true, .flags = TARE_EVENT_BY_CUDA, .before = 671 * MIB, .after = 673 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 633 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/streams"), 4 * MIB);
	CHECK_INT(l.devices[0].unexplained, 3 * MIB); /* between the reading and the call */
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_better_source_moves_the_books_and_no_row_of_a_process)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_STREAM, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS, .handle = 1,
	     .context = 0xc0, .weigh = true, .flags = TARE_EVENT_BY_CUDA, .before = 666 * MIB, .after = 668 * MIB);
	world_reading(w, 0, 7 * MS, 628 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 628 * MIB);
	CHECK_INT(l.devices[0].used_start, 626 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other"), 626 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/streams"), 2 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(computed_changes_before_the_first_reading_are_not_somebody_elses)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 5 * MS + 10, .handle = BASE,
	     .context = 0xc0, .asked = 4 * MIB);
	world_reading(w, 0, 6 * MS, 104 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "other"), 100 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations"), 4 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(pinned_memory_is_the_hosts_and_its_page_tables_are_weighed)
{
	struct world *w = world_started();
	static const char *const at[] = { "7ms", "end" };
	struct tare_ledger l[2];

	world_host(w, 0, 1 * MS, 100 * MIB);
	CALL(w, .class = TARE_CLASS_HOST, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS, .handle = 0x40,
	     .context = 0xc0, .asked = 256 * MIB, .granted = 256 * MIB, .weigh = true, .before = 626 * MIB,
	     .after = 628 * MIB);
	world_host(w, 0, 8 * MS, 400 * MIB);
	CALL(w, .class = TARE_CLASS_REGISTERED, .effect = TARE_EFFECT_NEW, .device = -1, .begin = 9 * MS,
	     .end = 9 * MS + 10, .handle = 0x50, .asked = 7 * MIB, .granted = 7 * MIB);
	CALL(w, .class = TARE_CLASS_HOST, .effect = TARE_EFFECT_DEL, .begin = 10 * MS, .end = 10 * MS + 10, .handle = 0x40,
	     .context = 0xc0, .weigh = true, .before = 628 * MIB, .after = 626 * MIB);
	world_build(w, NULL, at, 2, l);
	CHECK_INT(l[0].host_nr, 1);
	CHECK_INT(l[0].hosts[0].pinned, 256 * MIB);
	CHECK_INT(l[0].hosts[0].rss, 101 * MIB);
	CHECK(l[0].hosts[0].pss == TARE_NOT_KNOWN);
	CHECK_INT(l[0].hosts[0].tables, 100 * MIB / 512);
	CHECK_INT(world_bytes(&l[0], 0, PROCESS "/hostmap"), 2 * MIB);
	CHECK_INT(l[1].hosts[0].pinned, 0);
	CHECK_INT(l[1].hosts[0].registered, 7 * MIB);
	CHECK_INT(l[1].hosts[0].rss, 401 * MIB);
	CHECK_INT(l[1].hosts[0].tables, 400 * MIB / 512);
	CHECK_INT(l[1].devices[0].unexplained, 0);
	tare_ledger_free(&l[0]);
	tare_ledger_free(&l[1]);
	world_free(w);
}

TEST(owners_are_rows_and_the_runtime_is_looked_through)
{
	struct world *w = world_started();
	struct tare_ledger l;
	static const char *const owners[] = { "/opt/libcublas.so.12", "/opt/libcudnn.so.9",       "/opt/libcublas.so.12",
		                                  "/home/me/a%b train",   "/usr/lib/libcudart.so.12", NULL };

	for (int i = 0; i < 6; i++)
		CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS + i * 100,
		     .end = 5 * MS + i * 100 + 10, .handle = BASE + (uint64_t)i * 2 * MIB, .context = 0xc0, .asked = 2 * MIB,
		     .owner = owners[i]);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/libcublas"), 4 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/libcudnn"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/a%25b train"), 2 * MIB);
	CHECK_STR(world_row(&l, 0, PROCESS "/allocations/a%25b train")->label, "a%b train");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/not known"), 4 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(extension_modules_are_named_after_their_package)
{
	struct world *w = world_started();
	struct tare_ledger l;
	static const char *const owners[] = {
		"/v/site-packages/cupy_backends/cuda/api/runtime.cpython-312-x86_64-linux-gnu.so",
		"/usr/lib/python3/dist-packages/alone.cpython-311-x86_64-linux-gnu.so",
		"/home/me/build/mine.cpython-310-aarch64-linux-gnu.so",
	};

	for (int i = 0; i < 3; i++)
		CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS + i * 100,
		     .end = 5 * MS + i * 100 + 10, .handle = BASE + (uint64_t)i * 2 * MIB, .context = 0xc0, .asked = 2 * MIB,
		     .owner = owners[i]);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/cupy_backends.runtime"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/alone"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/allocations/mine"), 2 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(driver_time_is_summed_per_row)
{
	struct world *w = world_started();
	struct tare_ledger l;

	launch(w, 5 * MS, 0, 626 * MIB, 64 * MIB);
	world_alloc(w, 6 * MS, BASE, 2 * MIB, 690 * MIB, 2 * MIB);
	world_release(w, 7 * MS, BASE, 692 * MIB, -2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_row(&l, 0, PROCESS "/driver")->driver_ns, 1 * MS);
	CHECK_INT(world_row(&l, 0, PROCESS "/code")->driver_ns, 1000);
	CHECK_INT(world_row(&l, 0, PROCESS "/allocations/libcublas")->driver_ns, 20);
	CHECK_INT(world_row(&l, 0, PROCESS)->driver_ns, 2 * MS + 1020);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(instants_are_read)
{
	struct tare_instant at;
	struct tare_err err;

	CHECK_INT(tare_instant_parse("12.5s", &at, &err), 0);
	CHECK_INT(at.t_ns, 12500 * MS);
	CHECK_INT(tare_instant_parse("1500ms", &at, &err), 0);
	CHECK_INT(at.t_ns, 1500 * MS);
	CHECK_INT(tare_instant_parse("+3", &at, &err), 0);
	CHECK_INT(at.t_ns, 3000 * MS);
	CHECK_INT(tare_instant_parse("peak", &at, &err), 0);
	CHECK_INT(at.kind, TARE_INSTANT_MOMENT);
	CHECK_INT(at.moment, TARE_MOMENT_PEAK);
	CHECK_INT(tare_instant_parse("-3", &at, &err), TARE_E_USAGE);
	CHECK_INT(tare_instant_parse("noon", &at, &err), TARE_E_USAGE);
	CHECK_HAS(err.text, "'noon'");
	CHECK_INT(tare_instant_parse("", &at, &err), TARE_E_USAGE);
}

TEST(nothing_recorded_is_an_empty_ledger)
{
	struct world *w = world_new();
	struct tare_ledger l = world_ledger(w, "peak");

	CHECK_INT(l.device_nr, 0);
	CHECK(!l.opened_gpu);
	tare_ledger_free(&l);
	world_reading(w, 0, 5 * MS, 100 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(l.device_nr, 1);
	CHECK_INT(l.devices[0].used, 100 * MIB);
	CHECK_INT(world_bytes(&l, 0, "other"), 100 * MIB);
	CHECK(!l.opened_gpu);
	tare_ledger_free(&l);
	world_free(w);
}
