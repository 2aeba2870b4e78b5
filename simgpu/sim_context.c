/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: what they cost, which one a thread uses, and what ends with them. */
#include <string.h>

#include "sim.h"

#define STACK_DEPTH 64
#define API_VERSION 3020
#define STACK_ALIGN 16

/* One list per thread, as the driver has it. Entries may have died since they were pushed. */
static __thread struct sim_context *stack[STACK_DEPTH];
static __thread int depth;

static uint64_t last_id;

static CUresult check(struct sim_context *context)
{
	if (!sim_object_get(context, SIM_CONTEXT) || !context->is_alive)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return CUDA_SUCCESS;
}

CUresult sim_current(struct sim_context **context)
{
	if (!depth || !stack[depth - 1])
		return CUDA_ERROR_INVALID_CONTEXT;
	*context = stack[depth - 1];
	return check(*context);
}

static CUresult from_handle(CUcontext handle, struct sim_context **context)
{
	if (!handle)
		return sim_current(context);
	*context = sim_object_get(handle, SIM_CONTEXT);
	return *context && (*context)->is_alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_context_take(struct sim_context *context, uint64_t bytes)
{
	CUresult result = sim_take(context->device, bytes);

	if (result == CUDA_SUCCESS)
		context->bytes += bytes;
	return result;
}

void sim_context_give(struct sim_context *context, uint64_t bytes)
{
	sim_give(context->device, bytes);
	context->bytes -= bytes;
}

/* The device runs so many threads at once, and each of them needs this much of its own. */
static uint64_t local_bytes(uint64_t per_thread)
{
	uint64_t bytes = sim.profile.sm_count * sim.profile.threads_per_sm * per_thread;

	return sim_round_up(bytes + sim.profile.local_extra, sim.profile.page);
}

static CUresult set_local(struct sim_context *context, uint64_t per_thread)
{
	uint64_t now = local_bytes(context->local), wanted = local_bytes(per_thread);
	CUresult result = CUDA_SUCCESS;

	if (wanted > now)
		result = sim_context_take(context, wanted - now);
	else
		sim_context_give(context, now - wanted);
	if (result == CUDA_SUCCESS)
		context->local = per_thread;
	return result;
}

CUresult sim_context_grow_local(struct sim_context *context, uint64_t per_thread)
{
	per_thread = sim_round_up(per_thread, STACK_ALIGN);
	return per_thread > context->local ? set_local(context, per_thread) : CUDA_SUCCESS;
}

struct sim_context *sim_context_with_id(uint64_t id)
{
	struct sim_object *at = NULL;

	while ((at = sim_object_next(at, SIM_CONTEXT)))
		if (((struct sim_context *)at)->id == id && ((struct sim_context *)at)->is_alive)
			return (struct sim_context *)at;
	return NULL;
}

/* ---- beginning and end ---- */
static void begin(struct sim_context *context)
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
	context->peers = 0;
	sim.slot->contexts[sim.devices[context->device].physical]++;
}

static CUresult context_new(int device, unsigned flags, struct sim_context **made)
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
	begin(context);
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
	else
		sim_range_remove(range);
}

/* Everything that was made in it goes with it. */
static void end(struct sim_context *context)
{
	struct sim_range *range;

	sim_object_delete_all(context);
	while ((range = sim_range_of(context)))
		free_range(range);
	sim_give(context->device, context->bytes);
	sim.slot->contexts[sim.devices[context->device].physical]--;
	context->bytes = 0;
	context->is_alive = false;
}

/* ---- the primary context ---- */
static CUresult primary_begin(struct sim_device *device, CUdevice dev)
{
	if (!device->primary)
		return context_new(dev, device->primary_flags, &device->primary);
	/* The handle stays the same for the life of the process. */
	if (sim_take(dev, sim.profile.context) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	device->primary->flags = device->primary_flags;
	begin(device->primary);
	return CUDA_SUCCESS;
}

static void primary_end(struct sim_device *device, CUdevice dev)
{
	if (!device->primary || !device->primary->is_alive)
		return;
	end(device->primary);
	sim_pool_reset(dev);
}

CUresult sim_body_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	struct sim_device *device = &sim.devices[dev];
	CUresult result;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!device->primary || !device->primary->is_alive) {
		result = primary_begin(device, dev);
		if (result != CUDA_SUCCESS)
			return result;
		device->primary->is_primary = true;
	}
	device->primary_refs++;
	*pctx = (CUcontext)device->primary;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!sim.devices[dev].primary_refs)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (--sim.devices[dev].primary_refs == 0)
		primary_end(&sim.devices[dev], dev);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return sim_body_cuDevicePrimaryCtxRelease_v2(dev);
}

/* The references stay: whoever retained it has still to release it. */
CUresult sim_body_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	primary_end(&sim.devices[dev], dev);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxReset(CUdevice dev)
{
	return sim_body_cuDevicePrimaryCtxReset_v2(dev);
}

CUresult sim_body_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = sim.devices[dev].primary_flags;
	*active = sim.devices[dev].primary && sim.devices[dev].primary->is_alive;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	sim.devices[dev].primary_flags = flags;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	return sim_body_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

/* ---- contexts that a program makes ---- */
static CUresult push(struct sim_context *context)
{
	if (depth == STACK_DEPTH)
		return CUDA_ERROR_INVALID_VALUE;
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	struct sim_context *context;
	CUresult result;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (depth == STACK_DEPTH)
		return CUDA_ERROR_INVALID_VALUE;
	result = context_new(dev, flags, &context);
	if (result != CUDA_SUCCESS)
		return result;
	*pctx = (CUcontext)context;
	return push(context);
}

CUresult sim_body_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
				 unsigned int flags, CUdevice dev)
{
	(void)paramsArray;
	(void)numParams;
	return sim_body_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_body_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
				 CUdevice dev)
{
	(void)ctxCreateParams;
	return sim_body_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_body_cuCtxDestroy_v2(CUcontext ctx)
{
	struct sim_context *context = sim_object_get(ctx, SIM_CONTEXT);

	if (!context || !context->is_alive)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context->is_primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	end(context);
	if (depth && stack[depth - 1] == context)
		depth--;
	sim_object_delete(context);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags)
{
	(void)desc;
	(void)flags;
	if (!phCtx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev) || !sim.devices[dev].primary_refs)
		return CUDA_ERROR_INVALID_DEVICE;
	*phCtx = sim_object_new(SIM_GREEN, sim.devices[dev].primary, sizeof(struct sim_object));
	return *phCtx ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_body_cuGreenCtxDestroy(CUgreenCtx hCtx)
{
	struct sim_object *green = sim_object_get(hCtx, SIM_GREEN);

	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_object_delete(green);
	return CUDA_SUCCESS;
}

/* ---- which one a thread uses ---- */
CUresult sim_body_cuCtxGetCurrent(CUcontext *pctx)
{
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = depth ? (CUcontext)stack[depth - 1] : NULL;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxSetCurrent(CUcontext ctx)
{
	struct sim_context *context;

	if (!ctx) {
		depth -= depth > 0;
		return CUDA_SUCCESS;
	}
	context = sim_object_get(ctx, SIM_CONTEXT); /* a primary context may be over for now */
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!depth)
		return push(context);
	stack[depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxPushCurrent_v2(CUcontext ctx)
{
	struct sim_context *context;
	CUresult result = from_handle(ctx, &context);

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return result == CUDA_SUCCESS ? push(context) : result;
}

CUresult sim_body_cuCtxPopCurrent_v2(CUcontext *pctx)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (pctx)
		*pctx = (CUcontext)stack[depth];
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxGetDevice(CUdevice *device)
{
	struct sim_context *context = depth ? sim_object_get(stack[depth - 1], SIM_CONTEXT) : NULL;

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = context->device;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
	struct sim_context *context;
	CUresult result = from_handle(ctx, &context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = context->device;
	return CUDA_SUCCESS;
}

/* ---- what a context says of itself ---- */
CUresult sim_body_cuCtxGetFlags(unsigned int *flags)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result == CUDA_SUCCESS && flags)
		*flags = context->flags;
	return result != CUDA_SUCCESS || flags ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
	struct sim_context *context;
	CUresult result = from_handle(ctx, &context);

	if (result == CUDA_SUCCESS && version)
		*version = API_VERSION;
	return result != CUDA_SUCCESS || version ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
	struct sim_context *context;
	CUresult result = from_handle(ctx, &context);

	if (result == CUDA_SUCCESS && ctxId)
		*ctxId = context->id;
	return result != CUDA_SUCCESS || ctxId ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (leastPriority)
		*leastPriority = 0;
	if (greatestPriority)
		*greatestPriority = -5;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result == CUDA_SUCCESS && pconfig)
		*pconfig = 0;
	return result != CUDA_SUCCESS || pconfig ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuCtxSetCacheConfig(CUfunc_cache config)
{
	struct sim_context *context;

	(void)config;
	return sim_current(&context);
}

CUresult sim_body_cuCtxResetPersistingL2Cache(void)
{
	struct sim_context *context;

	return sim_current(&context);
}

CUresult sim_body_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
	struct sim_context *context, *peer = sim_object_get(peerContext, SIM_CONTEXT);
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!peer || !peer->is_alive || peer->device == context->device)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context->peers & 1u << peer->device)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	context->peers |= 1u << peer->device;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxDisablePeerAccess(CUcontext peerContext)
{
	struct sim_context *context, *peer = sim_object_get(peerContext, SIM_CONTEXT);
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!peer || !peer->is_alive)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!(context->peers & 1u << peer->device))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	context->peers &= ~(1u << peer->device);
	return CUDA_SUCCESS;
}

/* ---- limits ---- */
static CUresult check_limit(CUlimit limit)
{
	if (limit < 0 || limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
		return CUDA_ERROR_INVALID_VALUE;
	return limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_SUCCESS;
}

CUresult sim_body_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result == CUDA_SUCCESS)
		result = pvalue ? check_limit(limit) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*pvalue = context->limits[limit];
	return result;
}

/* As measured: room for the stack changes at once, down too; the other two are fixed by first use. */
CUresult sim_body_cuCtxSetLimit(CUlimit limit, size_t value)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result == CUDA_SUCCESS)
		result = check_limit(limit);
	if (result != CUDA_SUCCESS)
		return result;
	if ((limit == CU_LIMIT_PRINTF_FIFO_SIZE && context->printf_used) ||
	    (limit == CU_LIMIT_MALLOC_HEAP_SIZE && context->heap_used))
		return CUDA_ERROR_INVALID_VALUE;
	if (limit == CU_LIMIT_STACK_SIZE) {
		value = sim_round_up(value, STACK_ALIGN);
		result = set_local(context, value);
	}
	if (result == CUDA_SUCCESS)
		context->limits[limit] = value;
	return result;
}
