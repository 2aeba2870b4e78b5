/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture does not bear: each call is made in one of each mode, which then ends well or does not. */
#include "facts.h"

#include <stdio.h>

enum { BYTES = 4096 };

static CUstream a, b; /* `a` is captured, and `f` recorded in it */
static CUstream legacy = CU_STREAM_LEGACY;
static CUevent e, f;
static CUdeviceptr memory;
static char plain[BYTES];

static CUresult ask_other(void)
{
	return tare_cu.cuStreamQuery(b);
}
static CUresult ask_captured(void)
{
	return tare_cu.cuStreamQuery(a);
}
static CUresult ask_legacy(void)
{
	return tare_cu.cuStreamQuery(legacy);
}
static CUresult ask_event(void)
{
	return tare_cu.cuEventQuery(e);
}
static CUresult ask_captured_event(void)
{
	return tare_cu.cuEventQuery(f);
}
static CUresult sync_other(void)
{
	return tare_cu.cuStreamSynchronize(b);
}
static CUresult sync_captured(void)
{
	return tare_cu.cuStreamSynchronize(a);
}
static CUresult sync_legacy(void)
{
	return tare_cu.cuStreamSynchronize(legacy);
}
static CUresult sync_event(void)
{
	return tare_cu.cuEventSynchronize(e);
}
static CUresult sync_captured_event(void)
{
	return tare_cu.cuEventSynchronize(f);
}
static CUresult elapsed_captured_event(void)
{
	float ms;

	return tare_cu.cuEventElapsedTime(&ms, e, f);
}
static CUresult elapsed_event(void)
{
	float ms;

	return tare_cu.cuEventElapsedTime(&ms, e, e);
}
static CUresult record_legacy(void)
{
	return tare_cu.cuEventRecord(e, legacy);
}
static CUresult launch_legacy(void)
{
	return tare_cu.cuLaunchKernel(function("k0"), 1, 1, 1, 1, 1, 1, 0, legacy, NULL, NULL);
}
static CUresult fill_legacy(void)
{
	return tare_cu.cuMemsetD8_v2(memory, 0, BYTES);
}
static CUresult copy_legacy(void)
{
	return tare_cu.cuMemcpyDtoH_v2(plain, memory, BYTES);
}
static CUresult wait_legacy(void)
{
	return tare_cu.cuStreamWaitEvent(legacy, f, 0);
}
static CUresult wait_other(void)
{
	return tare_cu.cuStreamWaitEvent(b, f, 0);
}
static CUresult wait_other_for_work(void)
{
	MUST(tare_cu.cuMemsetD8Async(memory, 0, BYTES, a));
	MUST(tare_cu.cuEventRecord(f, a));
	return tare_cu.cuStreamWaitEvent(b, f, 0);
}
static CUresult work_in_other(void)
{
	MUST(wait_other());
	return tare_cu.cuMemsetD8Async(memory, 0, BYTES, b);
}
static CUresult destroy_event(void)
{
	CUresult result = tare_cu.cuEventDestroy_v2(f);

	MUST(tare_cu.cuEventCreate(&f, 0));
	return result;
}
static CUresult make_stream(void)
{
	CUstream made;

	return tare_cu.cuStreamCreate(&made, 0);
}
static CUresult make_event(void)
{
	CUevent made;

	return tare_cu.cuEventCreate(&made, 0);
}

static const struct {
	const char *name;
	CUresult (*call)(void);
} within[] = {
	{ "ask_other", ask_other },
	{ "ask_captured", ask_captured },
	{ "ask_legacy", ask_legacy },
	{ "ask_event", ask_event },
	{ "ask_captured_event", ask_captured_event },
	{ "sync_other", sync_other },
	{ "sync_captured", sync_captured },
	{ "sync_legacy", sync_legacy },
	{ "sync_event", sync_event },
	{ "sync_captured_event", sync_captured_event },
	{ "elapsed_event", elapsed_event },
	{ "elapsed_captured_event", elapsed_captured_event },
	{ "record_legacy", record_legacy },
	{ "launch_legacy", launch_legacy },
	{ "fill_legacy", fill_legacy },
	{ "copy_legacy", copy_legacy },
	{ "wait_legacy", wait_legacy },
	{ "wait_other", wait_other },
	{ "wait_other_for_work", wait_other_for_work },
	{ "work_in_other", work_in_other },
	{ "destroy_event", destroy_event },
	{ "make_stream", make_stream },
	{ "make_event", make_event },
};

void captured(void)
{
	static const char *const modes[] = { "global", "thread", "relaxed" };
	CUresult result;
	CUgraph graph;
	char fact[64];
	size_t i;
	int mode;

	begin();
	function("k0");
	MUST(tare_cu.cuStreamCreate(&a, 0));
	MUST(tare_cu.cuStreamCreate(&b, 0));
	MUST(tare_cu.cuEventCreate(&e, 0));
	MUST(tare_cu.cuEventCreate(&f, 0));
	MUST(tare_cu.cuMemAlloc_v2(&memory, BYTES));
	MUST(tare_cu.cuEventRecord(e, b));
	for (mode = 0; mode < 3; mode++)
		for (i = 0; i < sizeof(within) / sizeof(within[0]); i++) {
			MUST(tare_cu.cuCtxSynchronize());
			MUST(tare_cu.cuStreamBeginCapture_v2(a, mode));
			MUST(tare_cu.cuEventRecord(f, a));
			result = within[i].call();
			snprintf(fact, sizeof(fact), "%s_%s_result", modes[mode], within[i].name);
			say(fact, result);
			snprintf(fact, sizeof(fact), "%s_%s_end_result", modes[mode], within[i].name);
			graph = NULL;
			say(fact, tare_cu.cuStreamEndCapture(a, &graph));
		}
}
