/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as not done yet, and that nobody asks for ever. Who is behind whom: tests/gpu/facts/facts_pending.c. */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static const char image[] = "tare-sim-module\nkernel k code=4096\n";
static CUfunction function;
static CUstream stream, other;
static CUevent event;

static void open_with_streams(void)
{
	CUmodule module;

	context_open(NULL);
	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuModuleGetFunction(&function, module, "k"));
	OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
}

static void work(CUstream where)
{
	OK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, where, NULL, NULL));
}

static void record(CUstream where)
{
	work(where);
	OK(cu.cuEventRecord(event, where));
}

TEST(event_is_ready_when_it_is_asked_again)
{
	open_with_streams();
	record(stream);
	CHECK_INT(cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
	OK(cu.cuEventQuery(event));
	OK(cu.cuEventQuery(event));
	OK(cu.cuStreamQuery(stream));
}

TEST(event_is_ready_once_more_is_given)
{
	open_with_streams();
	record(stream);
	work(other);
	OK(cu.cuEventQuery(event));
	CHECK_INT(cu.cuStreamQuery(other), CUDA_ERROR_NOT_READY);
}

TEST(each_event_waits_for_another_piece)
{
	int i;

	open_with_streams();
	for (i = 0; i < 10; i++) {
		record(stream);
		CHECK_INT(cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
		work(stream);
		OK(cu.cuEventQuery(event));
	}
}

TEST(event_is_ready_after_any_wait)
{
	open_with_streams();
	record(stream);
	OK(cu.cuStreamSynchronize(stream));
	OK(cu.cuEventQuery(event));
	record(stream);
	OK(cu.cuCtxSynchronize());
	OK(cu.cuEventQuery(event));
	record(stream);
	OK(cu.cuEventSynchronize(event));
	OK(cu.cuEventQuery(event));
}

TEST(event_is_ready_when_time_has_passed)
{
	open_with_streams();
	record(stream);
	usleep(300000);
	OK(cu.cuEventQuery(event));
	OK(cu.cuStreamQuery(stream));
}

/* A program that gives work until the last of it is done would never end otherwise. */
TEST(who_gives_more_and_asks_again_is_told_that_it_is_done)
{
	int turns = 0;

	open_with_streams();
	do
		work(stream);
	while (cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY && ++turns < 100);
	CHECK_INT(turns, 1);
	turns = 0;
	do
		record(stream);
	while (cu.cuEventQuery(event) == CUDA_ERROR_NOT_READY && ++turns < 100);
	CHECK_INT(turns, 1);
}

static bool is_over;

static void *give(void *context)
{
	OK(cu.cuCtxSetCurrent(context));
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		work(stream);
		usleep(10);
	}
	return NULL;
}

TEST(who_polls_while_another_thread_gives_ends)
{
	CUcontext context;
	pthread_t thread;
	int turns = 0;

	open_with_streams();
	OK(cu.cuCtxGetCurrent(&context));
	CHECK_INT(pthread_create(&thread, NULL, give, context), 0);
	while (cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY && turns < 100)
		turns++;
	CHECK(turns <= 1);
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

TEST(stream_that_waits_for_an_event_is_behind_it)
{
	open_with_streams();
	record(stream);
	OK(cu.cuStreamWaitEvent(other, event, 0));
	CHECK_INT(cu.cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	OK(cu.cuStreamQuery(stream));
	record(stream);
	OK(cu.cuEventDestroy_v2(event));
	OK(cu.cuEventCreate(&event, 0));
	OK(cu.cuStreamWaitEvent(other, event, 0)); /* of nothing */
	OK(cu.cuStreamQuery(other));
}

TEST(copy_to_memory_that_is_not_pinned_is_there_at_once)
{
	CUdeviceptr memory;
	void *pinned;
	char plain[64];

	open_with_streams();
	OK(cu.cuMemAlloc_v2(&memory, sizeof(plain)));
	OK(cu.cuMemHostAlloc(&pinned, sizeof(plain), 0));
	OK(cu.cuMemcpyDtoHAsync_v2(plain, memory, sizeof(plain), stream));
	OK(cu.cuStreamQuery(stream));
	OK(cu.cuMemcpyDtoHAsync_v2(pinned, memory, sizeof(plain), stream));
	CHECK_INT(cu.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	OK(cu.cuMemcpyHtoDAsync_v2(memory, pinned, sizeof(plain), stream));
	CHECK_INT(cu.cuMemFree_v2(memory), CUDA_SUCCESS);
	OK(cu.cuStreamQuery(stream));
}

TEST(function_of_the_program_has_run)
{
	open_with_streams();
	work(stream);
	OK(cu.cuLaunchHostFunc(stream, (CUhostFn)free, NULL));
	OK(cu.cuStreamQuery(stream));
}

TEST(what_has_nothing_to_do_is_ready)
{
	CUdeviceptr memory;

	open_with_streams();
	OK(cu.cuEventQuery(event));
	OK(cu.cuEventRecord(event, stream));
	OK(cu.cuEventQuery(event));
	OK(cu.cuMemAlloc_v2(&memory, 64));
	OK(cu.cuMemsetD8Async(memory, 0, 0, stream));
	OK(cu.cuStreamQuery(stream));
	OK(cu.cuCtxSynchronize());
}

TEST(graph_is_one_piece)
{
	CUgraph graph;
	CUgraphExec exec;

	open_with_streams();
	OK(cu.cuStreamBeginCapture_v2(stream, 2));
	work(stream);
	work(stream);
	OK(cu.cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu.cuStreamQuery(stream));
	OK(cu.cuGraphLaunch(exec, other));
	CHECK_INT(cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
	OK(cu.cuEventQuery(event));
	OK(cu.cuGraphLaunch(exec, other));
	OK(cu.cuStreamQuery(stream));
	CHECK_INT(cu.cuStreamQuery(other), CUDA_ERROR_NOT_READY);
}

TEST(time_between_events_is_known_when_both_are_ready)
{
	CUevent begin, end;
	float ms = -1;

	open_with_streams();
	OK(cu.cuEventCreate(&begin, 0));
	OK(cu.cuEventCreate(&end, 0));
	OK(cu.cuEventRecord(begin, stream));
	work(stream);
	OK(cu.cuEventRecord(end, stream));
	CHECK_INT(cu.cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_NOT_READY);
	CHECK(ms < 0);
	OK(cu.cuEventElapsedTime(&ms, begin, end));
	CHECK(ms > 0);
}

TEST(what_ended_with_its_context_is_no_longer_awaited)
{
	CUcontext made;
	CUstream within;

	open_with_streams();
	OK(cu.cuCtxCreate_v2(&made, 0, 0));
	OK(cu.cuStreamCreate(&within, 0));
	OK(cu.cuLaunchHostFunc(within, (CUhostFn)free, NULL));
	OK(cu.cuCtxDestroy_v2(made));
	CHECK_INT(cu.cuStreamQuery(within), CUDA_ERROR_INVALID_HANDLE);
	OK(cu.cuStreamQuery(NULL));
}
