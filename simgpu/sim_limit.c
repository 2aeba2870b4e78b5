/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a context, local memory, and what else a context says of itself. */
#include "sim.h"

#define API_VERSION 3020

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
	per_thread = sim_round_up(per_thread, sim.profile.stack_align);
	return per_thread > context->local ? set_local(context, per_thread) : CUDA_SUCCESS;
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
		value = sim_round_up(value, sim.profile.stack_align);
		result = set_local(context, value);
	}
	if (result == CUDA_SUCCESS)
		context->limits[limit] = value;
	return result;
}

/* ---- other properties ---- */
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
	CUresult result = sim_current_or(ctx, &context);

	if (result == CUDA_SUCCESS && version)
		*version = API_VERSION;
	return result != CUDA_SUCCESS || version ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
	struct sim_context *context;
	CUresult result = sim_current_or(ctx, &context);

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
	if (context->peers & 1ull << peer->device)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	context->peers |= 1ull << peer->device;
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
	if (!(context->peers & 1ull << peer->device))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	context->peers &= ~(1ull << peer->device);
	return CUDA_SUCCESS;
}
