/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks whose row says CUSTOM: the call means more than one thing, or touches every device. */
#include "recorder/hooks/custom.h"

#include <errno.h>
#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/peek.h"
#include "recorder/base/scratch.h"
#include "recorder/cuda/context.h"
#include "recorder/cuda/devices.h"
#include "recorder/cuda/first.h"
#include "recorder/cuda/handles.h"
#include "recorder/hooks/call.h"
#include "recorder/hooks/hooks.h"
#include "recorder/hooks/pools.h"
#include "recorder/phase/phase.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"

#define BEGIN(symbol, class, effect) tare_call_begin(&call, CU_API_##symbol, TARE_CLASS_##class, effect)
#define BEGIN_ON(symbol, class, effect, device)                                                                        \
	tare_call_begin_on(&call, CU_API_##symbol, TARE_CLASS_##class, effect, device)

/*
 * cuInit touches every GPU the process may see, and which those are is known only after it. So all
 * of NVML's devices are read before, and an event per GPU is recorded afterwards.
 */
CUresult tare_hook_cuInit(unsigned int Flags)
{
	struct used {
		unsigned long long before[64], after[64];
	} * used;
	uint64_t since, begin, end, until;
	CUresult result;
	int saved, i, nr, known;

	if (IS_MISSING(cuInit))
		return CUDA_ERROR_NO_DEVICE;
	tare_fork_check(); /* before anything is opened for the parent's log */
	if (tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop || tare_devices_count() > 0 ||
	    tare_ring_command() != TARE_COMMAND_RECORD)
		return tare_real.cuInit(Flags);
	tare_thread.depth++;
	saved = errno;
	tare_phase_log_opens();
	tare_weigh_open();
	used = tare_scratch_take(sizeof(*used));
	nr = used ? tare_weigh_nvml_count() : 0;
	since = tare_clock_ticks();
	if (used)
		tare_devices_read_all(used->before);
	errno = saved;
	begin = tare_clock_ticks();
	result = tare_real.cuInit(Flags);
	end = tare_clock_ticks();
	saved = errno;
	if (used)
		tare_devices_read_all(used->after);
	until = tare_clock_ticks();
	tare_devices_start();
	tare_thread.depth--;
	known = result == CUDA_SUCCESS ? tare_devices_count() : 0;
	for (i = 0; i < known; i++) {
		int index = tare_devices_nvml_index(i);
		struct tare_call call;

		if (!BEGIN_ON(cuInit, DRIVER, TARE_EFFECT_CHANGE, i))
			break;
		call.is_weighed = false; /* it was, above */
		if (index >= 0 && index < nr && used->before[index] != TARE_NOT_KNOWN && used->after[index] != TARE_NOT_KNOWN) {
			call.before = used->before[index];
			call.after = used->after[index];
			call.flags = TARE_EVENT_WEIGHED;
			tare_weigh_saw(i, call.after);
		}
		call.begin = begin;
		call.reading_before = begin - since;
		call.reading_after = until - end;
		tare_call_end_at(&call, result, end);
	}
	tare_scratch_give(used, sizeof(*used));
	errno = saved;
	return result;
}

CUresult tare_hook_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	struct tare_call call;
	CUcontext context;
	CUresult result;

	if (IS_MISSING(cuDevicePrimaryCtxRetain))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!BEGIN_ON(cuDevicePrimaryCtxRetain, CONTEXT, TARE_EFFECT_NEW, dev))
		return tare_real.cuDevicePrimaryCtxRetain(pctx, dev);
	tare_weigh_learn_own_pid(dev, true);
	tare_call_read_peers(&call);
	result = tare_real.cuDevicePrimaryCtxRetain(pctx, dev);
	context = TARE_ANSWER(result, pctx);
	if (context) {
		call.flags |= TARE_EVENT_PRIMARY;
		call.handle = call.context = (uint64_t)(uintptr_t)context;
		if (tare_context_primary(dev) == context) {
			call.effect = TARE_EFFECT_CHANGE; /* retained once more */
			call.is_quiet = true;
		}
		tare_context_add(context, dev);
		tare_context_set_primary(dev, context);
		call.end = tare_clock_ticks();
		tare_weigh_learn_own_pid(dev, false);
		tare_call_end_at(&call, result, call.end);
		return result;
	}
	tare_call_end(&call, result);
	return result;
}

/* Release and reset end the context if it is not active any more, and with it all that is in it. */
static void end_primary(struct tare_call *call, CUresult result, CUdevice dev)
{
	uint64_t end = tare_clock_ticks();
	CUcontext context = tare_context_primary(dev);
	unsigned int flags;
	int active = 1;

	call->flags |= TARE_EVENT_PRIMARY;
	call->handle = call->context = (uint64_t)(uintptr_t)context;
	if (result == CUDA_SUCCESS && context && tare_real.cuDevicePrimaryCtxGetState &&
	    tare_real.cuDevicePrimaryCtxGetState(dev, &flags, &active) == CUDA_SUCCESS && !active) {
		tare_context_remove(context);
		tare_context_set_primary(dev, NULL);
		tare_pools_remove(dev); /* the ledger takes them out with the context */
		tare_first_rearm();
	} else {
		tare_pools_put_back(dev);
		call->effect = TARE_EFFECT_CHANGE;
		call->is_quiet = true;
	}
	tare_call_end_at(call, result, end);
}

#define END_PRIMARY(symbol)                                                                                            \
	CUresult tare_hook_##symbol(CUdevice dev)                                                                          \
	{                                                                                                                  \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (!BEGIN_ON(symbol, CONTEXT, TARE_EFFECT_DEL, dev))                                                          \
			return tare_real.symbol(dev);                                                                              \
		tare_pools_take_out(dev);                                                                                      \
		result = tare_real.symbol(dev);                                                                                \
		end_primary(&call, result, dev);                                                                               \
		return result;                                                                                                 \
	}
END_PRIMARY(cuDevicePrimaryCtxRelease)
END_PRIMARY(cuDevicePrimaryCtxRelease_v2)
END_PRIMARY(cuDevicePrimaryCtxReset)
END_PRIMARY(cuDevicePrimaryCtxReset_v2)

CUresult tare_hook_cuCtxDestroy_v2(CUcontext ctx)
{
	struct tare_call call;
	CUresult result;
	int device = tare_context_device(ctx);

	if (IS_MISSING(cuCtxDestroy_v2))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!(device >= 0 ? BEGIN_ON(cuCtxDestroy_v2, CONTEXT, TARE_EFFECT_DEL, device)
	                  : BEGIN(cuCtxDestroy_v2, CONTEXT, TARE_EFFECT_DEL)))
		return tare_real.cuCtxDestroy_v2(ctx);
	call.handle = call.context = (uint64_t)(uintptr_t)ctx;
	result = tare_real.cuCtxDestroy_v2(ctx);
	if (result == CUDA_SUCCESS) {
		tare_context_remove(ctx);
		tare_first_rearm();
	}
	tare_call_end(&call, result);
	return result;
}

CUresult tare_hook_cuCtxSetLimit(CUlimit limit, size_t value)
{
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuCtxSetLimit))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!BEGIN(cuCtxSetLimit, LIMIT, TARE_EFFECT_CHANGE))
		return tare_real.cuCtxSetLimit(limit, value);
	call.limit = (uint64_t)limit;
	call.asked = value;
	result = tare_real.cuCtxSetLimit(limit, value);
	if (result == CUDA_SUCCESS)
		tare_first_rearm(); /* the next launch of any function may have to grow for it */
	tare_call_end(&call, result);
	return result;
}

#define UNLOAD(symbol, class, type)                                                                                    \
	CUSTOM_HOOK(symbol, (type unloaded), (unloaded), BEGIN(symbol, class, TARE_EFFECT_DEL),                            \
	            call.handle = (uint64_t)(uintptr_t)unloaded,                                                           \
	            if (result == CUDA_SUCCESS) tare_functions_unload(unloaded))
UNLOAD(cuModuleUnload, MODULE, CUmodule)
UNLOAD(cuLibraryUnload, LIBRARY, CUlibrary)

/* Asked for before every launch by some libraries; the first time for a kernel loads its code. */
CUresult tare_hook_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuKernelGetFunction))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (tare_config.nop || !tare_first_time_with(kernel, 1) || !BEGIN(cuKernelGetFunction, CODE, TARE_EFFECT_CHANGE))
		return tare_real.cuKernelGetFunction(pFunc, kernel);
	result = tare_real.cuKernelGetFunction(pFunc, kernel);
	call.parent = (uint64_t)(uintptr_t)kernel;
	call.handle = (uint64_t)(uintptr_t)TARE_ANSWER(result, pFunc);
	tare_call_end(&call, result);
	return result;
}

/*
 * Some libraries set an attribute before every launch. Only a value that is new for the function can
 * change anything, and then its next launch is a first one again.
 */
#define SET_ATTRIBUTE(symbol, params, args, function, value)                                                           \
	CUresult tare_hook_##symbol params                                                                                 \
	{                                                                                                                  \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (tare_config.nop ||                                                                                         \
		    !tare_first_time_with(function, (uint64_t)(unsigned int)attrib << 32 | (uint32_t)(value)) ||               \
		    !BEGIN(symbol, CODE, TARE_EFFECT_CHANGE))                                                                  \
			return tare_real.symbol args;                                                                              \
		call.parent = (uint64_t)(uintptr_t)(function);                                                                 \
		call.limit = (uint64_t)(unsigned int)attrib;                                                                   \
		call.asked = (uint64_t)(int64_t)(value);                                                                       \
		result = tare_real.symbol args;                                                                                \
		tare_first_forget(function);                                                                                   \
		tare_call_end(&call, result);                                                                                  \
		return result;                                                                                                 \
	}
SET_ATTRIBUTE(cuFuncSetAttribute, (CUfunction hfunc, CUfunction_attribute attrib, int value), (hfunc, attrib, value),
              hfunc, value)
SET_ATTRIBUTE(cuKernelSetAttribute, (CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev),
              (attrib, val, kernel, dev), kernel, val)

/* The driver's answer, or the hook of what it is. */
static void swap_answer(const char *symbol, void **pfn, CUresult result)
{
	void *found = TARE_ANSWER(result, pfn);

	if (found && tare_thread.depth == 0)
		*pfn = tare_driver_swap_version(symbol, found);
}

CUresult tare_hook_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	CUresult result;

	if (IS_MISSING(cuGetProcAddress))
		return CUDA_ERROR_NOT_INITIALIZED;
	result = tare_real.cuGetProcAddress(symbol, pfn, cudaVersion, flags);
	swap_answer(symbol, pfn, result);
	return result;
}

CUresult tare_hook_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                       CUdriverProcAddressQueryResult *symbolStatus)
{
	CUresult result;

	if (IS_MISSING(cuGetProcAddress_v2))
		return CUDA_ERROR_NOT_INITIALIZED;
	result = tare_real.cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
	swap_answer(symbol, pfn, result);
	return result;
}

/* Exported under the driver's names, as hooks.c does for the generated ones; wherever the hook is. */
#define EXPORT_NEW(symbol, params, args)
#define EXPORT_DEL    EXPORT_NEW
#define EXPORT_WEIGH  EXPORT_NEW
#define EXPORT_FIRST  EXPORT_NEW
#define EXPORT_NOTE   EXPORT_NEW
#define EXPORT_SYNC   EXPORT_NEW
#define EXPORT_CALL   EXPORT_NEW
#define EXPORT_ANSWER EXPORT_CUSTOM
#define EXPORT_CUSTOM(symbol, params, args)                                                                            \
	TARE_EXPORT CUresult symbol params;                                                                                \
	CUresult symbol params                                                                                             \
	{                                                                                                                  \
		return tare_hook_##symbol args;                                                                                \
	}
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) EXPORT_##shape(symbol, params, args)
#include "recorder/cuda/cuda_api.def"
#undef CU_API
