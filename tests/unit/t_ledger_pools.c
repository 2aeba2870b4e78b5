/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "pools": asynchronous pools that say what they have. */
#include "ledger_world.h"
#include "test.h"

#define PROCESS  "process:431"
#define CONTEXT  UINT64_C(0xc0)
#define STANDARD UINT64_C(0x900)

/* 100 MiB in use, a context +523. */
static struct world *started(void)
{
	struct world *w = world_new();

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = CONTEXT,
	     .context = CONTEXT, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 100 * MIB, .after = 623 * MIB);
	return w;
}

/* The event of an allocation that made the pool grow. */
static void grow(struct world *w, int64_t t, int64_t reserved, int64_t used)
{
	CALL(w, .class = TARE_CLASS_POOL_STATE, .effect = TARE_EFFECT_CHANGE, .begin = t, .end = t + 10, .handle = STANDARD,
	     .context = CONTEXT, .granted = (uint64_t)reserved, .asked = (uint64_t)used,
	     .owner = "/usr/lib/libanything.so");
}

static void check_pool(const struct tare_ledger *l, const char *name, int64_t used, int64_t idle)
{
	char path[128];

	snprintf(path, sizeof(path), PROCESS "/pools/%s/used", name);
	CHECK_INT(world_bytes(l, 0, path), used);
	CHECK_INT(world_row(l, 0, path)->evidence, TARE_EVIDENCE_EXACT);
	CHECK_INT(world_row(l, 0, path)->count, 1);
	CHECK(!world_row(l, 0, path)->elastic);
	snprintf(path, sizeof(path), PROCESS "/pools/%s/idle", name);
	if (!world_row(l, 0, path)) {
		CHECK_INT(idle, 0);
		return;
	}
	CHECK_INT(world_bytes(l, 0, path), idle);
	CHECK(world_row(l, 0, path)->elastic);
}

TEST(pool_rows_are_what_it_said_last)
{
	struct world *w = started();
	struct tare_ledger l;

	grow(w, 3 * MS, 128 * MIB, 100 * MIB);
	POOL(w, .begin = 4 * MS, .end = 4 * MS + 10, .handle = STANDARD, .reserved = 128 * MIB, .used = 110 * MIB);
	POOL(w, .begin = 5 * MS, .end = 5 * MS + 10, .handle = STANDARD, .reserved = 128 * MIB, .used = 10 * MIB);
	world_reading(w, 0, 6 * MS, 751 * MIB);
	l = world_ledger(w, "end");
	check_pool(&l, "default", 10 * MIB, 118 * MIB);
	CHECK_INT(l.devices[0].used, 751 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.devices[0].elastic, 118 * MIB);
	tare_ledger_free(&l);
	/* The first moment at which the device had the most. */
	l = world_ledger(w, "peak");
	check_pool(&l, "default", 100 * MIB, 28 * MIB);
	tare_ledger_free(&l);

	POOL(w, .begin = 7 * MS, .end = 8 * MS, .handle = STANDARD, .reserved = 32 * MIB, .used = 10 * MIB);
	world_reading(w, 0, 9 * MS, 655 * MIB);
	l = world_ledger(w, "end");
	check_pool(&l, "default", 10 * MIB, 22 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(pools_are_called_after_who_made_them)
{
	struct world *w = started();
	struct tare_ledger l;

	for (uint32_t i = 1; i <= 2; i++) {
		CALL(w, .class = TARE_CLASS_POOL_STATE, .effect = TARE_EFFECT_NEW, .begin = (2 + i) * MS,
		     .end = (2 + i) * MS + 10, .handle = STANDARD + i, .context = CONTEXT, .limit = i,
		     .owner = "/usr/lib/librmm.so.1");
		POOL(w, .begin = (5 + i) * MS, .end = (5 + i) * MS + 10, .handle = STANDARD + i, .number = i,
		     .reserved = 32 * MIB * i, .used = MIB);
	}
	l = world_ledger(w, "end");
	check_pool(&l, "librmm:1", MIB, 31 * MIB);
	check_pool(&l, "librmm:2", MIB, 63 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/pools"), 96 * MIB);
	tare_ledger_free(&l);

	CALL(w, .class = TARE_CLASS_POOL_STATE, .effect = TARE_EFFECT_DEL, .begin = 10 * MS, .end = 11 * MS,
	     .handle = STANDARD + 1, .weigh = true, .before = 719 * MIB, .after = 687 * MIB);
	l = world_ledger(w, "end");
	CHECK(!world_row(&l, 0, PROCESS "/pools/librmm:1/idle"));
	check_pool(&l, "librmm:2", MIB, 63 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* It was destroyed while something of it was in use: that comes back when the program waits. */
TEST(pool_that_is_destroyed_in_use_is_weighed_from_there_on)
{
	struct world *w = started();
	struct tare_ledger l;

	grow(w, 3 * MS, 64 * MIB, 40 * MIB);
	CALL(w, .class = TARE_CLASS_POOL_STATE, .effect = TARE_EFFECT_DEL, .begin = 4 * MS, .end = 5 * MS,
	     .handle = STANDARD, .weigh = true, .before = 687 * MIB, .after = 687 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/pools"), 64 * MIB);
	CHECK(!world_row(&l, 0, PROCESS "/pools/default/idle"));
	tare_ledger_free(&l);

	CALL(w, .class = TARE_CLASS_POOL, .effect = TARE_EFFECT_CHANGE, .begin = 6 * MS, .end = 7 * MS, .context = CONTEXT,
	     .weigh = true, .before = 687 * MIB, .after = 623 * MIB);
	l = world_ledger(w, "end");
	CHECK(!world_row(&l, 0, PROCESS "/pools") || world_bytes(&l, 0, PROCESS "/pools") == 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* In a weighed wait the pool gives back what it says, and the rest is somebody else's. */
TEST(pool_inside_a_weighed_call_has_its_part_of_it)
{
	struct world *w = started();
	struct tare_ledger l;

	grow(w, 3 * MS, 128 * MIB, 0);
	CALL(w, .class = TARE_CLASS_MODULE, .effect = TARE_EFFECT_NEW, .begin = 4 * MS, .end = 5 * MS, .handle = 1,
	     .context = CONTEXT, .weigh = true, .before = 751 * MIB, .after = 661 * MIB);
	POOL(w, .tid = 1 | TARE_TID_INSIDE, .begin = 4 * MS, .end = 5 * MS, .handle = STANDARD, .reserved = 32 * MIB,
	     .used = 0);
	l = world_ledger(w, "end");
	check_pool(&l, "default", 0, 32 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/code"), 6 * MIB);
	CHECK(!world_row(&l, 0, PROCESS "/code")->contended);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(pools_go_with_the_context)
{
	struct world *w = started();
	struct tare_ledger l;

	grow(w, 3 * MS, 128 * MIB, 100 * MIB);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 4 * MS, .end = 5 * MS, .handle = CONTEXT,
	     .context = CONTEXT, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 751 * MIB, .after = 100 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/pools"), 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Eight threads write out of order; who asked last has the last word. */
TEST(pool_of_several_threads_is_what_the_last_stamp_says)
{
	struct world *w = started();
	struct tare_ledger l;

	grow(w, 3 * MS, 128 * MIB, 100 * MIB);
	for (uint32_t i = 0; i < 8; i++)
		POOL(w, .tid = 8 - i, .begin = 4 * MS, .end = 4 * MS + 800 - 100 * i, .handle = STANDARD,
		     .reserved = (128 + 32 * (8 - i)) * MIB, .used = (8 - i) * MIB);
	world_reading(w, 0, 6 * MS, (623 + 128 + 256) * MIB);
	l = world_ledger(w, "end");
	check_pool(&l, "default", 8 * MIB, (128 + 256 - 8) * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* A damaged record may say anything; the books balance all the same. */
TEST(pool_that_talks_nonsense)
{
	struct world *w = started();
	struct tare_ledger l;

	POOL(w, .begin = 4 * MS, .end = 5 * MS, .handle = STANDARD, .reserved = 1 * MIB, .used = 7 * MIB);
	POOL(w, .begin = 6 * MS, .end = 7 * MS, .handle = 0, .reserved = 1 * MIB, .used = 0);
	POOL(w, .begin = 8 * MS, .end = 9 * MS, .handle = 5, .number = 3, .reserved = -1, .used = -1);
	l = world_ledger(w, "end");
	check_pool(&l, "default", 1 * MIB, 0);
	CHECK(world_row(&l, 0, PROCESS "/pools/pool:3/used"));
	tare_ledger_free(&l);
	world_free(w);
}
