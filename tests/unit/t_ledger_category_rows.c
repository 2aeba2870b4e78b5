/* SPDX-License-Identifier: Apache-2.0 */
/* What live tensors are for, as rows of the ledger. */
#include "ledger_world.h"
#include "test.h"
#include "torch_frames.h"

#include <string.h>

#define TORCH "process:431/allocations/libc10_cuda"
#define LIVE  TORCH "/tensors"
#define BASE  UINT64_C(0x7f0000000000)
#define C10   "/site-packages/torch/lib/libc10_cuda.so"

enum { AUTO = TARE_TENSOR_BACKWARD };

static void block(struct world *w, bool is_host, int64_t t, uint64_t at, int64_t bytes, unsigned int flags,
                  const struct tare_line *frames)
{
	struct world_block b = { .is_host = is_host, .t = t * MS, .block = at, .bytes = bytes, .flags = flags };

	for (int i = 0; frames && frames[i].file; i++)
		b.frames[i] = frames[i];
	world_block(w, b);
}

/* Three steps at 10, 20, 30 ms: a weight of 1 MiB, x of 2, y of 4, its gradient, a state of 8, and a scratch of 16. */
static void train(struct world *w, bool is_host)
{
	block(w, is_host, 5, BASE, 1 * MIB, 0, init);
	for (int64_t i = 1; i <= 3; i++) {
		block(w, is_host, 10 * i, BASE + 1 * MIB, 2 * MIB, 0, program);
		block(w, is_host, 10 * i + 1, BASE + 3 * MIB, 4 * MIB, TARE_TENSOR_GRAD, linear);
		block(w, is_host, 10 * i + 2, BASE + 7 * MIB, 1 * MIB, AUTO, backward);
		block(w, is_host, 10 * i + 3, BASE + 3 * MIB, 0, AUTO, backward);
		if (i == 1)
			block(w, is_host, 10 * i + 4, BASE + 8 * MIB, 8 * MIB, 0, adam);
		block(w, is_host, 10 * i + 5, BASE + 20 * MIB, 16 * MIB, 0, adam);
		block(w, is_host, 10 * i + 6, BASE + 20 * MIB, 0, 0, NULL);
		block(w, is_host, 10 * i + 7, BASE + 7 * MIB, 0, 0, NULL);
		block(w, is_host, 10 * i + 8, BASE + 1 * MIB, 0, 0, NULL);
	}
}

static struct world *training(void)
{
	struct world *w = world_new();

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 100 * MIB, .after = 600 * MIB);
	world_segment(w, 3 * MS, BASE, 40 * MIB, 600 * MIB);
	train(w, false);
	return w;
}

TEST(categories_are_rows_below_live_tensors)
{
	struct world *w = training();
	struct tare_ledger l = world_ledger(w, "peak:tensors");
	const struct tare_row *live = world_row(&l, 0, LIVE);

	CHECK_INT(l.devices[0].t_ns, 15 * MS);
	CHECK_INT(live->bytes, 28 * MIB);
	CHECK_INT(live->evidence, TARE_EVIDENCE_EXACT);
	CHECK(live->has_categories && !live->leaf && tare_row_is_end(live));
	CHECK_INT(world_row(&l, 0, TORCH)->evidence, TARE_EVIDENCE_EXACT);
	CHECK_INT(world_bytes(&l, 0, LIVE "/parameter"), 1 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/gradient"), 1 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/optimizer state"), 8 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/input"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/temporary"), 16 * MIB);
	CHECK(!world_row(&l, 0, LIVE "/activation"));
	CHECK(world_row(&l, 0, LIVE "/input")->leaf && !tare_row_is_end(world_row(&l, 0, LIVE "/input")));
	CHECK_INT(world_row(&l, 0, LIVE "/temporary")->count, 1);
	CHECK_INT(world_row(&l, 0, LIVE "/temporary")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(world_row(&l, 0, LIVE "/temporary")->pid, 431);
	CHECK_INT(live[1].parent, (int)(live - l.devices[0].rows));
	CHECK_STR(world_row(&l, 0, TORCH "/partly")->label, "cached beside live tensors");
	tare_ledger_free(&l);
	world_free(w);
}

/* At an instant it is not known yet how its blocks will go. */
TEST(categories_are_rows_at_every_instant)
{
	struct world *w = training();
	struct tare_ledger l = world_ledger(w, "21.5ms");

	CHECK_INT(world_bytes(&l, 0, LIVE), 15 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/activation"), 4 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/optimizer state"), 8 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, LIVE), 9 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/parameter"), 1 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* A block of a cuDNN trial is in the row of that: what is not in the row of live tensors has no category there. */
TEST(categories_leave_trials_out)
{
	struct world *w = training();
	const char *at = "41.5ms";
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 40 * MS, .end = 40 * MS + 10,
	     .handle = BASE + 100 * MIB, .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true,
	     .before = 640 * MIB, .after = 660 * MIB, .owner = "/opt/libcudnn/libc10_cuda.so");
	block(w, false, 41, BASE + 100 * MIB, 20 * MIB, 0, program);
	block(w, false, 42, BASE + 100 * MIB, 0, 0, NULL);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = 43 * MS, .end = 43 * MS + 10,
	     .handle = BASE + 100 * MIB, .context = 0xc0, .weigh = true, .before = 660 * MIB, .after = 640 * MIB);
	world_build(w, NULL, &at, 1, &l); /* a trial that a fold falls into is not known to be one */
	CHECK_INT(world_bytes(&l, 0, "process:431/trial"), 20 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE), 9 * MIB);
	CHECK_INT(world_bytes(&l, 0, LIVE "/parameter") + world_bytes(&l, 0, LIVE "/optimizer state"), 9 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

static int64_t on_cpu(const struct tare_ledger *l, enum tare_category category)
{
	for (int i = 0; i < l->hosts[0].category_nr; i++)
		if (l->hosts[0].categories[i].category == category)
			return l->hosts[0].categories[i].bytes;
	return 0;
}

TEST(categories_of_tensors_on_the_cpu)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int64_t sum = 0;

	train(w, true);
	block(w, true, 40, BASE + 60 * MIB, 32 * MIB, TARE_TENSOR_MAPPED, program);
	l = world_ledger(w, "peak:host");
	CHECK_INT(l.hosts[0].tensors.bytes, 28 * MIB);
	CHECK_INT(on_cpu(&l, TARE_CATEGORY_TEMPORARY), 16 * MIB);
	CHECK_INT(on_cpu(&l, TARE_CATEGORY_OPTIMIZER), 8 * MIB);
	CHECK_INT(on_cpu(&l, TARE_CATEGORY_INPUT), 2 * MIB);
	for (int i = 0; i < l.hosts[0].category_nr; i++)
		sum += l.hosts[0].categories[i].bytes;
	CHECK_INT(sum, 28 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "40.5ms"); /* what is mapped is in a row of its own */
	CHECK_INT(l.hosts[0].tensors.mapped, 32 * MIB);
	CHECK_INT(on_cpu(&l, TARE_CATEGORY_PARAMETER) + on_cpu(&l, TARE_CATEGORY_OPTIMIZER), 9 * MIB);
	CHECK_INT(l.hosts[0].category_nr, 2);
	tare_ledger_free(&l);
	world_free(w);
}
