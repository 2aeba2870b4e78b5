/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that allocate for themselves: 256 MiB that come at the first launch and stay until a trim;
 * two graphs, which share what they do not use at the same time; memory that a graph leaves to the
 * program, and that the program frees.
 */
#include "cu.h"

static CUgraph graph_with(size_t bytes, int is_freed, CUdeviceptr *at)
{
	CUDA_MEM_ALLOC_NODE_PARAMS memory = { .poolProps = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		                                                 .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 } },
		                                  .bytesize = bytes };
	CUDA_MEMSET_NODE_PARAMS zero = { .elementSize = 1, .width = bytes, .height = 1 };
	CUgraphNode taking, setting, freeing;
	CUcontext context;
	CUgraph graph;

	OK(cuCtxGetCurrent(&context));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddMemAllocNode(&taking, graph, NULL, 0, &memory));
	zero.dst = memory.dptr;
	OK(cuGraphAddMemsetNode(&setting, graph, &taking, 1, &zero, context));
	if (is_freed)
		OK(cuGraphAddMemFreeNode(&freeing, graph, &setting, 1, memory.dptr));
	*at = memory.dptr;
	return graph;
}

static CUgraphExec run(CUgraph graph, CUstream stream, int times)
{
	CUgraphExec exec;

	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	while (times-- > 0) {
		OK(cuGraphLaunch(exec, stream));
		OK(cuStreamSynchronize(stream));
	}
	return exec;
}

int main(void)
{
	CUgraphExec first, second, leaving;
	CUdeviceptr at;
	CUstream stream;

	open_gpu(0);
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	first = run(graph_with(256 * MiB, 1, &at), stream, 3);
	second = run(graph_with(192 * MiB, 1, &at), stream, 3);
	leaving = run(graph_with(64 * MiB, 0, &at), stream, 1);
	OK(cuDeviceGraphMemTrim(0));
	OK(cuMemFreeAsync(at, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuDeviceGraphMemTrim(0));
	OK(cuGraphExecDestroy(first));
	OK(cuGraphExecDestroy(second));
	OK(cuGraphExecDestroy(leaving));
	puts("three graphs with memory of their own done");
	return 0;
}
