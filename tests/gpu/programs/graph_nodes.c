/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One graph for every kind of node, NODES of it in a row; every executable graph is kept, because the
 * driver hands the memory of a destroyed one to the next. Prints "KIND NODES" in that order; what each
 * takes is in the recording.
 */
#include "cu.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 16384, HOST_NODES = 1024 };

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
						  ".visible .entry small() { ret; }\n"
						  ".visible .entry large(.param .align 8 .b8 p[2048]) { ret; }\n";

static CUcontext context;
static CUfunction small_kernel, large_kernel;
static CUdeviceptr at, elsewhere;
static char parameters[2048];

static void nothing(void *unused)
{
	(void)unused;
}

static void add_kernel(CUgraph graph, CUgraphNode *node, const CUgraphNode *after, size_t n, CUfunction function,
                       void **arguments)
{
	CUDA_KERNEL_NODE_PARAMS params = { .func = function,
		                               .gridDimX = 1,
		                               .gridDimY = 1,
		                               .gridDimZ = 1,
		                               .blockDimX = 1,
		                               .blockDimY = 1,
		                               .blockDimZ = 1,
		                               .kernelParams = arguments };

	OK(cuGraphAddKernelNode(node, graph, after, n, &params));
}

static void add(const char *kind, CUgraph graph, CUgraphNode *node, const CUgraphNode *after, size_t n)
{
	CUDA_MEMSET_NODE_PARAMS zero = { .dst = at, .elementSize = 1, .width = 4096, .height = 1 };
	CUDA_MEMCPY3D copy = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
		                   .srcDevice = at,
		                   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		                   .dstDevice = elsewhere,
		                   .WidthInBytes = 4096,
		                   .Height = 1,
		                   .Depth = 1 };
	CUDA_HOST_NODE_PARAMS host = { .fn = nothing };
	void *large[] = { parameters };

	if (!strcmp(kind, "kernel"))
		add_kernel(graph, node, after, n, small_kernel, NULL);
	else if (!strcmp(kind, "kernel+2048B"))
		add_kernel(graph, node, after, n, large_kernel, large);
	else if (!strcmp(kind, "memset"))
		OK(cuGraphAddMemsetNode(node, graph, after, n, &zero, context));
	else if (!strcmp(kind, "memcpy"))
		OK(cuGraphAddMemcpyNode(node, graph, after, n, &copy, context));
	else if (!strcmp(kind, "host"))
		OK(cuGraphAddHostNode(node, graph, after, n, &host));
	else
		OK(cuGraphAddEmptyNode(node, graph, after, n));
}

static void measure(const char *kind, int count, CUstream stream)
{
	CUgraphNode before, node;
	CUgraphExec exec;
	CUgraph graph;
	int i;

	OK(cuGraphCreate(&graph, 0));
	for (i = 0; i < count; i++) {
		add(kind, graph, &node, &before, i > 0);
		before = node;
	}
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphUpload(exec, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	printf("%s %d\n", kind, count);
	fflush(stdout);
}

/* Kinds may be named: the simulated GPU has no host nodes. */
int main(int argc, char **argv)
{
	static const char *const all[] = { "kernel", "kernel+2048B", "memset", "memcpy", "empty", "host" };
	CUmodule module;
	CUstream stream;
	size_t i;

	open_gpu(0);
	OK(cuCtxGetCurrent(&context));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&small_kernel, module, "small"));
	OK(cuModuleGetFunction(&large_kernel, module, "large"));
	OK(cuMemAlloc(&at, 4096));
	OK(cuMemAlloc(&elsewhere, 4096));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	if (argc > 1) {
		while (*++argv)
			measure(*argv, strcmp(*argv, "host") ? NODES : HOST_NODES, stream);
		return 0;
	}
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		measure(all[i], strcmp(all[i], "host") ? NODES : HOST_NODES, stream);
	return 0;
}
