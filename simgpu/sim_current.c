/* SPDX-License-Identifier: Apache-2.0 */
/* Which context a thread uses. */
#include "sim.h"

#define STACK_DEPTH 64

/* One list per thread, as the driver has it. Entries may have died since they were pushed. */
static __thread struct sim_context *stack[STACK_DEPTH];
static __thread int depth;

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

CUresult sim_current_or(CUcontext handle, struct sim_context **context)
{
	if (!handle)
		return sim_current(context);
	*context = sim_object_get(handle, SIM_CONTEXT);
	return *context && (*context)->is_alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_current_push(struct sim_context *context)
{
	if (depth == STACK_DEPTH)
		return CUDA_ERROR_INVALID_VALUE;
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

void sim_current_forget(const struct sim_context *context)
{
	if (depth && stack[depth - 1] == context)
		depth--;
}

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
		return sim_current_push(context);
	stack[depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxPushCurrent_v2(CUcontext ctx)
{
	struct sim_context *context;
	CUresult result = sim_current_or(ctx, &context);

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return result == CUDA_SUCCESS ? sim_current_push(context) : result;
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

CUresult sim_body_cuCtxPushCurrent(CUcontext ctx)
{
	return sim_body_cuCtxPushCurrent_v2(ctx);
}

CUresult sim_body_cuCtxPopCurrent(CUcontext *pctx)
{
	return sim_body_cuCtxPopCurrent_v2(pctx);
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
	CUresult result = sim_current_or(ctx, &context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = context->device;
	return CUDA_SUCCESS;
}
