/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: what they cost, what ends with them, and those that a program makes. */
#include <string.h>

#include "sim.h"

static uint64_t last_id;

struct sim_context *sim_context_with_id(uint64_t id)
{
	struct sim_object *at = NULL;

	while ((at = sim_object_next(at, SIM_CONTEXT)))
		if (((struct sim_context *)at)->id == id && ((struct sim_context *)at)->is_alive)
			return (struct sim_context *)at;
	return NULL;
}

void sim_context_begin(struct sim_context *context)
{
	context->is_alive = true;
	context->id = ++last_id;
	context->bytes = sim.profile.context;
	context->limits[CU_LIMIT_STACK_SIZE] = sim.profile.stack_default;
	context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = sim.profile.printf_default;
	context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = sim.profile.heap_default;
	context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
	context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
	context->limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = sim.profile.l2_persisting_default;
	context->local = sim.profile.stack_default;
	context->has_runtime = context->has_malloc = false;
	context->printf_images = 0;
	context->printf_used = context->heap_used = false;
	context->code = 0;
	context->streams = context->streams_high = 0;
	context->managed_free = 0;
	context->nodes = (struct sim_hoard){ 0, sim.profile.graph_free };
	context->params = (struct sim_hoard){ 0, sim.profile.graph_param_free };
	context->events = context->modules = (struct sim_hoard){ 0, 0 };
	context->has_launched = context->has_assert = false;
	context->legacy = (struct sim_line){ 0, 0 };
	context->blocking = 0;
	context->peers = 0;
	sim.slot->contexts[sim.devices[context->device].physical]++;
}

CUresult sim_context_new(int device, unsigned flags, struct sim_context **made)
{
	struct sim_context *context;

	if (sim_take(device, sim.profile.context) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	context = sim_object_new(SIM_CONTEXT, NULL, sizeof(*context));
	if (!context) {
		sim_give(device, sim.profile.context);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	context->device = device;
	context->flags = flags;
	sim_context_begin(context);
	*made = context;
	return CUDA_SUCCESS;
}

static void free_range(struct sim_range *range)
{
	if (range->kind == SIM_RANGE_HEAP || range->kind == SIM_RANGE_GLOBAL)
		sim_heap_free(range);
	else if (range->kind == SIM_RANGE_MANAGED)
		sim_managed_free(range);
	else if (range->kind == SIM_RANGE_HOST)
		sim_host_free(range);
	else if (range->kind == SIM_RANGE_REGISTERED)
		sim_host_leave(range);
	else
		sim_range_remove(range);
}

/* Everything that was made in it goes with it. */
void sim_context_end(struct sim_context *context)
{
	struct sim_range *range;

	sim_pending_finish();
	sim_object_delete_all(context);
	while ((range = sim_range_of(context)))
		free_range(range);
	sim_host_map_end(context);
	sim_give(context->device, context->bytes);
	sim.slot->contexts[sim.devices[context->device].physical]--;
	context->bytes = 0;
	context->is_alive = false;
}

/* ---- contexts that a program makes ---- */
CUresult sim_body_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	struct sim_context *context;
	CUresult result;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	result = sim_context_new(dev, flags, &context);
	if (result != CUDA_SUCCESS)
		return result;
	*pctx = (CUcontext)context;
	return sim_current_push(context);
}

CUresult sim_body_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                                 CUdevice dev)
{
	(void)paramsArray;
	(void)numParams;
	return sim_body_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_body_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
	(void)ctxCreateParams;
	return sim_body_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_body_cuCtxDestroy_v2(CUcontext ctx)
{
	struct sim_context *context = sim_object_get(ctx, SIM_CONTEXT);

	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!context || !context->is_alive)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context->is_primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_context_end(context);
	sim_current_forget(context);
	sim_object_delete(context);
	return CUDA_SUCCESS;
}

/* What a thread that waits does; nothing here ever waits. */
CUresult sim_body_cuCtxSetFlags(unsigned int flags)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (flags & ~0xffu)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		context->flags = flags;
	return result;
}

CUresult sim_body_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
	struct sim_context *context;
	CUresult result = sim_current_or(hCtx, &context);

	if (result == CUDA_SUCCESS)
		result = sim_capture_bears_wait(context);
	if (result != CUDA_SUCCESS)
		return result;
	if (!sim_object_get(hEvent, SIM_EVENT))
		return CUDA_ERROR_INVALID_HANDLE;
	sim_event_record(hEvent, sim_pending_last());
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
	struct sim_context *context;
	CUresult result = sim_current_or(hCtx, &context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!sim_object_get(hEvent, SIM_EVENT))
		return CUDA_ERROR_INVALID_HANDLE;
	return sim_capture_has(hEvent) ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION : CUDA_SUCCESS;
}
