/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "paused": what nobody recorded because nobody wanted it to be. */
#include "ledger_world.h"
#include "test.h"

static void take(struct world *w, int64_t t, uint64_t at, int64_t bytes, int64_t before)
{
	CALL(w, .tid = 1, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 1000, .handle = at,
	     .context = 1, .asked = (uint64_t)bytes, .granted = (uint64_t)bytes, .weigh = true, .before = before,
	     .after = before + bytes, .owner = "solver");
}

static void drop(struct world *w, int64_t t, uint64_t at, int64_t bytes, int64_t before)
{
	CALL(w, .tid = 1, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = t, .end = t + 1000, .handle = at,
	     .context = 1, .weigh = bytes > 0, .before = before, .after = before - bytes);
}

/* 100 MiB before a pause in which 300 come, of which 60 are freed after it. */
static struct world *make(void)
{
	struct world *w = world_new();

	world_reading(w, 0, 1 * MS, 0);
	take(w, 10 * MS, 0x200000, 100 * MIB, 0);
	world_reading(w, 0, 19 * MS, 100 * MIB);
	world_control(w, 20 * MS, TARE_ACT_PAUSE, 1);
	world_reading(w, 0, 29 * MS, 400 * MIB);
	world_control(w, 30 * MS, TARE_ACT_RESUME, 2);
	take(w, 40 * MS, 0x40000000, 20 * MIB, 400 * MIB);
	drop(w, 50 * MS, 0x80000000, 60 * MIB, 420 * MIB);
	return w;
}

TEST(what_came_is_one_row)
{
	struct world *w = make();
	struct tare_ledger at = world_ledger(w, "25ms");

	CHECK_INT(world_bytes(&at, 0, "process:431/allocations/solver"), 100 * MIB);
	tare_ledger_free(&at);
	at = world_ledger(w, "45ms");
	CHECK_INT(world_bytes(&at, 0, "paused"), 300 * MIB);
	CHECK_INT(world_bytes(&at, 0, "process:431/allocations/solver"), 120 * MIB);
	CHECK_INT(at.devices[0].unexplained, 0);
	tare_ledger_free(&at);
	at = world_ledger(w, "end");
	CHECK_INT(world_bytes(&at, 0, "paused"), 240 * MIB);
	CHECK_INT(at.devices[0].unexplained, 0);
	CHECK(world_has_note(&at, "recording was paused from 20"));
	CHECK_INT(at.pause_nr, 1);
	CHECK_INT(at.pauses[0].from_ns, 20 * MS);
	CHECK_INT(at.pauses[0].to_ns, 30 * MS);
	tare_ledger_free(&at);
	world_free(w);
}

TEST(ends_in_it_leave_the_books)
{
	struct world *w = world_new();
	struct tare_ledger at;

	world_reading(w, 0, 1 * MS, 0);
	take(w, 10 * MS, 0x200000, 100 * MIB, 0);
	world_control(w, 20 * MS, TARE_ACT_PAUSE, 1);
	drop(w, 25 * MS, 0x200000, 0, 0);
	world_reading(w, 0, 29 * MS, 30 * MIB);
	world_control(w, 30 * MS, TARE_ACT_RESUME, 2);
	take(w, 40 * MS, 0x200000, 100 * MIB, 30 * MIB); /* the same address again */
	at = world_ledger(w, "end");
	CHECK_INT(world_bytes(&at, 0, "process:431/allocations/solver"), 100 * MIB);
	CHECK_INT(world_bytes(&at, 0, "paused"), 30 * MIB);
	CHECK_INT(at.devices[0].unexplained, 0);
	tare_ledger_free(&at);
	world_free(w);
}

/* What changed before a pause and behind it is as unexplained as ever. */
TEST(it_hides_nothing_else)
{
	struct world *w = world_new();
	struct tare_ledger at;

	world_reading(w, 0, 1 * MS, 0);
	take(w, 10 * MS, 0x200000, 100 * MIB, 0);
	world_reading(w, 0, 19 * MS, 107 * MIB);
	world_control(w, 20 * MS, TARE_ACT_PAUSE, 1);
	world_reading(w, 0, 29 * MS, 147 * MIB);
	world_control(w, 30 * MS, TARE_ACT_RESUME, 2);
	take(w, 40 * MS, 0x40000000, 20 * MIB, 147 * MIB);
	take(w, 50 * MS, 0x60000000, 20 * MIB, 172 * MIB);
	at = world_ledger(w, "end");
	CHECK_INT(world_bytes(&at, 0, "paused"), 40 * MIB);
	CHECK_INT(at.devices[0].unexplained, 12 * MIB);
	tare_ledger_free(&at);
	world_free(w);
}

/* Of two `tare ctl` at once the one that was first may stamp last. */
TEST(order_is_by_number)
{
	struct world *w = world_new();
	struct tare_ledger at;

	world_reading(w, 0, 1 * MS, 0);
	take(w, 10 * MS, 0x200000, 100 * MIB, 0);
	world_control(w, 20 * MS, TARE_ACT_RESUME, 2);
	world_control(w, 21 * MS, TARE_ACT_PAUSE, 1);
	take(w, 40 * MS, 0x40000000, 20 * MIB, 109 * MIB);
	at = world_ledger(w, "end");
	CHECK(!world_row(&at, 0, "paused"));
	CHECK_INT(at.devices[0].unexplained, 9 * MIB);
	tare_ledger_free(&at);
	world_free(w);
}

TEST(a_stop_is_the_end)
{
	struct world *w = world_new();
	struct tare_ledger at;

	world_reading(w, 0, 1 * MS, 0);
	take(w, 10 * MS, 0x200000, 100 * MIB, 0);
	world_control(w, 20 * MS, TARE_ACT_STOP, 1);
	world_reading(w, 0, 29 * MS, 500 * MIB);
	at = world_ledger(w, "end");
	CHECK_INT((int64_t)at.devices[0].used, 100 * MIB);
	CHECK(world_has_note(&at, "recording was stopped at 20"));
	tare_ledger_free(&at);
	world_free(w);
}

/* Blocks that were handed out while nobody recorded are in no figure, and the ledger says so from then on. */
TEST(tensors_of_the_cpu_that_were_made_meanwhile_are_not_known)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_host_tensor(w, 0, 10 * MS, 0x1000, 8 * MIB, 0);
	world_control(w, 20 * MS, TARE_ACT_PAUSE, 1);
	world_control(w, 30 * MS, TARE_ACT_RESUME, 2);
	world_host_tensor(w, 0, 40 * MS, 0x2000, 4 * MIB, 0);
	l = world_ledger(w, "15ms");
	CHECK(!l.hosts[0].tensors.is_partial);
	CHECK_INT(l.hosts[0].evidence, TARE_EVIDENCE_EXACT);
	tare_ledger_free(&l);
	l = world_ledger(w, "45ms");
	CHECK_INT(l.hosts[0].tensors.bytes, 12 * MIB);
	CHECK(l.hosts[0].tensors.is_partial);
	CHECK_INT(l.hosts[0].evidence, TARE_EVIDENCE_INFERRED);
	CHECK(world_has_note(&l, "tensors on the CPU that were made then are not known"));
	tare_ledger_free(&l);
	world_free(w);
}

/* A block of PyTorch's that was handed out meanwhile looks as if it were cached: how the pool splits is a guess. */
TEST(a_pool_is_not_exact_behind_it)
{
	const char *live = "process:431/allocations/libc10_cuda/tensors";
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, 0x7f0000000000, 20 * MIB, 600 * MIB);
	world_tensor(w, 3 * MS + 20, 0x7f0000000000, 12 * MIB);
	world_control(w, 20 * MS, TARE_ACT_PAUSE, 1);
	world_control(w, 30 * MS, TARE_ACT_RESUME, 2);
	world_tensor(w, 40 * MS, 0x7f0000000000 + 12 * MIB, 4 * MIB);
	l = world_ledger(w, "15ms");
	CHECK_INT(world_row(&l, 0, live)->evidence, TARE_EVIDENCE_EXACT);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, live), 16 * MIB);
	CHECK_INT(world_row(&l, 0, live)->evidence, TARE_EVIDENCE_INFERRED);
	CHECK(world_has_note(&l, "on a GPU they look cached"));
	tare_ledger_free(&l);
	world_free(w);
}
