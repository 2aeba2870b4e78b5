/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that end while others work on: times in ms, sizes in MiB. */
#include "ledger_world.h"
#include "test.h"

#define BASE UINT64_C(0x7f0000000000)

static void context(struct world *w, int process, int64_t begin, int64_t end, int64_t before, int64_t after)
{
	CALL(w, .process = process, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = begin * MS,
	     .end = end * MS, .handle = 0xc0, .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true,
	     .before = before * MIB, .after = after * MIB);
}

static void alloc(struct world *w, int process, uint32_t tid, int64_t begin, int64_t end, int page, int64_t size,
                  int64_t before, int64_t after)
{
	CALL(w, .process = process, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = begin * MS,
	     .end = end * MS, .handle = BASE + (uint64_t)page * 2 * MIB, .context = 0xc0, .asked = (uint64_t)(size * MIB),
	     .weigh = true, .before = before * MIB, .after = after * MIB);
}

static void release(struct world *w, int process, uint32_t tid, int64_t begin, int64_t end, int page, int64_t before,
                    int64_t after)
{
	CALL(w, .process = process, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = begin * MS,
	     .end = end * MS, .handle = BASE + (uint64_t)page * 2 * MIB, .context = 0xc0, .weigh = true,
	     .before = before * MIB, .after = after * MIB);
}

static void check_at(struct world *w, const char *at, int64_t used, const char *gone)
{
	struct tare_ledger l = world_ledger(w, at);

	CHECK_INT(l.devices[0].used, used * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	if (gone)
		CHECK(!world_row(&l, 0, gone));
	tare_ledger_free(&l);
}

/* 431 with a context of 500, and 500 with one of 400. */
static struct world *two_processes(int *second)
{
	struct world *w = world_new();

	*second = world_process(w, 500, 0, "eval");
	context(w, 0, 1, 2, 1000, 1500);
	context(w, *second, 2, 3, 1500, 1900);
	return w;
}

TEST(one_ends_while_two_threads_of_another_are_inside_calls)
{
	int second;
	struct world *w = two_processes(&second);

	world_end(w, 0, 5 * MS);
	alloc(w, second, 1, 6, 10, 0, 2, 1900, 1406);
	alloc(w, second, 2, 7, 9, 8, 4, 1902, 1406);
	check_at(w, "end", 1406, "process:431");
	check_at(w, "peak", 1902, NULL);
	world_free(w);
}

TEST(a_free_beside_an_end_stays_where_it_was_seen)
{
	int second;
	struct world *w = two_processes(&second);

	alloc(w, second, 1, 3, 4, 0, 6, 1900, 1906);
	world_end(w, 0, 5 * MS);
	release(w, second, 1, 6, 10, 0, 1906, 1404);
	alloc(w, second, 2, 7, 12, 8, 4, 1900, 1404); /* the free shows before this begins */
	check_at(w, "end", 1404, "process:431");
	check_at(w, "8ms", 1900, NULL);
	world_free(w);
}

/* The END record comes while calls are under way that begin before it and after it. */
TEST(an_end_in_the_middle_of_a_chain_of_calls)
{
	int second;
	struct world *w = two_processes(&second);

	alloc(w, second, 1, 4, 8, 0, 2, 1900, 1902);
	world_end(w, 0, 6 * MS);
	alloc(w, second, 2, 7, 12, 8, 4, 1902, 1406);
	world_end(w, second, 20 * MS);
	world_reading(w, 0, 21 * MS, 1000 * MIB);
	check_at(w, "end", 1406, "process:431");
	check_at(w, "22ms", 1000, "process:500");
	world_free(w);
}

TEST(the_end_is_marked_inside_a_chain_of_frees)
{
	int second;
	struct world *w = two_processes(&second);

	alloc(w, second, 1, 3, 4, 0, 2, 1900, 1902);
	alloc(w, second, 1, 4, 5, 8, 4, 1902, 1906);
	release(w, second, 1, 6, 10, 0, 1906, 1904);
	world_end(w, 0, 8 * MS);
	release(w, second, 2, 9, 14, 8, 1904, 1400);
	check_at(w, "end", 1906, NULL);
	check_at(w, "15ms", 1400, "process:431");
	world_free(w);
}

/* The thread had made its call and lost the CPU before it could read what the device had. */
TEST(an_end_while_the_reading_behind_a_call_is_taken)
{
	int second;
	struct world *w = two_processes(&second);

	CALL(w, .process = second, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 4 * MS, .end = 5 * MS,
	     .handle = BASE, .context = 0xc0, .asked = 2 * MIB, .weigh = true, .before = 1900 * MIB, .after = 1402 * MIB,
	     .reading_after = 3 * MS);
	world_end(w, 0, 6 * MS);
	alloc(w, second, 1, 9, 10, 8, 4, 1402, 1406);
	check_at(w, "end", 1406, "process:431");
	world_free(w);
}

TEST(of_several_that_ended_those_fit_that_add_up)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "b"), third = world_process(w, 600, 0, "c");

	context(w, 0, 1, 2, 1000, 1500);
	context(w, second, 2, 3, 1500, 1990);
	context(w, third, 3, 4, 1990, 2470);
	world_end(w, 0, 5 * MS);
	world_end(w, second, 5 * MS + 1);
	world_end(w, third, 5 * MS + 2);
	world_reading(w, 0, 6 * MS, 1500 * MIB); /* 490 + 480; nearest in size is all or 500 */
	world_reading(w, 0, 8 * MS, 1000 * MIB);
	check_at(w, "7ms", 1500, "process:500");
	check_at(w, "7ms", 1500, "process:600");
	check_at(w, "9ms", 1000, "process:431");
	world_free(w);
}

/* A thread read the counter, lost the CPU, and made its call much later. */
TEST(a_reading_that_took_long_is_put_where_it_fits)
{
	int second;
	struct world *w = two_processes(&second);

	CALL(w, .tid = 1, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 30 * MS, .end = 31 * MS,
	     .handle = BASE, .context = 0xc0, .asked = 2 * MIB, .weigh = true, .before = 1500 * MIB, .after = 1912 * MIB,
	     .reading_before = 29 * MS, .reading_after = 1000);
	alloc(w, second, 1, 4, 5, 8, 4, 1900, 1904);
	alloc(w, second, 1, 20, 21, 16, 6, 1904, 1910);
	check_at(w, "10ms", 1904, NULL);
	check_at(w, "25ms", 1910, NULL);
	check_at(w, "end", 1912, NULL);
	world_free(w);
}

TEST(a_witness_that_took_long_may_be_older_than_what_is_known)
{
	int second;
	struct world *w = two_processes(&second);

	alloc(w, second, 1, 4, 5, 8, 4, 1900, 1904);
	world_reading_since(w, 0, 2 * MS, 8 * MS, 1500 * MIB);
	check_at(w, "end", 1904, NULL);
	check_at(w, "peak", 1904, NULL);
	world_free(w);
}

static void check_context(const struct tare_ledger *l, const char *path, int64_t bytes)
{
	CHECK_INT(world_bytes(l, 0, path), bytes * MIB);
	CHECK(!world_row(l, 0, path)->contended);
}

TEST(contexts_that_are_made_at_the_same_time_take_the_same)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "b"), third = world_process(w, 600, 0, "c");
	struct tare_ledger l;

	context(w, 0, 1, 2, 1000, 1500);
	context(w, second, 3, 5, 1500, 2500);
	context(w, third, 4, 6, 1500, 2500);
	l = world_ledger(w, "end");
	check_context(&l, "process:500/context", 500);
	check_context(&l, "process:600/context", 500);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The device shows only the difference of a context and of a process that had one, and 2 MiB beside it. */
TEST(a_context_is_made_while_another_process_ends)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "b"), third = world_process(w, 600, 0, "c");
	struct tare_ledger l;

	context(w, 0, 1, 2, 1000, 1500);
	alloc(w, 0, 1, 2, 3, 0, 2, 1500, 1502);
	world_end(w, 0, 4 * MS);
	context(w, second, 5, 7, 1502, 2000);
	context(w, third, 6, 8, 1502, 2000);
	l = world_ledger(w, "end");
	CHECK(!world_row(&l, 0, "process:431"));
	check_context(&l, "process:500/context", 500);
	check_context(&l, "process:600/context", 500);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* One that takes something else is what was measured, not what others took. */
TEST(a_context_of_another_size_is_what_was_measured)
{
	struct world *w = world_new();
	int second = world_process(w, 500, 0, "b"), third = world_process(w, 600, 0, "c");
	struct tare_ledger l;

	context(w, 0, 1, 2, 1000, 1500);
	context(w, second, 3, 5, 1500, 2000);
	context(w, third, 4, 6, 2000, 2100);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:500/context"), 500 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:600/context"), 100 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(nothing_of_a_process_is_exact_from_its_first_lost_record_on)
{
	int second;
	struct world *w = two_processes(&second);
	struct tare_ledger l;

	alloc(w, 0, 1, 4, 5, 0, 2, 1900, 1902);
	alloc(w, second, 1, 6, 7, 0, 4, 1902, 1906);
	world_lost(w, second, 12 * MS, 8 * MS, 10 * MS, 17);
	alloc(w, 0, 1, 14, 15, 8, 2, 1906, 1908);
	l = world_ledger(w, "7500000ns");
	CHECK_INT(world_row(&l, 0, "process:500/allocations")->evidence, TARE_EVIDENCE_EXACT);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(world_row(&l, 0, "process:500/allocations")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(world_row(&l, 0, "process:500/context")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(world_row(&l, 0, "process:431/allocations")->evidence, TARE_EVIDENCE_EXACT);
	CHECK_INT(l.loss_nr, 1);
	CHECK_INT(l.losses[0].pid, 500);
	CHECK_INT(l.losses[0].records, 17);
	CHECK_INT(l.losses[0].from_ns, 8 * MS);
	CHECK_INT(l.losses[0].to_ns, 10 * MS);
	CHECK_STR(l.losses[0].reason, "disk-full");
	tare_ledger_free(&l);
	world_free(w);
}

/* The reader found a part of the log damaged: nobody knows how many records that cost. */
TEST(nothing_of_a_process_is_exact_behind_damage_of_its_log)
{
	int second;
	struct world *w = two_processes(&second);
	struct tare_ledger l;

	alloc(w, 0, 1, 4, 5, 0, 2, 1900, 1902);
	alloc(w, second, 1, 6, 7, 0, 4, 1902, 1906);
	alloc(w, 0, 1, 14, 15, 8, 2, 1906, 1908);
	world_damage(w, second, 8 * MS, 10 * MS);
	l = world_ledger(w, "7500000ns");
	CHECK_INT(world_row(&l, 0, "process:500/allocations")->evidence, TARE_EVIDENCE_EXACT);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(world_row(&l, 0, "process:500/allocations")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(world_row(&l, 0, "process:431/allocations")->evidence, TARE_EVIDENCE_EXACT);
	CHECK_INT(l.loss_nr, 1);
	CHECK_INT(l.losses[0].pid, 500);
	CHECK_INT(l.losses[0].records, 0);
	CHECK_INT(l.losses[0].from_ns, 8 * MS);
	CHECK_INT(l.losses[0].to_ns, 10 * MS);
	CHECK_STR(l.losses[0].reason, "damaged");
	for (int i = 0; i < l.host_nr; i++)
		CHECK_INT(l.hosts[i].evidence, l.hosts[i].pid == 500 ? TARE_EVIDENCE_INFERRED : TARE_EVIDENCE_EXACT);
	for (int i = 0; i < l.devices[0].line_nr; i++)
		CHECK(l.devices[0].lines[i].pid != 500 || l.devices[0].lines[i].evidence >= TARE_EVIDENCE_INFERRED);
	tare_ledger_free(&l);
	world_free(w);
}

/* One thread gives up twice for one reason: one row. Another thread: another row. */
TEST(losses_are_told_by_process_thread_and_reason)
{
	struct world *w = world_new();
	struct tare_ledger l;

	alloc(w, 0, 1, 4, 5, 0, 2, 1900, 1902);
	world_lost(w, 0, 8 * MS, 6 * MS, 7 * MS, 10);
	world_lost(w, 0, 12 * MS, 9 * MS, 11 * MS, 7);
	world_lost_of(w, 0, 13 * MS, 77, TARE_LOST_NO_LANE);
	l = world_ledger(w, "end");
	CHECK_INT(l.loss_nr, 2);
	CHECK_INT(l.losses[0].tid, 0);
	CHECK_INT(l.losses[0].records, 17);
	CHECK_INT(l.losses[0].from_ns, 6 * MS);
	CHECK_INT(l.losses[0].to_ns, 11 * MS);
	CHECK_INT(l.losses[1].tid, 77);
	CHECK_INT(l.losses[1].records, 1);
	CHECK_STR(l.losses[1].reason, "no-lane");
	/* Nothing that was recorded came later: what was lost did. */
	CHECK_INT(world_row(&l, 0, "process:431/allocations")->evidence, TARE_EVIDENCE_INFERRED);
	tare_ledger_free(&l);
	world_free(w);
}

/* `tare` read the counter before it looked who was gone. */
TEST(a_killed_process_whose_end_is_told_late)
{
	struct world *w = world_new();
	struct tare_ledger l;

	context(w, 0, 1, 2, 1000, 1500);
	world_process_at(w, 0)->last_ns = 2 * MS;
	world_reading(w, 0, 9 * MS, 1000 * MIB);
	world_exit(w, 0, 9 * MS + 1000);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, "process:431"), 500 * MIB);
	CHECK_INT(l.devices[0].used, 1500 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* ---- tensors of a process that ends before the reading behind its last call is taken for granted (20 us) ---- */

#define TENSORS "process:431/allocations/libc10_cuda/tensors"

static void segment(struct world *w, uint32_t tid, int64_t begin, int64_t end, int page, int64_t size, int64_t before,
                    int64_t after)
{
	CALL(w, .tid = tid, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = begin, .end = end,
	     .handle = BASE + (uint64_t)page * 2 * MIB, .context = 0xc0, .asked = (uint64_t)(size * MIB), .weigh = true,
	     .before = before * MIB, .after = after * MIB, .owner = WORLD_C10_CUDA);
}

static void check_end(struct world *w, int64_t used, int64_t tensors)
{
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_INT(l.devices[0].used, used * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(world_bytes(&l, 0, TENSORS), tensors * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_behind_the_last_call_are_there_when_the_process_ends)
{
	struct world *w = world_new();

	context(w, 0, 1, 2, 1000, 1500);
	segment(w, 1, 4 * MS, 4 * MS + 10, 0, 20, 1500, 1520);
	world_tensor(w, 4 * MS + 1000, BASE, 12 * MIB);
	world_tensor(w, 4 * MS + 2000, BASE + 12 * MIB, 4 * MIB);
	world_end(w, 0, 4 * MS + 3000);
	world_tensor(w, 4 * MS + 4000, BASE, 0); /* by an exit handler */
	world_reading(w, 0, 8 * MS, 1000 * MIB);
	check_end(w, 1520, 16);
}

TEST(tensors_that_python_takes_down_were_there_before)
{
	struct world *w = world_new();

	context(w, 0, 1, 2, 1000, 1500);
	segment(w, 1, 4 * MS, 4 * MS + 10, 0, 20, 1500, 1520);
	world_tensor(w, 4 * MS + 1000, BASE, 12 * MIB);
	world_tensor_of_teardown(w, 4 * MS + 2000, BASE);
	world_end(w, 0, 4 * MS + 3000);
	check_end(w, 1520, 12);
}

TEST(tensors_behind_calls_of_two_threads_are_there_when_the_process_ends)
{
	struct world *w = world_new();

	context(w, 0, 1, 2, 1000, 1500);
	segment(w, 1, 4 * MS, 4 * MS + 2000, 0, 20, 1500, 1520);
	segment(w, 2, 4 * MS + 1000, 4 * MS + 3000, 100, 6, 1520, 1526);
	world_tensor(w, 4 * MS + 2500, BASE, 12 * MIB);
	world_tensor(w, 4 * MS + 3500, BASE + 200 * MIB, 5 * MIB);
	world_end(w, 0, 4 * MS + 4000);
	world_tensor(w, 4 * MS + 5000, BASE, 0);
	check_end(w, 1526, 17);
}

/* Its last call is settled with one of another process, which frees what it has when the first has ended. */
TEST(tensors_are_there_when_the_process_ends_beside_calls_of_another)
{
	int second;
	struct world *w = two_processes(&second);

	alloc(w, second, 1, 4, 5, 50, 2, 1900, 1902);
	segment(w, 1, 6 * MS, 6 * MS + 2000, 0, 20, 1902, 1922);
	world_tensor(w, 6 * MS + 3000, BASE, 12 * MIB);
	world_end(w, 0, 6 * MS + 4000);
	CALL(w, .process = second, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = 6 * MS + 10000,
	     .end = 6 * MS + 12000, .handle = BASE + 100 * MIB, .context = 0xc0, .weigh = true, .before = 1922 * MIB,
	     .after = 1920 * MIB);
	world_tensor(w, 6 * MS + 13000, BASE, 0);
	check_end(w, 1922, 12);
}
