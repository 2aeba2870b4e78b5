/* SPDX-License-Identifier: Apache-2.0 */
/* What is not done yet, asked while a kernel of a tenth of a second runs: streams, events, and calls that wait. */
#include "facts.h"

#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096 };

static const char slow_image[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry slow()\n{\n"
								 "\t.reg .pred %p;\n\t.reg .u64 %begin, %now;\n\tmov.u64 %begin, %globaltimer;\n"
								 "AGAIN:\n\tmov.u64 %now, %globaltimer;\n\tsub.u64 %now, %now, %begin;\n"
								 "\tsetp.lt.u64 %p, %now, 100000000;\n\t@%p bra AGAIN;\n\tret;\n}\n";
static CUfunction slow;
static CUstream a, b, apart; /* `apart` does not wait for the default one */
static CUstream legacy = CU_STREAM_LEGACY, own = CU_STREAM_PER_THREAD;
static CUevent e, f;
static CUdeviceptr memory, memory_2;
static void *pinned;
static char plain[BYTES];

/* The device gets there, and what it was given since is asked for. */
static void work(CUstream stream)
{
	MUST(tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuLaunchKernel(slow, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static CUresult stream_now(CUstream stream)
{
	usleep(20000);
	return tare_cu.cuStreamQuery(stream);
}

static CUresult event_in(CUstream stream)
{
	MUST(tare_cu.cuEventRecord(e, stream));
	usleep(20000);
	return tare_cu.cuEventQuery(e);
}

static void set_up(void)
{
	CUmodule loaded;

	begin();
	MUST(tare_cu.cuModuleLoadData(&loaded, slow_image));
	MUST(tare_cu.cuModuleGetFunction(&slow, loaded, "slow"));
	MUST(tare_cu.cuStreamCreate(&a, 0));
	MUST(tare_cu.cuStreamCreate(&b, 0));
	MUST(tare_cu.cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
	MUST(tare_cu.cuEventCreate(&e, 0));
	MUST(tare_cu.cuEventCreate(&f, 0));
	MUST(tare_cu.cuMemAlloc_v2(&memory, BYTES));
	MUST(tare_cu.cuMemAlloc_v2(&memory_2, BYTES));
	MUST(tare_cu.cuMemHostAlloc(&pinned, BYTES, 0));
}

#define BEHIND(name, stream, call)                                                                                     \
	do {                                                                                                               \
		work(stream);                                                                                                  \
		RESULT(name, call);                                                                                            \
	} while (0)

static void one_stream_behind_another(void)
{
	RESULT("stream_idle", tare_cu.cuStreamQuery(a));
	RESULT("event_never_recorded", tare_cu.cuEventQuery(e));
	BEHIND("stream", a, stream_now(a));
	BEHIND("stream_other", a, stream_now(b));
	BEHIND("legacy_of_stream", a, stream_now(legacy));
	BEHIND("legacy_of_apart", apart, stream_now(legacy));
	BEHIND("stream_of_legacy", legacy, stream_now(a));
	BEHIND("apart_of_legacy", legacy, stream_now(apart));
	BEHIND("own_of_legacy", legacy, stream_now(own));
	BEHIND("legacy_of_own", own, stream_now(legacy));
	BEHIND("own", own, stream_now(own));
	BEHIND("event", a, event_in(a));
	BEHIND("event_other", a, event_in(b));
	BEHIND("event_legacy_of_stream", a, event_in(legacy));
	BEHIND("event_legacy_of_apart", apart, event_in(legacy));
	BEHIND("event_stream_of_legacy", legacy, event_in(a));
	BEHIND("event_apart_of_legacy", legacy, event_in(apart));
	BEHIND("event_own_of_legacy", legacy, event_in(own));
}

static CUresult wait_in(CUstream stream)
{
	MUST(tare_cu.cuEventRecord(e, a));
	MUST(tare_cu.cuStreamWaitEvent(stream, e, 0));
	MUST(tare_cu.cuEventRecord(f, stream));
	usleep(20000);
	return tare_cu.cuEventQuery(f);
}

static CUresult wait_then(CUstream stream)
{
	MUST(tare_cu.cuEventRecord(e, a));
	MUST(tare_cu.cuStreamWaitEvent(stream, e, 0));
	return stream_now(stream);
}

static CUresult recorded_before(void)
{
	MUST(tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuEventRecord(e, a));
	work(a);
	usleep(20000);
	return tare_cu.cuEventQuery(e);
}

static CUresult elapsed(unsigned flags)
{
	CUevent begun, ended;
	float ms;

	MUST(tare_cu.cuEventCreate(&begun, flags));
	MUST(tare_cu.cuEventCreate(&ended, flags));
	MUST(tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuEventRecord(begun, a));
	work(a);
	MUST(tare_cu.cuEventRecord(ended, a));
	return tare_cu.cuEventElapsedTime(&ms, begun, ended);
}

static CUresult elapsed_half(void)
{
	float ms;

	MUST(tare_cu.cuEventDestroy_v2(f));
	MUST(tare_cu.cuEventCreate(&f, 0));
	MUST(tare_cu.cuEventRecord(e, a));
	return tare_cu.cuEventElapsedTime(&ms, e, f);
}

static void events_that_wait(void)
{
	BEHIND("wait", a, wait_then(b));
	BEHIND("wait_apart", a, wait_then(apart));
	BEHIND("wait_event", a, wait_in(b));
	BEHIND("wait_event_legacy", a, wait_in(legacy));
	RESULT("event_before", recorded_before());
	RESULT("elapsed_not_ready", elapsed(0));
	RESULT("elapsed_not_ready_untimed", elapsed(CU_EVENT_DISABLE_TIMING));
	BEHIND("elapsed_half_unrecorded", a, elapsed_half());
	BEHIND("event_destroyed_pending", a, (tare_cu.cuEventRecord(f, a), tare_cu.cuEventDestroy_v2(f)));
	MUST(tare_cu.cuEventCreate(&f, 0));
}

#define AFTER(name, call)                                                                                              \
	do {                                                                                                               \
		work(a);                                                                                                       \
		MUST(call);                                                                                                    \
		RESULT("after_" name, stream_now(a));                                                                          \
	} while (0)

static void calls_that_wait(void)
{
	CUstream gone;
	CUevent gone_too;
	CUdeviceptr p;
	CUmodule loaded;
	void *host;

	AFTER("copy_to_device", tare_cu.cuMemcpyHtoD_v2(memory, plain, BYTES));
	AFTER("copy_from_device", tare_cu.cuMemcpyDtoH_v2(plain, memory, BYTES));
	AFTER("copy_on_device", tare_cu.cuMemcpyDtoD_v2(memory, memory_2, BYTES));
	AFTER("copy_to_device_async", tare_cu.cuMemcpyHtoDAsync_v2(memory, plain, BYTES, a));
	AFTER("copy_from_device_async", tare_cu.cuMemcpyDtoHAsync_v2(plain, memory, BYTES, a));
	AFTER("copy_pinned_async", tare_cu.cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, a));
	AFTER("fill", tare_cu.cuMemsetD8_v2(memory, 0, BYTES));
	AFTER("event_sync", (tare_cu.cuEventRecord(e, a), tare_cu.cuEventSynchronize(e)));
	AFTER("stream_sync", tare_cu.cuStreamSynchronize(a));
	AFTER("legacy_sync", tare_cu.cuStreamSynchronize(legacy));
	AFTER("alloc", tare_cu.cuMemAlloc_v2(&p, 64 << 20));
	AFTER("free", tare_cu.cuMemFree_v2(p));
	AFTER("host_alloc", tare_cu.cuMemHostAlloc(&host, 64 << 20, 0));
	AFTER("host_free", tare_cu.cuMemFreeHost(host));
	AFTER("alloc_async", tare_cu.cuMemAllocAsync(&p, 1 << 20, a));
	AFTER("free_async", tare_cu.cuMemFreeAsync(p, a));
	AFTER("stream_create", tare_cu.cuStreamCreate(&gone, 0));
	AFTER("stream_destroy", tare_cu.cuStreamDestroy_v2(gone));
	AFTER("event_create", tare_cu.cuEventCreate(&gone_too, 0));
	AFTER("event_destroy", tare_cu.cuEventDestroy_v2(gone_too));
	AFTER("host_register", tare_cu.cuMemHostRegister_v2(plain, BYTES, 0));
	AFTER("host_unregister", tare_cu.cuMemHostUnregister(plain));
	AFTER("module_load", tare_cu.cuModuleLoadData(&loaded, slow_image));
	AFTER("module_unload", tare_cu.cuModuleUnload(loaded));
}

static void graphs_that_run(void)
{
	CUgraph graph;
	CUgraphExec exec;

	MUST(tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuStreamBeginCapture_v2(a, 2));
	MUST(tare_cu.cuLaunchKernel(slow, 1, 1, 1, 1, 1, 1, 0, a, NULL, NULL));
	MUST(tare_cu.cuEventRecordWithFlags(f, a, CU_EVENT_RECORD_EXTERNAL));
	MUST(tare_cu.cuStreamEndCapture(a, &graph));
	MUST(tare_cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	MUST(tare_cu.cuGraphLaunch(exec, b));
	RESULT("graph", stream_now(b));
	MUST(tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuGraphLaunch(exec, b));
	RESULT("graph_event", (usleep(20000), tare_cu.cuEventQuery(f)));
}

static void without_context(void)
{
	MUST(tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuCtxSetCurrent(NULL));
	RESULT("no_context_stream", tare_cu.cuStreamQuery(a));
	RESULT("no_context_legacy", tare_cu.cuStreamQuery(legacy));
	RESULT("no_context_stream_sync", tare_cu.cuStreamSynchronize(a));
	RESULT("no_context_legacy_sync", tare_cu.cuStreamSynchronize(legacy));
	RESULT("no_context_event", tare_cu.cuEventQuery(e));
	RESULT("no_context_event_sync", tare_cu.cuEventSynchronize(e));
	RESULT("no_context_record", tare_cu.cuEventRecord(e, a));
	RESULT("no_context_record_legacy", tare_cu.cuEventRecord(e, legacy));
	MUST(tare_cu.cuCtxSetCurrent(context));
}

static void in_another_context(void)
{
	CUstream other;
	CUevent its_own;
	CUcontext second;
	float ms;

	MUST(tare_cu.cuCtxCreate_v2(&second, 0, 0));
	MUST(tare_cu.cuStreamCreate(&other, 0));
	MUST(tare_cu.cuEventCreate(&its_own, 0));
	RESULT("other_context_record", tare_cu.cuEventRecord(e, other));
	RESULT("other_context_record_its_own", tare_cu.cuEventRecord(its_own, a));
	RESULT("other_context_record_legacy", tare_cu.cuEventRecord(e, legacy));
	MUST(tare_cu.cuEventRecord(its_own, other));
	RESULT("other_context_wait", tare_cu.cuStreamWaitEvent(a, its_own, 0));
	RESULT("other_context_launch", tare_cu.cuLaunchKernel(slow, 1, 1, 1, 1, 1, 1, 0, a, NULL, NULL));
	RESULT("other_context_query", tare_cu.cuStreamQuery(a));
	RESULT("other_context_sync", tare_cu.cuStreamSynchronize(a));
	MUST(tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuCtxSetCurrent(context));
	MUST(tare_cu.cuEventRecord(e, a));
	MUST(tare_cu.cuCtxSynchronize());
	RESULT("other_context_elapsed", tare_cu.cuEventElapsedTime(&ms, e, its_own));
	MUST(tare_cu.cuCtxDestroy_v2(second));
}

void pending(void)
{
	set_up();
	one_stream_behind_another();
	events_that_wait();
	calls_that_wait();
	graphs_that_run();
	without_context();
	in_another_context();
	MUST(tare_cu.cuEventDestroy_v2(f));
	RESULT("null_event", tare_cu.cuEventQuery(NULL));
	RESULT("destroyed_event", tare_cu.cuEventQuery(f));
	RESULT("destroyed_event_sync", tare_cu.cuEventSynchronize(f));
	RESULT("destroyed_event_record", tare_cu.cuEventRecord(f, a));
	RESULT("destroyed_event_destroy", tare_cu.cuEventDestroy_v2(f));
}
