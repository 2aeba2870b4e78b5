/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out: what there was then, and why it was not enough. */
#include "ledger_world.h"
#include "test.h"

#define BASE     UINT64_C(0x7f0000000000)
#define C10_CUDA "/site-packages/torch/lib/libc10_cuda.so"

static void refused(struct world *w, int64_t t, uint64_t asked, const char *owner)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .context = 0xc0,
	     .asked = asked, .weigh = true, .before = 640 * MIB, .after = 640 * MIB, .owner = owner,
	     .flags = TARE_EVENT_FAILED);
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
	CHECK_INT((int64_t)l.ooms[0].free, (int64_t)(l.devices[0].total - l.devices[0].reserved) - 640 * MIB);
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

/* What is stuck would have served it: that is the reason only where it is something beside what is live. */
TEST(memory_runs_out_in_pieces_or_because_all_is_in_use)
{
	static const uint64_t live[] = { 16 * MIB, 1000000000 * MIB };
	static const enum tare_oom_verdict verdicts[] = { TARE_OOM_FRAGMENTED, TARE_OOM_FULL };

	for (int i = 0; i < 2; i++) {
		struct world *w = world_torch_pool();
		struct tare_ledger l = world_ledger(w, "end");
		uint64_t asked = l.devices[0].total - l.devices[0].reserved - 640 * MIB + 22 * MIB;

		tare_ledger_free(&l);
		refused(w, 7 * MS, asked, C10_CUDA);
		world_oom(w, 8 * MS, asked, live[i], 40 * MIB);
		l = world_ledger(w, "end");
		CHECK_INT(l.ooms[0].verdict, verdicts[i]);
		tare_ledger_free(&l);
		world_free(w);
	}
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

/* Of the CPU the record says why; what there was then are the tensors of the process, and of others. */
TEST(memory_runs_out_on_the_cpu)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_process(w, 2, 0, "worker.py");
	world_host_tensor(w, 0, 1 * MS, 0x1000, 100 * MIB, 0);
	world_host_tensor(w, 1, 2 * MS, 0x1000, 7 * MIB, 0);
	world_cpu_oom(w, 0, 3 * MS, 64 * MIB, 4000 * MIB, 32 * MIB);
	world_host_tensor(w, 0, 4 * MS, 0x1000, 0, 0);
	world_cpu_oom(w, 1, 5 * MS, 9000 * MIB, 4000 * MIB, TARE_NOT_KNOWN);
	l = world_ledger(w, "end");
	CHECK_INT(l.oom_nr, 2);
	CHECK_INT(l.ooms[0].device, -1);
	CHECK_INT(l.ooms[0].t_ns, 3 * MS);
	CHECK_INT(l.ooms[0].pid, (int64_t)world_process_at(w, 0)->pid);
	CHECK(l.ooms[0].is_torch && l.ooms[0].reserved == TARE_NOT_KNOWN);
	CHECK_INT((int64_t)l.ooms[0].allocated, 100 * MIB);
	CHECK_INT(l.ooms[0].others, 7 * MIB);
	CHECK_INT((int64_t)l.ooms[0].free, 4000 * MIB);
	CHECK_INT((int64_t)l.ooms[0].room, 32 * MIB);
	CHECK_INT(l.ooms[0].verdict, TARE_OOM_LIMIT);
	CHECK_INT(l.ooms[1].verdict, TARE_OOM_NEED);
	CHECK_INT(l.ooms[1].others, 0);
	tare_ledger_free(&l);
	world_cpu_oom(w, 1, 5 * MS, 3000 * MIB, 4000 * MIB, 8000 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.oom_nr, 2);
	CHECK_INT((int64_t)l.ooms[1].count, 2);
	tare_ledger_free(&l);
	world_free(w);
}
