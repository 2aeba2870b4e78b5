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

/* Each alone: tests/gpu/facts/facts_captured.c. */
TEST(capture_ends_with_what_it_does_not_bear)
{
	CUstream stream, apart;
	CUdeviceptr memory;
	CUevent event;
	CUgraph graph;

	open_with_kernel();
	OK(cu.cuMemAlloc_v2(&memory, 64));
	OK(cu.cuEventCreate(&event, 0));
	OK(cu.cuStreamCreate(&stream, 0));
	OK(cu.cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
	OK(cu.cuStreamBeginCapture_v2(stream, 2));
	OK(cu.cuEventRecord(event, stream));
	OK(cu.cuStreamSynchronize(apart));
	CHECK_INT(cu.cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
	CHECK_INT(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
	          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	CHECK_INT(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cu.cuEventSynchronize(event));
	OK(cu.cuStreamBeginCapture_v2(stream, 2));
	CHECK_INT(cu.cuMemsetD8_v2(memory, 1, 64), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	CHECK_INT(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cu.cuMemsetD8_v2(memory, 1, 64));
}

TEST(default_stream_works_beside_a_capture_that_it_does_not_wait_for)
{
	CUstream apart;
	CUgraph graph;

	open_with_kernel();
	OK(cu.cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
	OK(cu.cuStreamBeginCapture_v2(apart, 2));
	OK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, apart, NULL, NULL));
	OK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cu.cuStreamSynchronize(NULL));
	OK(cu.cuStreamEndCapture(apart, &graph));
	CHECK_INT(nodes_of(graph), 1);
}
