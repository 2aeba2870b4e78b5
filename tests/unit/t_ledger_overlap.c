/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that overlap: threads and processes on one device. Times in ms, sizes in MiB. */
#include "ledger_world.h"
#include "test.h"

#define BASE UINT64_C(0x7f0000000000)
#define P    "process:431"

static void unknown(struct world *w, uint32_t tid, enum tare_class class, int64_t begin, int64_t end, int64_t before,
                    int64_t after)
{
	CALL(w, .tid = tid, .class = class, .effect = TARE_EFFECT_CHANGE, .begin = begin * MS, .end = end * MS, .handle = 1,
	     .context = 0xc0, .weigh = true, .before = before * MIB, .after = after * MIB);
}

static void alloc(struct world *w, uint32_t tid, int64_t begin, int64_t end, int page, int64_t size, int64_t before,
                  int64_t after)
{
	CALL(w, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = begin * MS, .end = end * MS,
	     .handle = BASE + (uint64_t)page * 2 * MIB, .context = 0xc0, .asked = (uint64_t)(size * MIB),
	     .weigh = before >= 0, .before = before * MIB, .after = after * MIB);
}

static void release(struct world *w, uint32_t tid, int64_t begin, int64_t end, int page, int64_t before, int64_t after)
{
	CALL(w, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = begin * MS, .end = end * MS,
	     .handle = BASE + (uint64_t)page * 2 * MIB, .context = 0xc0, .weigh = before >= 0, .before = before * MIB,
	     .after = after * MIB);
}

TEST(an_exact_call_is_taken_out_of_an_unknown_one)
{
	struct world *w = world_new();
	struct tare_ledger l;

	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 174);
	alloc(w, 2, 12, 14, 0, 10, 100, 110);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 64 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 10 * MIB);
	CHECK(!world_row(&l, 0, P "/code")->contended);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The only unknown call of a cluster was over when the device changed by what no call can have made. */
TEST(an_unknown_call_takes_nothing_that_came_after_it)
{
	struct world *w = world_new();
	struct tare_ledger l;

	alloc(w, 2, 5, 60, 0, 10, 100, 616); /* makes the three a cluster */
	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 104);
	alloc(w, 3, 40, 50, 8, 2, 104, 606);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 4 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 12 * MIB);
	CHECK_INT(l.devices[0].unexplained, 500 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* The exact call begins first and its readings lie outside; one of them is in the middle. */
TEST(an_exact_call_that_straddles_an_unknown_one)
{
	struct world *w = world_new();
	struct tare_ledger l;

	alloc(w, 2, 5, 15, 0, 10, 100, 174);
	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 110, 174);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 64 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);

	/* The driver took the memory in two parts, before and after the other's first reading. */
	w = world_new();
	alloc(w, 2, 5, 15, 0, 10, 100, 174);
	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 104, 174);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 64 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(an_unweighed_exact_call_is_taken_out_too)
{
	struct world *w = world_new();
	struct tare_ledger l;

	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 174);
	alloc(w, 2, 12, 14, 0, 10, -1, -1);
	alloc(w, 2, 30, 31, 8, 10, -1, -1);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 64 * MIB);
	CHECK_INT(l.devices[0].used, 184 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(an_unweighed_call_that_outlasts_the_readings)
{
	struct world *w = world_new();
	const char *at = "end";
	struct tare_ledger l;

	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 100);
	alloc(w, 2, 12, 40, 0, 10, -1, -1);
	unknown(w, 1, TARE_CLASS_CODE, 50, 60, 110, 110);
	world_build(w, NULL, &at, 1, &l);
	CHECK_INT(world_bytes(&l, 0, P "/code"), 0);
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 10 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(exact_calls_only_and_a_drift_among_them)
{
	struct world *w = world_new();
	struct tare_ledger l;

	alloc(w, 1, 10, 20, 0, 10, 100, 123);
	alloc(w, 2, 12, 22, 8, 10, 100, 123);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 20 * MIB);
	CHECK_INT(l.devices[0].unexplained, 3 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(two_unknown_calls_share_only_what_happened_while_both_ran)
{
	struct world *w = world_new();
	struct tare_ledger l;
	const struct tare_row *code, *streams;

	/* 100 →10 alone→ 110 →40 both→ 150 →6 alone→ 156 */
	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 150);
	unknown(w, 2, TARE_CLASS_STREAM, 15, 25, 110, 156);
	l = world_ledger(w, "end");
	code = world_row(&l, 0, P "/code");
	streams = world_row(&l, 0, P "/streams");
	CHECK(code->contended && streams->contended);
	CHECK_INT(code->low, 10 * MIB);
	CHECK_INT(code->high, 50 * MIB);
	CHECK_INT(streams->low, 6 * MIB);
	CHECK_INT(streams->high, 46 * MIB);
	CHECK_INT(code->bytes + streams->bytes, 56 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK(world_has_note(&l, "2 rows lie between two bounds"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(nothing_is_contended_if_nothing_happened_while_both_ran)
{
	struct world *w = world_new();
	struct tare_ledger l;

	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 110);
	unknown(w, 2, TARE_CLASS_STREAM, 15, 25, 110, 116);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 10 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/streams"), 6 * MIB);
	CHECK(!world_row(&l, 0, P "/code")->contended);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(two_unknown_and_an_exact_one)
{
	struct world *w = world_new();
	struct tare_ledger l;

	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 160);
	unknown(w, 2, TARE_CLASS_STREAM, 10, 20, 100, 160);
	alloc(w, 3, 12, 14, 0, 50, 100, 150);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 50 * MIB);
	CHECK_INT(world_row(&l, 0, P "/code")->high, 10 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/code"), 5 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/streams"), 5 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_wait_takes_nothing_from_the_calls_that_run_meanwhile)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .tid = 2, .class = TARE_CLASS_POOL, .effect = TARE_EFFECT_CHANGE, .begin = 1 * MS, .end = 900 * MS,
	     .context = 0xc0, .weigh = true, .before = 100 * MIB, .after = 162 * MIB);
	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 160);
	unknown(w, 1, TARE_CLASS_STREAM, 30, 40, 160, 162);
	alloc(w, 1, 50, 60, 0, 10, 162, 172);
	release(w, 1, 70, 80, 0, 172, 162);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 172 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/code"), 60 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/streams"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 10 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(the_peak_may_lie_inside_a_long_call)
{
	struct world *w = world_new();
	struct tare_ledger l;

	unknown(w, 2, TARE_CLASS_CODE, 1, 900, 100, 104);
	for (int i = 0; i < 10; i++) {
		alloc(w, 1, 10 + 20 * i, 12 + 20 * i, 0, 10 + i % 5 * 10, 100, 110 + i % 5 * 10);
		release(w, 1, 20 + 20 * i, 22 + 20 * i, 0, 110 + i % 5 * 10, 100);
	}
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 150 * MIB);
	CHECK_INT(l.devices[0].t_ns, 92 * MS + 10000);
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 50 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 4 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Thread 1 frees, thread 2 gets the address at once: stamps are in order although the calls overlap. */
TEST(an_address_moves_from_one_thread_to_another)
{
	struct world *w = world_new();
	struct tare_ledger l;

	alloc(w, 1, 1, 2, 0, 10, 100, 110);
	release(w, 1, 10, 20, 0, 110, 110);
	alloc(w, 2, 11, 19, 0, 10, 110, 110);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 10 * MIB);
	CHECK_INT(l.devices[0].used, 110 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(processes_that_overlap_on_a_device_are_settled_together)
{
	struct world *w = world_new();
	int other = world_process(w, 500, 0, "eval");
	struct tare_ledger l;

	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 130);
	CALL(w, .process = other, .tid = 1, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 12 * MS,
	     .end = 14 * MS, .handle = BASE, .context = 0xc0, .asked = 20 * MIB, .weigh = true, .before = 100 * MIB,
	     .after = 120 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 10 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:500/allocations"), 20 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(devices_have_clusters_of_their_own)
{
	struct world *w = world_new();
	int second = world_device(w);
	struct tare_ledger l;

	unknown(w, 1, TARE_CLASS_CODE, 10, 20, 100, 130);
	CALL(w, .device = second, .tid = 2, .class = TARE_CLASS_STREAM, .effect = TARE_EFFECT_CHANGE, .begin = 12 * MS,
	     .end = 14 * MS, .handle = 1, .context = 0xc1, .weigh = true, .before = 50 * MIB, .after = 52 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.device_nr, 2);
	CHECK_INT(world_bytes(&l, 0, P "/code"), 30 * MIB);
	CHECK_INT(world_bytes(&l, 1, P "/streams"), 2 * MIB);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_context_ends_while_another_thread_allocates)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc1,
	     .context = 0xc1, .weigh = true, .before = 100 * MIB, .after = 600 * MIB);
	CALL(w, .tid = 2, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 10 * MS, .end = 20 * MS,
	     .handle = 0xc1, .context = 0xc1, .weigh = true, .before = 600 * MIB, .after = 110 * MIB);
	alloc(w, 1, 12, 14, 0, 10, 600, 610);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 10 * MIB);
	CHECK_INT(world_bytes(&l, 0, P), 10 * MIB);
	CHECK_INT(l.devices[0].used, 110 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* A weighing may end after the call: thread 2's first reading was taken before thread 1's effect. */
TEST(readings_that_cross_between_neighbours)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .tid = 1, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 10 * MS, .end = 10 * MS + 50000,
	     .handle = BASE, .context = 0xc0, .asked = 10 * MIB, .weigh = true, .before = 100 * MIB, .after = 110 * MIB);
	CALL(w, .tid = 2, .class = TARE_CLASS_CODE, .effect = TARE_EFFECT_CHANGE, .begin = 10 * MS + 55000, .end = 11 * MS,
	     .handle = 1, .context = 0xc0, .weigh = true, .before = 100 * MIB, .after = 112 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 10 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

#define US 1000

/* A call of 4 KiB in the first page, which takes nothing more. */
static void small(struct world *w, uint32_t tid, int64_t reading_before, int64_t begin, int64_t end, int number,
                  int64_t before, int64_t after)
{
	CALL(w, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 10 * MS + begin * US,
	     .end = 10 * MS + end * US, .handle = BASE + (uint64_t)number * 4096, .context = 0xc0, .asked = 4096,
	     .weigh = true, .before = before * MIB, .after = after * MIB, .reading_before = reading_before * US,
	     .reading_after = 2 * US);
}

/*
 * Thread 3 lost the CPU in its first reading and read what thread 1 had taken by then; in between thread 2 read twice
 * what there was before.
 */
TEST(a_reading_that_belongs_behind_several_others)
{
	struct world *w = world_new();
	struct tare_ledger l;

	small(w, 2, 2, -5000, -4990, 0, 98, 100);
	small(w, 2, 2, 32, 42, 1, 100, 100);
	CALL(w, .tid = 1, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 10 * MS + 40 * US,
	     .end = 10 * MS + 50 * US, .handle = BASE + 2 * MIB, .context = 0xc0, .asked = 10 * MIB, .weigh = true,
	     .before = 100 * MIB, .after = 110 * MIB, .reading_before = 2 * US, .reading_after = 2 * US);
	small(w, 2, 2, 47, 48, 2, 100, 110);
	small(w, 3, 60, 65, 75, 3, 110, 110);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 110 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_chain_of_overlapping_calls_is_settled_in_parts_where_they_are_apart)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int64_t used = 100;

	/* Two threads leapfrog: each call begins in the last half of the other's and acts in its first. */
	for (int i = 0; i < 1000; i++) {
		unknown(w, 1 + (uint32_t)i % 2, i % 2 ? TARE_CLASS_STREAM : TARE_CLASS_CODE, 10 + i * 10, 10 + i * 10 + 15,
		        used, used + 2 + 2 * (i < 999));
		used += 2;
		/* +2 before the next one's first reading would be its own; this one's comes after it. */
	}
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, P "/code") + world_bytes(&l, 0, P "/streams"), 2000 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Only a damaged recording has such calls. */
TEST(calls_that_last_longer_than_time_are_told_as_the_most_there_is)
{
	const int64_t end = INT64_MAX / 4 * 3 / MS;
	struct world *w = world_new();
	struct tare_ledger l;

	alloc(w, 1, 1, end, 0, 10, -1, -1);
	alloc(w, 2, 1, end, 20, 10, -1, -1);
	l = world_ledger(w, "end");
	CHECK_INT(world_row(&l, 0, P "/allocations")->driver_ns, INT64_MAX);
	tare_ledger_free(&l);
	world_free(w);
}

/* A reading of 31 ms is told as one of 35, which would reach back behind all that the thread did before. */
TEST(a_long_reading_does_not_begin_before_the_call_of_its_thread_before_it)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 10 * MS, .end = 11 * MS, .handle = 0xc0,
	     .context = 0xc0, .weigh = true, .before = 100 * MIB, .after = 600 * MIB, .reading_before = MS / 2,
	     .reading_after = MS / 2);
	alloc(w, 1, 12, 13, 0, 10, 600, 610);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 45 * MS, .end = 46 * MS,
	     .handle = BASE + 64 * MIB, .context = 0xc0, .asked = 20 * MIB, .weigh = true, .before = 610 * MIB,
	     .after = 630 * MIB, .reading_before = 36 * MS, .reading_after = MS / 2);
	world_exit(w, 0, 60 * MS);
	world_reading(w, 0, 61 * MS, 100 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(world_bytes(&l, 0, P "/context"), 500 * MIB);
	CHECK_INT(world_row(&l, 0, P "/context")->evidence, TARE_EVIDENCE_WEIGHED);
	CHECK(!world_row(&l, 0, P "/context")->contended);
	CHECK_INT(world_bytes(&l, 0, P "/allocations"), 30 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}
