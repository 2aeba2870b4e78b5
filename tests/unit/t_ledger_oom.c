/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out: what there was then, and why it was not enough. */
#include "ledger_world.h"
#include "test.h"

#define BASE     UINT64_C(0x7f0000000000)
#define C10_CUDA "/site-packages/torch/lib/libc10_cuda.so"

static void refused(struct world *w, int64_t t, uint64_t asked, const char *owner)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10,
	     .context = 0xc0, .asked = asked, .weigh = true, .before = 640 * MIB,
	     .after = 640 * MIB, .owner = owner, .flags = TARE_EVENT_FAILED);
}

/* The device has 143771 MiB, of which 640 are in use: what is asked is more than that. */
TEST(memory_runs_out_and_what_there_was_is_kept)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	refused(w, 7 * MS, 200000 * MIB, C10_CUDA);
	world_oom(w, 8 * MS, 200000 * MIB, 16 * MIB, 40 * MIB);
	world_tensor(w, 9 * MS, BASE, 0);
	world_oom(w, 10 * MS, 30 * MIB, 4 * MIB, 40 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.oom_nr, 1); /* both of a line that is not known */
	CHECK_INT((int64_t)l.ooms[0].count, 2);
	CHECK_INT(l.ooms[0].t_ns, 8 * MS);
	CHECK_INT((int64_t)l.ooms[0].asked, 200000 * MIB);
	CHECK_INT((int64_t)l.ooms[0].segment, 200000 * MIB);
	CHECK_INT(l.ooms[0].elastic, 20 * MIB);
	CHECK_INT(l.ooms[0].stuck, 4 * MIB);
	CHECK_INT((int64_t)l.ooms[0].free,
		  (int64_t)(l.devices[0].total - l.devices[0].reserved) - 640 * MIB);
	CHECK_INT(l.ooms[0].verdict, TARE_OOM_NEED);
	tare_ledger_free(&l);
	world_free(w);
}

/* PyTorch goes on after a refusal, or forbids itself to ask; of others a refusal is the end of it. */
TEST(memory_runs_out_for_others_when_the_driver_refuses)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	refused(w, 7 * MS, 200000 * MIB, C10_CUDA);
	l = world_ledger(w, "end");
	CHECK_INT(l.oom_nr, 0);
	tare_ledger_free(&l);
	refused(w, 8 * MS, 150000 * MIB, "/usr/lib/libcublas.so.12");
	refused(w, 9 * MS, 1 * MIB, "/usr/lib/libcupy.so");
	l = world_ledger(w, "end");
	CHECK_INT(l.oom_nr, 2);
	CHECK_STR(l.ooms[0].owner, "cuBLAS");
	CHECK(!l.ooms[0].is_torch && l.ooms[0].allocated == TARE_NOT_KNOWN);
	CHECK_INT(l.ooms[0].verdict, TARE_OOM_NEED);
	CHECK_INT(l.ooms[1].t_ns, 9 * MS + 10);
	CHECK_INT(l.ooms[1].number, 2);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(memory_runs_out_by_the_programs_own_limit)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	world_oom(w, 8 * MS, 40 * MIB, 16 * MIB, 40 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.ooms[0].verdict, TARE_OOM_LIMIT);
	CHECK_INT((int64_t)l.ooms[0].segment, 0);
	tare_ledger_free(&l);
	world_free(w);
}
