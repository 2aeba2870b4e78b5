/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "tensors": what PyTorch's segments are made up of. */
#include "ledger_world.h"
#include "test.h"

#define TORCH_POOL "process:431/allocations/libc10_cuda"
#define BASE       UINT64_C(0x7f0000000000)
#define C10_CUDA   "/site-packages/torch/lib/libc10_cuda.so"
#define EXPANDABLE "process:431/vmm/libc10_cuda"

static void give_back(struct world *w, int64_t t, uint64_t at, int64_t before, int64_t size)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = t, .end = t + 10, .handle = at,
	     .context = 0xc0, .weigh = true, .before = before, .after = before - size);
}

TEST(tensors_a_segment_is_live_or_cached_wholly_or_beside_tensors)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_INT(world_bytes(&l, 0, TORCH_POOL), 40 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 16 * MIB);
	CHECK_INT(world_row(&l, 0, TORCH_POOL "/tensors")->count, 2);
	CHECK_INT(world_row(&l, 0, TORCH_POOL "/tensors")->evidence, TARE_EVIDENCE_EXACT);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 4 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/cached"), 20 * MIB);
	CHECK_INT(l.devices[0].elastic, 20 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_are_as_they_were_at_an_instant)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l = world_ledger(w, "5.5ms");

	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 21 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 19 * MIB);
	CHECK(!world_row(&l, 0, TORCH_POOL "/cached"));
	tare_ledger_free(&l);
	world_free(w);
}

/* At the peak the first segment was new and full; what comes later is not in it. */
TEST(tensors_of_the_peak_are_those_of_the_peak)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	world_tensor(w, 4 * MS, BASE, 20 * MIB);
	world_segment(w, 5 * MS, BASE + 100 * MIB, 2 * MIB, 620 * MIB);
	give_back(w, 6 * MS, BASE + 100 * MIB, 622 * MIB, 2 * MIB);
	world_tensor(w, 7 * MS, BASE, 0);
	world_tensor(w, 8 * MS, BASE, 3 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 20 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/cached"), 2 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 3 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 17 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/*
 * Readings overlap, so all of these calls are settled together, and what was handed out between two of them counts when they are. A picture
 * by category says of each moment what the table does.
 */
TEST(tensors_between_calls_that_are_settled_together)
{
	enum { SEGMENTS = 20, STEP = 1000000, TOOK = 400000, READING = 700000 };
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	for (int i = 0; i < SEGMENTS; i++) {
		int64_t begin = 3 * MS + (int64_t)i * STEP, before = (600 + 20 * (int64_t)i) * MIB;
		uint64_t at = BASE + (uint64_t)i * 32 * MIB;

		CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = begin, .end = begin + TOOK,
		     .handle = at, .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .owner = C10_CUDA, .weigh = true,
		     .before = before, .after = before + 20 * MIB, .reading_before = READING, .reading_after = READING);
		world_tensor(w, begin + TOOK + 100, at, 4 * MIB);
	}
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), SEGMENTS * 4 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* The device reaches its maximum with an empty segment; the moment with the most in it is shown. */
TEST(tensors_of_the_peak_are_the_most_while_it_lasts)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	world_tensor(w, 4 * MS, BASE, 5 * MIB);
	world_tensor(w, 5 * MS, BASE + 5 * MIB, 12 * MIB);
	world_tensor(w, 6 * MS, BASE, 0);
	world_segment(w, 7 * MS, BASE + 100 * MIB, 2 * MIB, 620 * MIB);
	give_back(w, 8 * MS, BASE + 100 * MIB, 622 * MIB, 2 * MIB);
	world_tensor(w, 9 * MS, BASE, 5 * MIB);
	world_segment(w, 10 * MS, BASE + 200 * MIB, 2 * MIB, 620 * MIB);
	world_tensor(w, 11 * MS, BASE + 200 * MIB, 1 * MIB);
	give_back(w, 12 * MS, BASE + 200 * MIB, 622 * MIB, 2 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 622 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 18 * MIB);
	CHECK_INT(l.devices[0].peak_t_ns, 11 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

/* As torch.cuda.max_memory_allocated() counts: the most in blocks, whatever the driver had given. */
TEST(tensors_have_a_peak_of_their_own)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	world_segment(w, 4 * MS, BASE + 100 * MIB, 20 * MIB, 620 * MIB);
	world_tensor(w, 5 * MS, BASE, 7 * MIB);
	world_tensor(w, 6 * MS, BASE, 0);
	give_back(w, 7 * MS, BASE + 100 * MIB, 640 * MIB, 20 * MIB);
	world_tensor(w, 8 * MS, BASE, 12 * MIB);
	world_tensor(w, 9 * MS, BASE + 12 * MIB, 512);
	world_tensor(w, 10 * MS, BASE + 12 * MIB, 0);
	world_tensor(w, 11 * MS, BASE + 12 * MIB, 512); /* as much again: the first time is meant */
	world_tensor(w, 12 * MS, BASE, 0);
	world_segment(w, 13 * MS, BASE + 200 * MIB, 40 * MIB, 620 * MIB);
	l = world_ledger(w, "peak:tensors");
	CHECK_INT(l.t_ns, -1);
	CHECK_INT(l.devices[0].t_ns, 9 * MS);
	CHECK_INT(l.devices[0].used, 620 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 12 * MIB + 512);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 8 * MIB - 512);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].used, 660 * MIB);
	CHECK_INT(l.devices[0].t_ns, 13 * MS + 10);
	tare_ledger_free(&l);
	world_free(w);
}

#define TRIED "/opt/libcudnn/libc10_cuda.so" /* as if cuDNN were on the stack */

static void piece(struct world *w, int64_t t, uint64_t handle, uint64_t at, int64_t before, const char *owner)
{
	CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .handle = handle,
	     .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true, .before = before,
	     .after = before + 20 * MIB, .owner = owner);
	CALL(w, .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_NEW, .begin = t + 100, .end = t + 110, .handle = at,
	     .parent = handle, .asked = 20 * MIB, .context = 0xc0);
}

static void no_piece(struct world *w, int64_t t, uint64_t handle, uint64_t at, int64_t before)
{
	CALL(w, .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_DEL, .begin = t, .end = t + 10, .handle = at,
	     .asked = 20 * MIB, .context = 0xc0);
	CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_DEL, .begin = t + 100, .end = t + 110, .handle = handle,
	     .context = 0xc0, .weigh = true, .before = before, .after = before - 20 * MIB);
}

/* Without checkpoints: what is folded while a trial runs is not known to be one. */
static struct tare_ledger whole(struct world *w, const char *at)
{
	struct tare_ledger l;

	world_build(w, NULL, &at, 1, &l);
	world_check_history(w);
	return l;
}

/* PyTorch counts what cuDNN tried with; the ledger has it in a row of its own, and both add up. */
TEST(tensors_of_the_peak_include_those_of_trials)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	world_tensor(w, 4 * MS, BASE, 12 * MIB);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 5 * MS + 10,
	     .handle = BASE + 100 * MIB, .context = 0xc0, .asked = 50 * MIB, .granted = 50 * MIB, .weigh = true,
	     .before = 620 * MIB, .after = 670 * MIB, .owner = TRIED);
	world_tensor(w, 6 * MS, BASE + 100 * MIB, 47 * MIB);
	world_tensor(w, 7 * MS, BASE + 100 * MIB, 0);
	give_back(w, 8 * MS, BASE + 100 * MIB, 670 * MIB, 50 * MIB);
	world_tensor(w, 9 * MS, BASE + 12 * MIB, 8 * MIB);
	l = whole(w, "peak:tensors");
	CHECK_INT(l.devices[0].t_ns, 6 * MS);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 12 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431/trial"), 50 * MIB);
	CHECK_INT(l.devices[0].segment_nr, 2);
	CHECK(l.devices[0].segments[1].is_trial || l.devices[0].segments[0].is_trial);
	CHECK_INT(l.devices[0].segments[0].live + l.devices[0].segments[1].live, 59 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(trials_are_known_in_expandable_segments)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	piece(w, 3 * MS, 0x100, BASE, 600 * MIB, C10_CUDA);
	world_tensor(w, 4 * MS, BASE, 10 * MIB);
	piece(w, 5 * MS, 0x101, BASE + 20 * MIB, 620 * MIB, TRIED);
	piece(w, 6 * MS, 0x102, BASE + 40 * MIB, 640 * MIB, TRIED);
	world_tensor(w, 7 * MS, BASE + 10 * MIB, 50 * MIB); /* begins in what was there */
	world_tensor(w, 8 * MS, BASE + 10 * MIB, 0);
	no_piece(w, 9 * MS, 0x102, BASE + 40 * MIB, 660 * MIB);
	no_piece(w, 10 * MS, 0x101, BASE + 20 * MIB, 640 * MIB);
	l = whole(w, "peak:tensors");
	CHECK_INT(l.devices[0].t_ns, 7 * MS);
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE "/tensors"), 20 * MIB);
	CHECK_INT(world_bytes(&l, 0, "process:431/trial"), 40 * MIB);
	CHECK_INT(l.devices[0].elastic, 40 * MIB);
	tare_ledger_free(&l);
	l = whole(w, "end");
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE "/tensors"), 10 * MIB);
	CHECK(!world_row(&l, 0, "process:431/trial") || !world_bytes(&l, 0, "process:431/trial"));
	tare_ledger_free(&l);
	world_free(w);
}

/* At the peak 12 MiB were out that nothing used any more but a cycle of objects. */
TEST(tensors_that_waited_for_the_collector)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	world_tensor_collected(w, 7 * MS, BASE);
	world_tensor_collected(w, 8 * MS, BASE + 90 * MIB); /* was never seen */
	l = world_ledger(w, "peak:tensors");
	CHECK_INT((int64_t)l.devices[0].collected.blocks, 0);
	CHECK_INT(l.devices[0].collected.waiting, 12 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT((int64_t)l.devices[0].collected.blocks, 1);
	CHECK_INT(l.devices[0].collected.bytes, 12 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_that_nobody_made_have_no_peak)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	give_back(w, 4 * MS, BASE, 620 * MIB, 20 * MIB);
	l = world_ledger(w, "peak:tensors");
	CHECK_INT(l.devices[0].used, 620 * MIB);
	CHECK(world_has_note(&l, "no tensor of a GPU was recorded"));
	tare_ledger_free(&l);
	world_free(w);
}

/* What Python frees while it is taken down was there at the end. */
TEST(tensors_of_the_end_are_those_before_the_teardown)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	world_tensor_of_teardown(w, 7 * MS, BASE);
	world_tensor_of_teardown(w, 8 * MS, BASE + 12 * MIB);
	give_back(w, 9 * MS, BASE, 640 * MIB, 20 * MIB);
	world_end(w, 0, 10 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].used, 640 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 16 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* A segment that goes while blocks are in it takes them along: their ends mean nothing any more. */
TEST(tensors_go_with_their_segment)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	give_back(w, 7 * MS, BASE, 640 * MIB, 20 * MIB);
	world_segment(w, 8 * MS, BASE, 20 * MIB, 620 * MIB);
	world_tensor(w, 9 * MS, BASE, 1 * MIB);
	world_tensor(w, 10 * MS, BASE + 12 * MIB, 0); /* of the segment that went */
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 1 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 19 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/cached"), 20 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_go_with_their_context)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 7 * MS, .end = 8 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 640 * MIB, .after = 100 * MIB);
	l = world_ledger(w, "9ms");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL), 0);
	CHECK(!world_row(&l, 0, TORCH_POOL "/tensors"));
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Expandable segments: pages of 20 MiB mapped side by side, and blocks across their borders. */
TEST(tensors_of_another_context_stay)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 7 * MS, .end = 8 * MS, .handle = 0xc1,
	     .context = 0xc1, .weigh = true, .before = 640 * MIB, .after = 740 * MIB);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 9 * MS, .end = 9 * MS + 10,
	     .handle = BASE + 200 * MIB, .context = 0xc1, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true,
	     .before = 740 * MIB, .after = 760 * MIB, .owner = C10_CUDA);
	world_tensor(w, 10 * MS, BASE + 200 * MIB, 7 * MIB);
	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_DEL, .begin = 11 * MS, .end = 12 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 760 * MIB, .after = 220 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 7 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 13 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 23 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_in_expandable_segments_may_lie_in_several)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	for (int i = 0; i < 3; i++) {
		CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_NEW, .begin = (3 + i) * MS, .end = (3 + i) * MS + 10,
		     .handle = 0x100 + (uint64_t)i, .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true,
		     .before = (600 + 20 * i) * MIB, .after = (620 + 20 * i) * MIB,
		     .owner = "/site-packages/torch/lib/libc10_cuda.so");
		CALL(w, .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_NEW, .begin = (3 + i) * MS + 100000,
		     .end = (3 + i) * MS + 100010, .handle = BASE + (uint64_t)(20 * i * MIB), .parent = 0x100 + (uint64_t)i,
		     .asked = 20 * MIB, .context = 0xc0);
	}
	world_tensor(w, 7 * MS, BASE + 10 * MIB, 12 * MIB);
	world_tensor(w, 8 * MS, BASE + 22 * MIB, 1 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE), 60 * MIB);
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE "/tensors"), 13 * MIB);
	CHECK_INT(world_row(&l, 0, EXPANDABLE "/tensors")->count, 2);
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE "/partly"), 27 * MIB);
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE "/cached"), 20 * MIB);
	CHECK_INT(l.devices[0].segment_nr, 3);
	CHECK(l.devices[0].segments[0].is_expandable);
	CHECK_INT(l.devices[0].segments[0].live, 3 * MIB); /* 2 of a block that begins before it, 1 of its own */
	CHECK_INT(l.devices[0].segments[0].pin_bytes, 12 * MIB);
	CHECK_INT(l.devices[0].segments[2].live, 0);
	tare_ledger_free(&l);
	CALL(w, .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_DEL, .begin = 9 * MS, .end = 9 * MS + 10, .handle = BASE,
	     .asked = 20 * MIB, .context = 0xc0);
	world_tensor(w, 10 * MS, BASE + 10 * MIB, 0); /* it went with the mapping it began in */
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE "/tensors"), 1 * MIB);
	CHECK_INT(world_bytes(&l, 0, EXPANDABLE "/partly"), 19 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* The segments of an instant, with what pins them, and the same sums as in the rows. */
TEST(segments_say_which_block_pins_them)
{
	struct world *w = world_torch_pool();
	const struct tare_pool_segment *s;
	struct tare_ledger l;

	world_tensor(w, 7 * MS, BASE, 0);
	world_tensor(w, 8 * MS, BASE + 100 * MIB, 512);
	world_tensor_of_backward(w, 11 * MS, BASE, 512);
	world_tensor(w, 12 * MS, BASE + 12 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK_STR(l.devices[0].segments[0].pin_line, "backward (autograd's threads, no Python line)");
	tare_ledger_free(&l);
	l = world_ledger(w, "10ms");
	CHECK_INT(l.devices[0].segment_nr, 2);
	s = &l.devices[0].segments[0];
	CHECK_INT((int64_t)s->address, (int64_t)(BASE + 100 * MIB));
	CHECK_INT(s->bytes - s->live, 20 * MIB - 512);
	CHECK_INT((int64_t)s->blocks, 1);
	CHECK_INT(s->pin_bytes, 512);
	CHECK_INT(s->pin_born_ns, 8 * MS);
	CHECK(!s->pin_line);
	s = &l.devices[0].segments[1];
	CHECK_INT(s->live, 4 * MIB);
	CHECK_INT((int64_t)s->pin_address, (int64_t)(BASE + 12 * MIB));
	CHECK(!s->is_held && !s->is_of_graph && !s->is_expandable);
	tare_ledger_free(&l);
	world_free(w);
}

/* At the peak the blocks were others: the first segment was full, the second had two. */
TEST(segments_of_a_peak_are_those_of_the_peak)
{
	struct world *w = world_new();
	const struct tare_pool_segment *s;
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	world_tensor(w, 4 * MS, BASE, 20 * MIB);
	world_segment(w, 5 * MS, BASE + 100 * MIB, 2 * MIB, 620 * MIB);
	world_tensor(w, 6 * MS, BASE + 100 * MIB, 1024);
	world_tensor(w, 7 * MS, BASE + 101 * MIB, 512);
	world_tensor(w, 8 * MS, BASE, 0);
	world_tensor(w, 9 * MS, BASE + 101 * MIB, 0);
	world_tensor(w, 9 * MS + 1, BASE + 100 * MIB, 0);
	give_back(w, 10 * MS, BASE + 100 * MIB, 622 * MIB, 2 * MIB);
	world_tensor(w, 11 * MS, BASE, 3 * MIB);
	for (int i = 0; i < 2; i++) {
		l = world_ledger(w, i ? "peak:tensors" : "peak");
		CHECK_INT(l.devices[0].segment_nr, 2);
		s = &l.devices[0].segments[0];
		CHECK_INT((int64_t)s->address, (int64_t)(BASE + 100 * MIB));
		CHECK_INT(s->live, 1536);
		CHECK_INT((int64_t)s->blocks, 2);
		CHECK_INT(s->pin_bytes, 1024);
		CHECK_INT(l.devices[0].segments[1].live, 20 * MIB);
		tare_ledger_free(&l);
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].segment_nr, 1);
	CHECK_INT(l.devices[0].segments[0].pin_born_ns, 11 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_that_make_no_sense_change_no_sum)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	world_tensor(w, 7 * MS, BASE, 10 * MIB);
	world_tensor(w, 7 * MS + 1, BASE + 90 * MIB, 7 * MIB);
	world_tensor(w, 7 * MS + 2, BASE + 91 * MIB, 0);
	world_tensor(w, 7 * MS + 3, BASE + 1, INT64_MAX);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL), 40 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 14 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Without a word of tensors the pool is one row, as before. */
TEST(tensors_not_recorded_leave_the_pool_whole)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	l = world_ledger(w, "end");
	CHECK(world_row(&l, 0, TORCH_POOL)->leaf);
	CHECK_INT(l.devices[0].elastic, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_what_pytorch_says_of_itself_is_compared_and_its_rounding_kept)
{
	struct world *w = world_torch_pool();
	const struct tare_pool_self_report *said;
	struct tare_ledger l;

	world_self_report(w, 4 * MS + 10, 16 * MIB, 20 * MIB, 15 * MIB);
	world_self_report(w, 7 * MS, 16 * MIB, 40 * MIB, 14 * MIB);
	l = world_ledger(w, "4.5ms");
	CHECK_INT(l.devices[0].self_report_nr, 1);
	CHECK_INT(l.devices[0].self_reports[0].requested, 15 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "3ms");
	CHECK_INT(l.devices[0].self_report_nr, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].self_report_nr, 1);
	said = &l.devices[0].self_reports[0];
	CHECK_INT(said->requested, 14 * MIB);
	CHECK_INT(said->is_compared, true);
	CHECK_INT(said->live, 16 * MIB);
	CHECK_INT(said->segments, 40 * MIB);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_where_pytorch_counts_otherwise_one_line_says_by_how_much)
{
	struct world *w = world_torch_pool();
	struct tare_ledger l;

	world_self_report(w, 7 * MS, 17 * MIB, 38 * MIB, (int64_t)TARE_NOT_KNOWN);
	world_self_report(w, 8 * MS, 18 * MIB, 38 * MIB, (int64_t)TARE_NOT_KNOWN);
	world_self_report(w, 9 * MS, 39 * MIB, 38 * MIB, 0); /* nonsense: more in blocks than in segments */
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].self_reports[0].requested, -1);
	CHECK_INT(l.devices[0].self_reports[0].allocated, 18 * MIB);
	CHECK_INT(l.degraded_nr, 1);
	CHECK_STR(l.degraded[0], "GPU 0: PyTorch's allocator of process 431 counted otherwise at 7 ms: it had 1.0 MiB "
	                         "more in blocks and 2.0 MiB less in segments than the ledger");
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_without_blocks_there_is_nothing_to_compare)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	world_self_report(w, 7 * MS, 17 * MIB, 20 * MIB, 17 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].self_reports[0].is_compared, false);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Two processes map one file, and one of them another; of a third piece nobody said the file. */
TEST(shared_memory_counts_once)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int child = world_process(w, 500, 0, "train.py worker 1");

	world_mapped_file(w, 0, 1 * MS, 0x1000, 7);
	world_host_tensor(w, 0, 1 * MS, 0x1000, 24 * MIB, TARE_TENSOR_MAPPED);
	world_mapped_file(w, child, 2 * MS, 0x1000, 7);
	world_host_tensor(w, child, 2 * MS, 0x1000, 24 * MIB, TARE_TENSOR_MAPPED);
	world_mapped_file(w, child, 3 * MS, 0x2000, 8);
	world_host_tensor(w, child, 3 * MS, 0x2000, 3 * MIB, TARE_TENSOR_MAPPED);
	world_host_tensor(w, 0, 4 * MS, 0x2000, 3 * MIB, TARE_TENSOR_MAPPED);
	world_host_tensor(w, 0, 5 * MS, 0x3000, 1 * MIB, 0);
	l = world_ledger(w, "peak:host");
	CHECK_INT(l.shared.bytes, 30 * MIB);
	CHECK_INT(l.shared.count, 3);
	CHECK_INT(l.hosts[0].tensors.mapped, 27 * MIB); /* what each has mapped */
	CHECK_INT(l.hosts[1].tensors.mapped, 27 * MIB);
	tare_ledger_free(&l);

	world_host_tensor(w, 0, 6 * MS, 0x1000, 0, TARE_TENSOR_MAPPED); /* the child still has it */
	l = world_ledger(w, "end");
	CHECK_INT(l.shared.bytes, 30 * MIB);
	tare_ledger_free(&l);
	world_host_tensor(w, child, 7 * MS, 0x1000, 0, TARE_TENSOR_MAPPED);
	l = world_ledger(w, "end");
	CHECK_INT(l.shared.bytes, 6 * MIB);
	CHECK_INT(l.shared.count, 2);
	tare_ledger_free(&l);
	world_free(w);
}
