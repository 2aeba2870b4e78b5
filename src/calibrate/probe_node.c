/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs that are no kernels, and what becomes of a graph's memory when it goes. */
#include "calibrate/kernel.h"

#define NODES      10000
#define KEPT_NODES 4000
#define POOL_MOST  (INT64_C(512) << 20) /* a step that is seen once is enough of it */

typedef bool (*fill_fn)(struct tare_bench *bench, CUgraph graph, CUdeviceptr at);

/* A graph of some kind, run once; `change`: what it took. The caller destroys what is not NULL. */
static bool run(struct tare_bench *bench, fill_fn fill, CUdeviceptr at, CUgraph *graph, CUgraphExec *exec,
                int64_t *change)
{
	if (!TARE_DO(bench, cuGraphCreate, graph, 0) || !fill(bench, *graph, at))
		return false;
	tare_bench_before(bench);
	return tare_bench_after(bench, change, tare_graph_run(bench, *graph, exec));
}

static bool fill_memsets(struct tare_bench *bench, CUgraph graph, CUdeviceptr at)
{
	CUDA_MEMSET_NODE_PARAMS set = { .dst = at, .elementSize = 1, .width = 16, .height = 1 };
	CUcontext context = NULL;
	CUgraphNode node, last = NULL;

	if (!TARE_DO(bench, cuCtxGetCurrent, &context))
		return false;
	for (int i = 0; i < NODES; i++, last = node)
		if (!TARE_DO(bench, cuGraphAddMemsetNode, &node, graph, &last, i > 0, &set, context))
			return false;
	return true;
}

static bool fill_empty(struct tare_bench *bench, CUgraph graph, CUdeviceptr at)
{
	CUgraphNode node, last = NULL;

	(void)at;
	for (int i = 0; i < NODES; i++, last = node)
		if (!TARE_DO(bench, cuGraphAddEmptyNode, &node, graph, &last, i > 0))
			return false;
	return true;
}

/* What is known of kernels holds for these too: the same memory, beyond the same that is free. */
static void put_node(struct tare_bench *bench, enum tare_profile_key key, int64_t taken)
{
	int64_t free = (int64_t)bench->known.graph_free, step = (int64_t)bench->known.graph_step;
	int64_t low = taken > 0 ? (taken - step + free) / NODES : 0, high = (taken + free) / NODES;

	tare_bench_put_range(bench, key, taken > 0 ? (uint64_t)(low + high) / 2 : 0, (uint64_t)low, (uint64_t)high,
	                     "a graph of %d took %lld bytes", NODES, (long long)taken);
}

static void weigh_nodes(struct tare_bench *bench, enum tare_profile_key key, fill_fn fill)
{
	CUcontext context = tare_bench_context(bench);
	CUgraph graph = NULL;
	CUgraphExec exec = NULL;
	CUdeviceptr at = 0;
	int64_t change = 0;

	if (context && TARE_DO(bench, cuMemAlloc_v2, &at, 1024) && run(bench, fill, at, &graph, &exec, &change))
		put_node(bench, key, change);
	else
		tare_bench_lack(bench, key, "%s", bench->failure);
	if (graph)
		TARE_DO(bench, cuGraphDestroy, graph);
	tare_bench_end_context(bench, context);
}

/* By capture: the parameters of a memcpy node are not the same in all versions. */
static bool capture_copies(struct tare_bench *bench, CUstream stream, CUdeviceptr at, CUgraph *graph)
{
	bool is_done = TARE_DO(bench, cuStreamBeginCapture_v2, stream, 2);

	for (int i = 0; i < NODES && is_done; i++)
		is_done = TARE_DO(bench, cuMemcpyDtoDAsync_v2, at, at + 512, 16, stream);
	return is_done && TARE_DO(bench, cuStreamEndCapture, stream, graph);
}

static void weigh_copies(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	CUgraph graph = NULL;
	CUgraphExec exec = NULL;
	CUstream stream = NULL;
	CUdeviceptr at = 0;
	int64_t change = 0;
	bool is_done = false;

	if (context && TARE_DO(bench, cuMemAlloc_v2, &at, 1024) && TARE_DO(bench, cuStreamCreate, &stream, 1) &&
	    capture_copies(bench, stream, at, &graph)) {
		tare_bench_before(bench);
		is_done = tare_bench_after(bench, &change, tare_graph_run(bench, graph, &exec));
		TARE_DO(bench, cuGraphDestroy, graph);
	}
	if (is_done)
		put_node(bench, TARE_PROFILE_graph_memcpy, change);
	else
		tare_bench_lack(bench, TARE_PROFILE_graph_memcpy, "%s", bench->failure);
	tare_bench_end_context(bench, context);
}

/* ---- destroyed graphs ---- */
static bool fill_kernels(struct tare_bench *bench, CUgraph graph, CUdeviceptr at)
{
	struct tare_kernel kernel;

	(void)at;
	return tare_kernel_load(bench, TARE_PTX_PLAIN, 0, &kernel) && tare_kernel_launch(bench, kernel.function) &&
	       tare_graph_add_kernels(bench, graph, kernel.function, KEPT_NODES);
}

static void weigh_kept(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	CUgraph graph = NULL;
	CUgraphExec exec = NULL;
	int64_t change = 0, back = 0;

	if (context && run(bench, fill_kernels, 0, &graph, &exec, &change) &&
	    TARE_WEIGH(bench, &back, cuGraphExecDestroy, exec)) {
		if (change > 0 && (back == 0 || back == -change))
			tare_bench_put(bench, TARE_PROFILE_graph_kept, back == 0, "destroying a graph of %d kernels", KEPT_NODES);
		else
			tare_bench_lack(bench, TARE_PROFILE_graph_kept, "a graph took %lld bytes and gave back %lld",
			                (long long)change, (long long)-back);
	}
	if (graph)
		TARE_DO(bench, cuGraphDestroy, graph);
	tare_bench_end_context(bench, context);
}

void tare_probe_nodes(struct tare_bench *bench)
{
	weigh_kept(bench);
	if (!tare_bench_needs(bench, TARE_PROFILE_graph_node))
		return;
	weigh_nodes(bench, TARE_PROFILE_graph_memset, fill_memsets);
	weigh_nodes(bench, TARE_PROFILE_graph_empty, fill_empty);
	weigh_copies(bench);
}

/* ---- memory nodes ---- */
/* A graph that takes so many bytes and gives them back. */
static bool run_memory(struct tare_bench *bench, size_t size, int64_t *change)
{
	CUDA_MEM_ALLOC_NODE_PARAMS memory = { .poolProps = { .allocType = 1, .location = { 1, bench->device } },
		                                  .bytesize = size };
	CUgraphNode take, give;
	CUgraphExec exec = NULL;
	CUgraph graph = NULL;
	bool is_done;

	if (!TARE_DO(bench, cuGraphCreate, &graph, 0))
		return false;
	is_done = TARE_DO(bench, cuGraphAddMemAllocNode, &take, graph, NULL, 0, &memory) &&
	          TARE_DO(bench, cuGraphAddMemFreeNode, &give, graph, &take, 1, memory.dptr);
	if (is_done) {
		tare_bench_before(bench);
		is_done = tare_bench_after(bench, change, tare_graph_run(bench, graph, &exec));
	}
	if (exec)
		TARE_DO(bench, cuGraphExecDestroy, exec);
	TARE_DO(bench, cuGraphDestroy, graph);
	return is_done;
}

void tare_probe_memory_nodes(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	int64_t first = 0, more = 0;

	if (context && run_memory(bench, 1, &first)) {
		if (first <= 0)
			tare_bench_lack(bench, TARE_PROFILE_graph_pool_step, "a graph that allocates took nothing of the device");
		else if (first > POOL_MOST || !run_memory(bench, (size_t)first + 1, &more) || more % first)
			tare_bench_lack(bench, TARE_PROFILE_graph_pool_step,
			                "a byte took %lld bytes, a byte more than that %lld more", (long long)first,
			                (long long)more);
		else
			tare_bench_put(bench, TARE_PROFILE_graph_pool_step, (uint64_t)first,
			               "graphs that allocate a byte, and a byte more than that took");
	}
	if (context)
		TARE_DO(bench, cuDeviceGraphMemTrim, bench->device);
	tare_bench_end_context(bench, context);
}
