/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: captures, executable graphs, what is kept of them, and what could be saved. */
#include "ledger_world.h"
#include "test.h"

#define PROCESS "process:431"
#define CONTEXT 0xc0

/* A context, and 600 MiB in use. */
static struct world *started(void)
{
	struct world *w = world_new();

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = CONTEXT,
	     .context = CONTEXT, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 100 * MIB, .after = 600 * MIB);
	return w;
}

static void begin(struct world *w, int64_t t, uint32_t tid, uint64_t stream)
{
	CALL(w, .class = TARE_CLASS_CAPTURE, .effect = TARE_EFFECT_CHANGE, .begin = t, .end = t + 10, .tid = tid,
	     .context = CONTEXT, .handle = stream, .limit = TARE_GRAPH_CALL_BEGIN);
}

static void begin_in_pool(struct world *w, int64_t t, uint64_t stream, uint64_t object, uint64_t first, uint64_t second)
{
	CALL(w, .class = TARE_CLASS_CAPTURE, .effect = TARE_EFFECT_CHANGE, .begin = t, .end = t + 10, .context = CONTEXT,
	     .handle = stream, .limit = TARE_GRAPH_CALL_BEGIN, .parent = object, .asked = first, .granted = second,
	     .flags = TARE_EVENT_POOL_TOLD);
}

static void end(struct world *w, int64_t t, uint32_t tid, uint64_t stream, uint64_t graph)
{
	CALL(w, .class = TARE_CLASS_CAPTURE, .effect = TARE_EFFECT_CHANGE, .begin = t, .end = t + 10, .tid = tid,
	     .context = CONTEXT, .handle = stream, .parent = graph, .limit = TARE_GRAPH_CALL_END,
	     .flags = graph ? 0 : TARE_EVENT_FAILED);
}

static void instantiate(struct world *w, int64_t t, uint64_t exec, uint64_t graph, uint64_t kernels, int64_t before,
                        int64_t change)
{
	world_graph(w, 0, t + 10,
	            &(struct tare_rec_graph){ .tid = 1,
	                                      .flags = TARE_GRAPH_FLAG_NODES,
	                                      .exec = exec,
	                                      .nodes = kernels + 1,
	                                      .kernels = kernels,
	                                      .memsets = 1 });
	CALL(w, .class = TARE_CLASS_GRAPH, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .context = CONTEXT,
	     .handle = exec, .parent = graph, .limit = TARE_GRAPH_CALL_INSTANTIATE, .weigh = true, .before = before,
	     .after = before + change);
}

static void exec_call(struct world *w, int64_t t, enum tare_graph_call call, uint64_t exec, int64_t before,
                      int64_t change)
{
	CALL(w, .class = TARE_CLASS_GRAPH, .effect = call == TARE_GRAPH_CALL_DESTROY ? TARE_EFFECT_DEL : TARE_EFFECT_CHANGE,
	     .begin = t, .end = t + 10, .context = CONTEXT, .handle = exec, .limit = call, .weigh = true, .before = before,
	     .after = before + change);
}

static void alloc(struct world *w, int64_t t, uint32_t tid, uint64_t address, int64_t before, int64_t bytes,
                  const char *owner)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .tid = tid,
	     .context = CONTEXT, .handle = address, .asked = (uint64_t)bytes, .granted = (uint64_t)bytes, .weigh = true,
	     .before = before, .after = before + bytes, .owner = owner);
}

static void release(struct world *w, int64_t t, uint64_t address, int64_t before, int64_t bytes)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = t, .end = t + 10, .context = CONTEXT,
	     .handle = address, .weigh = true, .before = before, .after = before - bytes);
}

#define BASE UINT64_C(0x7f0000000000)

static const struct tare_graph *graph(const struct tare_ledger *l, uint64_t number)
{
	for (int i = 0; i < l->graph_nr; i++)
		if (l->graphs[i].number == number)
			return &l->graphs[i];
	test_fail(__FILE__, __LINE__, "there is no graph %d", (int)number);
}

static int64_t saved(const struct tare_ledger *l, enum tare_graph_saving_kind kind)
{
	for (int i = 0; i < l->saving_nr; i++)
		if (l->savings[i].kind == kind)
			return l->savings[i].have - l->savings[i].need;
	return -1;
}

#define TORCH_POOL PROCESS "/allocations/libc10_cuda"
#define C10_CUDA   "/site-packages/torch/lib/libc10_cuda.so"

/* Two graphs share a pool; what is cached in it is theirs until the last of them is gone. */
static struct world *captured_in_a_pool(void)
{
	struct world *w = started();

	alloc(w, 3 * MS, 1, BASE, 600 * MIB, 20 * MIB, C10_CUDA);
	world_tensor(w, 4 * MS, BASE, 1 * MIB);
	begin_in_pool(w, 5 * MS, 0x51, 0x1, 0, 7);
	alloc(w, 6 * MS, 1, BASE + 64 * MIB, 620 * MIB, 30 * MIB, C10_CUDA);
	world_tensor(w, 6 * MS + 100, BASE + 64 * MIB, 30 * MIB);
	world_tensor(w, 6 * MS + 200, BASE + 64 * MIB, 0);
	alloc(w, 7 * MS, 1, BASE + 128 * MIB, 650 * MIB, 10 * MIB, C10_CUDA);
	world_tensor(w, 7 * MS + 100, BASE + 128 * MIB, 4 * MIB);
	end(w, 8 * MS, 1, 0x51, 0x61);
	instantiate(w, 9 * MS, 0xe1, 0x61, 10, 660 * MIB, 0);
	begin_in_pool(w, 10 * MS, 0x51, 0x2, 0, 7);
	end(w, 11 * MS, 1, 0x51, 0x62);
	instantiate(w, 12 * MS, 0xe2, 0x62, 10, 660 * MIB, 0);
	world_tensor(w, 13 * MS, BASE, 0);
	exec_call(w, 14 * MS, TARE_GRAPH_CALL_DESTROY, 0xe1, 660 * MIB, 0);
	return w;
}

TEST(what_a_pool_of_graphs_caches_cannot_be_given_back)
{
	struct world *w = captured_in_a_pool();
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_INT(world_bytes(&l, 0, TORCH_POOL), 60 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/tensors"), 4 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 6 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/held"), 30 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/cached"), 20 * MIB);
	CHECK_INT(l.devices[0].elastic, 20 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_pool_without_graphs_can_be_given_back)
{
	struct world *w = captured_in_a_pool();
	struct tare_ledger l;

	exec_call(w, 15 * MS, TARE_GRAPH_CALL_DESTROY, 0xe2, 660 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK(!world_row(&l, 0, TORCH_POOL "/held"));
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 6 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/cached"), 50 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "12.5ms");
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/held"), 30 * MIB);
	CHECK_INT(world_bytes(&l, 0, TORCH_POOL "/partly"), 25 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_capture_and_what_is_made_of_it_is_one_row)
{
	struct world *w = started();
	const struct tare_graph *g;
	struct tare_ledger l;

	begin(w, 5 * MS, 1, 0x51);
	alloc(w, 6 * MS, 1, BASE, 600 * MIB, 20 * MIB, "/usr/lib/libtorch_cuda.so");
	alloc(w, 7 * MS, 1, BASE + 64 * MIB, 620 * MIB, 2 * MIB, "/usr/lib/libcublas.so.12");
	release(w, 8 * MS, BASE + 64 * MIB, 622 * MIB, 2 * MIB);
	end(w, 9 * MS, 1, 0x51, 0x61);
	instantiate(w, 10 * MS, 0xe1, 0x61, 270, 620 * MIB, 2 * MIB);
	exec_call(w, 11 * MS, TARE_GRAPH_CALL_UPLOAD, 0xe1, 622 * MIB, 4 * MIB);
	exec_call(w, 12 * MS, TARE_GRAPH_CALL_LAUNCH, 0xe1, 626 * MIB, 6 * MIB);
	alloc(w, 13 * MS, 1, BASE + 128 * MIB, 632 * MIB, 8 * MIB, "/usr/lib/libtorch_cuda.so");
	l = world_ledger(w, "end");
	CHECK_INT(l.graph_nr, 1);
	g = graph(&l, 1);
	CHECK_INT(g->state, TARE_GRAPH_STATE_CAPTURED);
	CHECK_INT(g->nodes, 271);
	CHECK_INT(g->kinds[TARE_NODE_KERNEL], 270);
	CHECK_INT(g->allocated, 20 * MIB);
	CHECK_INT(g->held, 20 * MIB);
	CHECK_INT(g->part_nr, 1);
	CHECK_STR(g->parts[0].label, "libtorch_cuda");
	CHECK_INT(g->at_instantiate, 2 * MIB);
	CHECK_INT(g->at_upload, 4 * MIB);
	CHECK_INT(g->at_launch, 6 * MIB);
	CHECK_INT(tare_graph_exec_bytes(g), 12 * MIB);
	CHECK_INT(g->used_after, 622 * MIB);
	CHECK_INT(g->execs, 1);
	CHECK_INT(g->alive, 1);
	CHECK(!(g->flags & TARE_GRAPH_FLAG_LAUNCHES)); /* nobody said yet */
	CHECK_INT(g->pool, 0);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs"), 12 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/execs"), 12 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/graphs/execs")->count, 1);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_graph_says_in_which_phase_it_was_captured)
{
	struct world *w = started();
	struct tare_ledger l;

	PHASE(w, .t = 3 * MS, .what = TARE_PHASE_PUSH, .tid = 1, .name = "setup");
	PHASE(w, .t = 4 * MS, .what = TARE_PHASE_PUSH, .tid = 1, .name = "force n=8");
	begin(w, 5 * MS, 1, 0x51);
	PHASE(w, .t = 6 * MS, .what = TARE_PHASE_POP, .tid = 1);
	end(w, 7 * MS, 1, 0x51, 0x61);
	instantiate(w, 8 * MS, 0x71, 0x61, 4, 600 * MIB, 2 * MIB);
	begin(w, 9 * MS, 2, 0x52);
	end(w, 10 * MS, 2, 0x52, 0x62);
	l = world_ledger(w, "end");
	CHECK_STR(l.graphs[0].phase, "setup/force n=8");
	CHECK(!l.graphs[1].phase);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(failed_and_abandoned_captures_are_rows_too)
{
	struct world *w = started();
	struct tare_ledger l;

	begin(w, 5 * MS, 1, 0x51);
	end(w, 6 * MS, 1, 0x51, 0);
	begin(w, 7 * MS, 1, 0x51);
	end(w, 8 * MS, 1, 0x51, 0x61);
	begin(w, 9 * MS, 1, 0x52);
	/* An end that nobody began, of a recording that was started late; and one that failed. */
	end(w, 10 * MS, 2, 0x77, 0x62);
	end(w, 11 * MS, 2, 0x78, 0);
	l = world_ledger(w, "end");
	CHECK_INT(l.graph_nr, 4);
	CHECK_INT(graph(&l, 1)->state, TARE_GRAPH_STATE_INVALID);
	CHECK_INT(graph(&l, 2)->state, TARE_GRAPH_STATE_CAPTURED);
	CHECK_INT(graph(&l, 2)->used_after, 600 * MIB);
	CHECK_INT(graph(&l, 2)->stream_number, 1);
	CHECK_INT(graph(&l, 3)->state, TARE_GRAPH_STATE_CAPTURING);
	CHECK_INT(graph(&l, 3)->stream_number, 2);
	CHECK_INT(graph(&l, 4)->state, TARE_GRAPH_STATE_CAPTURED);
	tare_ledger_free(&l);
	world_free(w);
}

/* Each thread's own, and another's only where there is one capture that it can be of. */
TEST(captures_at_once_take_what_their_threads_allocate)
{
	struct world *w = started();
	struct tare_ledger l;

	begin(w, 5 * MS, 1, 0x51);
	alloc(w, 6 * MS, 3, BASE, 600 * MIB, 2 * MIB, "/lib/a.so"); /* a backward pass */
	begin(w, 7 * MS, 2, 0x52);
	alloc(w, 8 * MS, 1, BASE + 64 * MIB, 602 * MIB, 4 * MIB, "/lib/a.so");
	alloc(w, 9 * MS, 2, BASE + 128 * MIB, 606 * MIB, 8 * MIB, "/lib/a.so");
	alloc(w, 10 * MS, 3, BASE + 192 * MIB, 614 * MIB, 16 * MIB, "/lib/a.so"); /* whose? */
	end(w, 11 * MS, 2, 0x51, 0x61);                                           /* by the other thread */
	end(w, 12 * MS, 2, 0x52, 0x62);
	l = world_ledger(w, "end");
	CHECK_INT(graph(&l, 1)->allocated, 6 * MIB);
	CHECK_INT(graph(&l, 1)->by_others, 2 * MIB);
	CHECK_INT(graph(&l, 2)->allocated, 8 * MIB);
	CHECK_INT(graph(&l, 2)->by_others, 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(what_is_destroyed_is_kept_until_the_next_one_uses_it)
{
	struct world *w = started();
	struct tare_ledger l;

	instantiate(w, 5 * MS, 0xe1, 0x61, 300, 600 * MIB, 4 * MIB);
	instantiate(w, 6 * MS, 0xe2, 0x62, 100, 604 * MIB, 0);
	exec_call(w, 7 * MS, TARE_GRAPH_CALL_DESTROY, 0xe1, 604 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/execs"), 1 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/kept"), 3 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/graphs/kept")->evidence, TARE_EVIDENCE_INFERRED);
	CHECK_INT(saved(&l, TARE_GRAPH_SAVING_KEPT), 3 * MIB);
	tare_ledger_free(&l);

	instantiate(w, 8 * MS, 0xe3, 0x63, 300, 604 * MIB, 0); /* fits what is kept */
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/execs"), 4 * MIB);
	CHECK(!world_row(&l, 0, PROCESS "/graphs/kept"));
	tare_ledger_free(&l);

	exec_call(w, 9 * MS, TARE_GRAPH_CALL_DESTROY, 0xe2, 604 * MIB, -2 * MIB);
	exec_call(w, 10 * MS, TARE_GRAPH_CALL_DESTROY, 0xe3, 602 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/kept"), 2 * MIB);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/execs"), 0);
	CHECK_INT(graph(&l, 2)->at_destroy, -2 * MIB);
	CHECK_INT(graph(&l, 2)->alive, 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* It had to grow although something was destroyed: so nothing of that was left. */
TEST(growth_shows_that_nothing_was_kept)
{
	struct world *w = started();
	struct tare_ledger l;

	instantiate(w, 5 * MS, 0xe1, 0x61, 300, 600 * MIB, 4 * MIB);
	exec_call(w, 6 * MS, TARE_GRAPH_CALL_DESTROY, 0xe1, 604 * MIB, 0);
	instantiate(w, 7 * MS, 0xe2, 0x62, 100, 604 * MIB, 2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/execs"), 6 * MIB);
	CHECK(!world_row(&l, 0, PROCESS "/graphs/kept"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(the_pool_of_allocation_nodes_is_what_the_driver_says)
{
	struct world *w = started();
	struct tare_ledger l;

	instantiate(w, 5 * MS, 0xe1, 0x61, 10, 600 * MIB, 2 * MIB);
	world_graph(w, 0, 6 * MS + 10,
	            &(struct tare_rec_graph){
					.tid = 1, .flags = TARE_GRAPH_FLAG_RESERVED, .exec = 0xe1, .reserved = (uint64_t)(256 * MIB) });
	exec_call(w, 6 * MS, TARE_GRAPH_CALL_LAUNCH, 0xe1, 602 * MIB, 258 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/memory"), 256 * MIB);
	CHECK_INT(world_row(&l, 0, PROCESS "/graphs/memory")->evidence, TARE_EVIDENCE_EXACT);
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/execs"), 4 * MIB);
	CHECK_INT(graph(&l, 1)->memory, 256 * MIB);
	CHECK_INT(graph(&l, 1)->at_launch, 2 * MIB);
	tare_ledger_free(&l);

	world_graph(w, 0, 7 * MS + 10, &(struct tare_rec_graph){ .tid = 1, .flags = TARE_GRAPH_FLAG_RESERVED });
	CALL(w, .class = TARE_CLASS_GRAPHMEM, .effect = TARE_EFFECT_CHANGE, .begin = 7 * MS, .end = 7 * MS + 10,
	     .limit = TARE_GRAPH_CALL_TRIM, .weigh = true, .before = 860 * MIB, .after = 604 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(world_bytes(&l, 0, PROCESS "/graphs/memory"), 0);
	CHECK_INT(l.devices[0].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(pools_are_private_until_another_graph_is_given_their_id)
{
	struct world *w = started();
	struct tare_ledger l;

	for (int i = 0; i < 3; i++) { /* 2, 4 and 6 MiB into pools of their own */
		begin_in_pool(w, (10 + i * 10) * MS, 0x51, 0xa0 + (uint64_t)i, 0, 0);
		alloc(w, (11 + i * 10) * MS, 1, BASE + (uint64_t)i * 64 * MIB, 600 * MIB + i * (i + 1) * MIB, (2 + i * 2) * MIB,
		      "/lib/a.so");
		end(w, (12 + i * 10) * MS, 1, 0x51, 0x61 + (uint64_t)i);
	}
	l = world_ledger(w, "end");
	for (uint64_t i = 1; i <= 3; i++)
		CHECK(graph(&l, i)->pool == i && graph(&l, i)->is_private);
	CHECK_INT(saved(&l, TARE_GRAPH_SAVING_POOLS), 6 * MIB);
	CHECK_INT(saved(&l, TARE_GRAPH_SAVING_STREAMS), -1);
	tare_ledger_free(&l);

	/* The third is asked for its id, and a fourth is given it, on another stream. */
	world_mempool(w, 0, 35 * MS, 0xa2, 3, 0);
	begin_in_pool(w, 40 * MS, 0x52, 0xa3, 3, 0);
	alloc(w, 41 * MS, 1, BASE + 256 * MIB, 612 * MIB, 10 * MIB, "/lib/a.so");
	end(w, 42 * MS, 1, 0x52, 0x64);
	l = world_ledger(w, "end");
	CHECK_INT(graph(&l, 4)->pool, 3);
	CHECK(!graph(&l, 3)->is_private && !graph(&l, 4)->is_private);
	CHECK_INT(saved(&l, TARE_GRAPH_SAVING_POOLS), 2 * MIB);
	CHECK_INT(saved(&l, TARE_GRAPH_SAVING_STREAMS), 6 * MIB); /* 6 + 10, less the 10 */
	tare_ledger_free(&l);
	world_free(w);
}

/* Large savings stand under the ledger, small ones only with the graphs. */
TEST(what_is_worth_a_word_is_advice)
{
	struct world *w = started();
	const struct tare_finding *found = NULL;
	struct tare_ledger l;

	for (int i = 0; i < 3; i++) { /* 100, 200 and 300 MiB into pools of their own */
		begin_in_pool(w, (10 + i * 10) * MS, 0x51, 0xa0 + (uint64_t)i, 0, 0);
		alloc(w, (11 + i * 10) * MS, 1, BASE + (uint64_t)i * 1024 * MIB, 600 * MIB + i * (i + 1) * 50 * MIB,
		      (i + 1) * 100 * MIB, "/lib/a.so");
		end(w, (12 + i * 10) * MS, 1, 0x51, 0x61 + (uint64_t)i);
	}
	l = world_ledger(w, "end");
	for (int i = 0; i < l.devices[0].finding_nr; i++)
		if (l.devices[0].findings[i].advice == TARE_ADVICE_PRIVATE_POOLS)
			found = &l.devices[0].findings[i];
	CHECK(found);
	CHECK_INT(found->bytes, 300 * MIB);
	CHECK_INT(found->count, 3);
	CHECK_INT(found->each, 600 * MIB);
	CHECK_INT(found->next, 300 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(executable_graphs_that_are_alike_could_be_one)
{
	struct world *w = started();
	struct tare_ledger l;

	for (uint64_t i = 0; i < 4; i++)
		instantiate(w, (5 + (int64_t)i) * MS, 0xe1 + i, 0x61 + i, i < 3 ? 100 : 200, 600 * MIB + (int64_t)i * 2 * MIB,
		            2 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(saved(&l, TARE_GRAPH_SAVING_UPDATE), 4 * MIB);
	CHECK_INT(graph(&l, 1)->state, TARE_GRAPH_STATE_BUILT);
	tare_ledger_free(&l);
	exec_call(w, 10 * MS, TARE_GRAPH_CALL_DESTROY, 0xe1, 608 * MIB, 0);
	exec_call(w, 11 * MS, TARE_GRAPH_CALL_DESTROY, 0xe2, 608 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK_INT(saved(&l, TARE_GRAPH_SAVING_UPDATE), -1); /* one is left of them */
	tare_ledger_free(&l);
	world_free(w);
}

/* When it goes, and for those that stay when the process ends. */
TEST(launches_are_known_when_the_process_says_them)
{
	struct world *w = started();
	struct tare_ledger l;

	instantiate(w, 5 * MS, 0xe1, 0x61, 10, 600 * MIB, 0);
	instantiate(w, 6 * MS, 0xe2, 0x62, 10, 600 * MIB, 0);
	world_graph(w, 0, 7 * MS,
	            &(struct tare_rec_graph){ .tid = 1, .flags = TARE_GRAPH_FLAG_LAUNCHES, .exec = 0xe1, .launches = 40 });
	exec_call(w, 7 * MS, TARE_GRAPH_CALL_DESTROY, 0xe1, 600 * MIB, 0);
	instantiate(w, 8 * MS, 0xe1, 0x62, 10, 600 * MIB, 0); /* the handle again, of the second */
	for (uint64_t exec = 0xe1; exec <= 0xe2; exec++)
		world_graph(w, 0, 9 * MS,
		            &(struct tare_rec_graph){
						.tid = 1, .flags = TARE_GRAPH_FLAG_LAUNCHES, .exec = exec, .launches = 5 });
	world_end(w, 0, 10 * MS);
	l = world_ledger(w, "end");
	CHECK(graph(&l, 1)->flags & TARE_GRAPH_FLAG_LAUNCHES);
	CHECK_INT(graph(&l, 1)->launches, 40);
	CHECK_INT(graph(&l, 2)->launches, 10);
	CHECK_INT(graph(&l, 2)->execs, 2);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_handle_given_again_is_another_graph)
{
	struct world *w = started();
	struct tare_ledger l;

	begin(w, 5 * MS, 1, 0x51);
	end(w, 6 * MS, 1, 0x51, 0x61);
	CALL(w, .class = TARE_CLASS_CAPTURE, .effect = TARE_EFFECT_CHANGE, .begin = 7 * MS, .end = 7 * MS + 10,
	     .context = CONTEXT, .handle = 0x62, .parent = 0x61, .limit = TARE_GRAPH_CALL_CREATE); /* a clone */
	instantiate(w, 8 * MS, 0xe1, 0x62, 10, 600 * MIB, 2 * MIB);
	CALL(w, .class = TARE_CLASS_CAPTURE, .effect = TARE_EFFECT_CHANGE, .begin = 9 * MS, .end = 9 * MS + 10,
	     .context = CONTEXT, .handle = 0x61, .limit = TARE_GRAPH_CALL_CREATE); /* empty, at the address of the first */
	instantiate(w, 10 * MS, 0xe2, 0x61, 10, 602 * MIB, 4 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.graph_nr, 2);
	CHECK_INT(tare_graph_exec_bytes(graph(&l, 1)), 2 * MIB);
	CHECK_INT(graph(&l, 2)->state, TARE_GRAPH_STATE_BUILT);
	CHECK_INT(tare_graph_exec_bytes(graph(&l, 2)), 4 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Calls of two graphs overlap, and the device moved while both ran. */
TEST(overlapping_instantiations_say_their_doubt)
{
	struct world *w = started();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_GRAPH, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 7 * MS, .tid = 1,
	     .context = CONTEXT, .handle = 0xe1, .parent = 0x61, .limit = TARE_GRAPH_CALL_INSTANTIATE, .weigh = true,
	     .before = 600 * MIB, .after = 610 * MIB);
	CALL(w, .class = TARE_CLASS_GRAPH, .effect = TARE_EFFECT_NEW, .begin = 6 * MS, .end = 8 * MS, .tid = 2,
	     .context = CONTEXT, .handle = 0xe2, .parent = 0x62, .limit = TARE_GRAPH_CALL_INSTANTIATE, .weigh = true,
	     .before = 602 * MIB, .after = 610 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(tare_graph_exec_bytes(graph(&l, 1)) + tare_graph_exec_bytes(graph(&l, 2)), 10 * MIB);
	CHECK(graph(&l, 1)->doubt > 0);
	CHECK(graph(&l, 2)->doubt > 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(very_many_graphs_end_in_a_row_for_the_rest)
{
	struct world *w = started();
	const char *at = "end";
	struct tare_ledger l;

	for (int i = 0; i < 5000; i++) {
		begin(w, 5 * MS + i * 1000, 1, 0x51);
		end(w, 5 * MS + i * 1000 + 500, 1, 0x51, 0x61);
	}
	world_build(w, NULL, &at, 1, &l);
	CHECK_INT(l.graph_nr, 4096);
	CHECK_INT(graph(&l, 4095)->count, 1);
	CHECK_INT(graph(&l, 4096)->count, 905);
	tare_ledger_free(&l);
	world_free(w);
}

/* At a moment: those that had begun by then, and what they were. */
TEST(an_instant_has_the_graphs_of_its_time)
{
	struct world *w = started();
	const char *at[] = { "7ms", "end" };
	struct tare_ledger l[2];

	begin(w, 5 * MS, 1, 0x51);
	alloc(w, 6 * MS, 1, BASE, 600 * MIB, 2 * MIB, "/lib/a.so");
	end(w, 8 * MS, 1, 0x51, 0x61);
	begin(w, 9 * MS, 1, 0x51);
	end(w, 10 * MS, 1, 0x51, 0x62);
	world_build(w, NULL, at, 2, l);
	CHECK_INT(l[0].graph_nr, 1);
	CHECK_INT(graph(&l[0], 1)->state, TARE_GRAPH_STATE_CAPTURING);
	CHECK_INT(graph(&l[0], 1)->allocated, 2 * MIB);
	CHECK_INT(l[1].graph_nr, 2);
	tare_ledger_free(&l[0]);
	tare_ledger_free(&l[1]);
	world_free(w);
}
