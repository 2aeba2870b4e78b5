/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an H200 was measured to do for a program of the CUDA runtime, call by call and in its order.
 * Later figures depend on what came before, so this is one test.
 */
#include "driver.h"

/* The list was measured with a program of the CUDA runtime, which keeps its kernels in a library. */
static const char image[] = "tare-sim-module\n"
							"kernel k0 code=2048\n"
							"kernel kpar code=2048 params=4000\n"
							"kernel kstack code=4096 local=32768\n"
							"kernel kprintf code=4096 printf=1\n";

static CUfunction function(const char *name)
{
	static CUlibrary library;
	CUkernel found;

	if (!library)
		OK(cu.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	OK(cu.cuLibraryGetKernel(&found, library, name));
	return (CUfunction)found;
}

static CUresult launch(const char *name)
{
	return cu.cuLaunchKernel(function(name), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static void alloc(size_t bytes, double mibs)
{
	CUdeviceptr p;

	GROWS(cu.cuMemAlloc_v2(&p, bytes), mibs);
}

static void start(void)
{
	CUcontext context;
	CUstream stream;

	driver_open(NULL);
	nvml_open();
	CHECK_INT(used(), 0);
	OK(cu.cuInit(0));
	CHECK_INT(used(), 3407872);
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	CHECK_INT(used(), 3407872 + 548995072);
	OK(cu.cuCtxSetCurrent(context));
	/* The runtime has a stream of its own. */
	GROWS(cu.cuStreamCreate(&stream, 0), 0);
}

static void allocations(void)
{
	static const struct {
		size_t bytes;
		double mibs;
	} sizes[] = { { 1, 2 },     { 1, 0 },     { 256, 0 },    { 1024, 0 },    { 4096, 0 },
		          { 16384, 0 }, { 65536, 0 }, { 262144, 0 }, { 1048576, 0 }, { 4194304, 4 } };
	CUdeviceptr p[64];
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		alloc(sizes[i].bytes, sizes[i].mibs);
	grown();
	for (i = 0; i < 64; i++)
		OK(cu.cuMemAlloc_v2(&p[i], 512 << 10));
	CHECK_INT(grown(), 32);
	for (i = 1; i < 64; i++)
		OK(cu.cuMemFree_v2(p[i]));
	CHECK_INT(grown(), -32);
	OK(cu.cuMemFree_v2(p[0]));
	CHECK_INT(grown(), 0);
	for (i = 0; i < 64; i++)
		OK(cu.cuMemAlloc_v2(&p[i], 1536 << 10));
	CHECK_INT(grown(), 128);
}

static void launches(void)
{
	GROWS(launch("k0"), 64);
	GROWS(launch("kpar"), 0);
	GROWS(launch("kstack"), 8184);
	GROWS(launch("kprintf"), 0);
	GROWS(launch("kstack"), 0);
}

static void streams(void)
{
	CUstream stream;
	int i;

	grown();
	for (i = 1; i <= 38; i++) {
		bool is_step = i % 4 == 1 || i == 35;

		OK(cu.cuStreamCreate(&stream, 0));
		CHECK_INT(grown(), is_step ? 2 : 0);
	}
}

static void events_and_limits(void)
{
	CUevent event;
	int i;

	for (i = 0; i < 1000; i++)
		OK(cu.cuEventCreate(&event, 0));
	CHECK_INT(grown(), 0);
	/* A kernel with printf has run: too late for this one. */
	CHECK_INT(cu.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 64 << 20), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(grown(), 0);
	GROWS(cu.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 256 << 20), 0);
	GROWS(launch("k0"), 0);
	GROWS(cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 64 << 10), 8448);
	GROWS(launch("k0"), 0);
}

static void graphs(void)
{
	static const struct {
		int nodes;
		double mibs;
	} sizes[] = {
		{ 1, 0 }, { 10, 0 }, { 100, 0 }, { 1000, 2 }, { 5000, 8 }, { 10000, 12 }, { 20000, 24 }
	}; /* an H200: 0, 10, 12, 22 */
	CUDA_KERNEL_NODE_PARAMS_v2 params = { .kern = (CUkernel)function("k0"),
		                                  .gridDimX = 1,
		                                  .gridDimY = 1,
		                                  .gridDimZ = 1,
		                                  .blockDimX = 1,
		                                  .blockDimY = 1,
		                                  .blockDimZ = 1 };
	CUgraphNode node, last;
	CUgraphExec exec;
	CUgraph graph;
	size_t i;
	int n;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		OK(cu.cuGraphCreate(&graph, 0));
		for (n = 0; n < sizes[i].nodes; n++, last = node)
			OK(cu.cuGraphAddKernelNode_v2(&node, graph, &last, n > 0, &params));
		GROWS(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), sizes[i].mibs);
		GROWS(cu.cuGraphUpload(exec, NULL), 0);
		GROWS(cu.cuGraphLaunch(exec, NULL), 0);
		GROWS(cu.cuGraphExecDestroy(exec), 0);
		OK(cu.cuGraphDestroy(graph));
	}
}

TEST(sim_books_are_the_measured_ones)
{
	start();
	allocations();
	launches();
	streams();
	events_and_limits();
	graphs();
}
