/* SPDX-License-Identifier: Apache-2.0 */
/* Captures, and the streams that have no handle of their own (docs/measurements/h200-pointers.md). */
#include "driver.h"

static const char image[] = "tare-sim-module\nkernel k code=4096\n";
static CUfunction function;

static void open_with_kernel(void)
{
	CUmodule module;

	context_open(NULL);
	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuModuleGetFunction(&function, module, "k"));
}

static size_t nodes_of(CUgraph graph)
{
	size_t nodes = 0;

	OK(cu.cuGraphGetNodes(graph, NULL, &nodes));
	return nodes;
}

TEST(stream_of_a_thread_captures)
{
	CUgraph graph;

	open_with_kernel();
	OK(cu.cuStreamBeginCapture_v2_ptsz(NULL, 0));
	CHECK_INT(cu.cuStreamBeginCapture_v2_ptsz(NULL, 0), CUDA_ERROR_ILLEGAL_STATE);
	OK(cu.cuLaunchKernel_ptsz(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL));
	OK(cu.cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
	CHECK_INT(nodes_of(graph), 2);
	CHECK_INT(cu.cuStreamEndCapture_ptsz(NULL, &graph), CUDA_ERROR_ILLEGAL_STATE);
}

TEST(legacy_stream_captures_never)
{
	CUstream stream;
	CUgraph graph;

	open_with_kernel();
	CHECK_INT(cu.cuStreamBeginCapture_v2(NULL, 2), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	CHECK_INT(cu.cuStreamBeginCapture_v2_ptsz(CU_STREAM_LEGACY, 2), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	CHECK_INT(cu.cuStreamEndCapture(NULL, &graph), CUDA_ERROR_ILLEGAL_STATE);
	OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cu.cuStreamBeginCapture_v2(stream, 2));
	CHECK_INT(cu.cuStreamEndCapture(NULL, &graph), CUDA_ERROR_ILLEGAL_STATE);
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuStreamCreate(&stream, 0));
	OK(cu.cuStreamBeginCapture_v2(stream, 2));
	CHECK_INT(cu.cuStreamEndCapture(NULL, &graph), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

TEST(nobody_waits_for_a_context_that_captures)
{
	CUstream stream;
	CUgraph graph;

	open_with_kernel();
	OK(cu.cuStreamCreate(&stream, 0));
	OK(cu.cuStreamBeginCapture_v2(stream, 2));
	CHECK_INT(cu.cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	CHECK_INT(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cu.cuCtxSynchronize());
}
