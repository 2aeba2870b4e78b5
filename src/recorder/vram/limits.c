/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's functions that take device memory, each within the limit of its card. Where --vram is
 * given, hooks call these instead of the driver's; without it they are never reached.
 */
#include "recorder/vram/limits.h"

#include "recorder/base/peek.h"
#include "recorder/cuda/arrays.h"
#include "recorder/cuda/first.h"
#include "recorder/cuda/handles.h"
#include "recorder/cuda/real.h"
#include "recorder/recorder.h"

/* What the driver takes for this many bytes at least, and at most. */
static uint64_t pages(uint64_t bytes)
{
	return bytes > UINT64_MAX - TARE_CUDA_PAGE ? UINT64_MAX - TARE_CUDA_PAGE
	                                           : (bytes + TARE_CUDA_PAGE - 1) / TARE_CUDA_PAGE * TARE_CUDA_PAGE;
}

static uint64_t least(uint64_t bytes)
{
	return bytes < TARE_CUDA_PAGE ? 0 : pages(bytes);
}

/*
 * `out`: where the driver writes what it made; what stood there comes back if it is undone. The kinds
 * of memory that the driver keeps of an undone call: kept.c.
 */
#define LIMITED(symbol, params, args, where, at_least, at_most, kind, out, undo)                                       \
	static CUresult limit_##symbol params                                                                              \
	{                                                                                                                  \
		__typeof__(*(out)) old;                                                                                        \
		struct tare_limit limit;                                                                                       \
		CUresult result;                                                                                               \
                                                                                                                       \
		tare_peek(&old, out, sizeof(old));                                                                             \
		if (!tare_limit_begin(&limit, where, at_least, at_most))                                                       \
			return CUDA_ERROR_OUT_OF_MEMORY;                                                                           \
		tare_kept_charge(&limit, kind);                                                                                \
		result = tare_driver.symbol args;                                                                              \
		if (unlikely((out) && tare_limit_is_passed(&limit, result))) {                                                 \
			undo;                                                                                                      \
			*(out) = old;                                                                                              \
			tare_kept_keep(&limit, kind);                                                                              \
			result = CUDA_ERROR_OUT_OF_MEMORY;                                                                         \
		}                                                                                                              \
		if (result == CUDA_SUCCESS)                                                                                    \
			tare_kept_count(kind, 1);                                                                                  \
		tare_limit_end(&limit);                                                                                        \
		return result;                                                                                                 \
	}
#define HERE tare_limit_device()

/* ---- allocations ---- */
LIMITED(cuMemAlloc_v2, (CUdeviceptr * dptr, size_t bytesize), (dptr, bytesize), HERE, least(bytesize), pages(bytesize),
        TARE_KEPT_NONE, dptr, tare_driver.cuMemFree_v2(TARE_ANSWER(result, dptr)))

static uint64_t rows(uint64_t width, uint64_t height)
{
	uint64_t pitch = (width + 511) / 512 * 512;

	return height && pitch > UINT64_MAX / height ? UINT64_MAX : pitch * height;
}

LIMITED(cuMemAllocPitch_v2,
        (CUdeviceptr * dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned int ElementSizeBytes),
        (dptr, pPitch, WidthInBytes, Height, ElementSizeBytes), HERE, least(rows(WidthInBytes, Height)),
        pages(rows(WidthInBytes, Height)), TARE_KEPT_NONE, dptr, tare_driver.cuMemFree_v2(TARE_ANSWER(result, dptr)))

/* Where the driver can move managed memory out again, a card takes as much as the host has. */
#define MANAGED(bytes) (tare_ask_moves_managed(HERE) ? 0 : (bytes))
LIMITED(cuMemAllocManaged, (CUdeviceptr * dptr, size_t bytesize, unsigned int flags), (dptr, bytesize, flags), HERE,
        MANAGED(least(bytesize)), MANAGED(pages(bytesize)), TARE_KEPT_NONE, dptr,
        tare_driver.cuMemFree_v2(TARE_ANSWER(result, dptr)))

/* Elements are counted; how the driver lays them out is its affair, and is looked at afterwards. */
#define ARRAY(symbol, params, args, bytes, destroy)                                                                    \
	LIMITED(symbol, params, args, HERE, least(bytes), TARE_LIMIT_OPEN, TARE_KEPT_NONE, pHandle,                        \
	        tare_driver.destroy(TARE_ANSWER(result, pHandle)))
ARRAY(cuArrayCreate_v2, (CUarray * pHandle, const CUDA_ARRAY_DESCRIPTOR *d), (pHandle, d), tare_array_bytes(d),
      cuArrayDestroy)
ARRAY(cuArray3DCreate_v2, (CUarray * pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d), (pHandle, d), tare_array3d_bytes(d, 1),
      cuArrayDestroy)
ARRAY(cuMipmappedArrayCreate, (CUmipmappedArray * pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels),
      (pHandle, d, levels), tare_array3d_bytes(d, levels), cuMipmappedArrayDestroy)

LIMITED(cuMemCreate,
        (CUmemGenericAllocationHandle * handle, size_t size, const CUmemAllocationProp *prop, unsigned long long flags),
        (handle, size, prop, flags), tare_device_of(prop), pages(size), pages(size), TARE_KEPT_NONE, handle,
        tare_driver.cuMemRelease(TARE_ANSWER(result, handle)))

/* ---- what only weighing tells: let through, looked at, and undone if the card had no room ---- */
/* Streams have two kinds of room, in steps of a page. */
#define STREAM(symbol, params, args)                                                                                   \
	LIMITED(symbol, params, args, HERE, 0, 2 * TARE_CUDA_PAGE, TARE_KEPT_STREAM, phStream,                             \
	        tare_driver.cuStreamDestroy_v2(TARE_ANSWER(result, phStream)))
STREAM(cuStreamCreate, (CUstream * phStream, unsigned int Flags), (phStream, Flags))
STREAM(cuStreamCreateWithPriority, (CUstream * phStream, unsigned int flags, int priority), (phStream, flags, priority))

#define MODULE(symbol, params, args)                                                                                   \
	LIMITED(symbol, params, args, HERE, 0, TARE_LIMIT_OPEN, TARE_KEPT_CODE, module,                                    \
	        tare_driver.cuModuleUnload(TARE_ANSWER(result, module)))
MODULE(cuModuleLoad, (CUmodule * module, const char *fname), (module, fname))
MODULE(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
MODULE(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned int n, CUjit_option *options, void **values),
       (module, image, n, options, values))
MODULE(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin), (module, fatCubin))

#define LIBRARY(symbol, type, what)                                                                                    \
	LIMITED(symbol,                                                                                                    \
	        (CUlibrary * library, type what, CUjit_option * jit, void **jit_values, unsigned int jit_nr,               \
	         CUlibraryOption *options, void **values, unsigned int nr),                                                \
	        (library, what, jit, jit_values, jit_nr, options, values, nr), HERE, 0, TARE_LIMIT_OPEN, TARE_KEPT_CODE,   \
	        library, tare_driver.cuLibraryUnload(TARE_ANSWER(result, library)))
LIBRARY(cuLibraryLoadData, const void *, code)
LIBRARY(cuLibraryLoadFromFile, const char *, file)

/* Code that is loaded for a function stays until its module goes: nothing can be undone. */
#define FUNCTION(symbol, params, args, out)                                                                            \
	LIMITED(symbol, params, args, HERE, 0, TARE_LIMIT_OPEN, TARE_KEPT_CODE, out, (void)0)
FUNCTION(cuModuleGetFunction, (CUfunction * hfunc, CUmodule hmod, const char *name), (hfunc, hmod, name), hfunc)
FUNCTION(cuKernelGetFunction, (CUfunction * pFunc, CUkernel kernel), (pFunc, kernel), pFunc)

#define GRAPH(symbol, params, args)                                                                                    \
	LIMITED(symbol, params, args, HERE, 0, TARE_LIMIT_OPEN, TARE_KEPT_GRAPH, phGraphExec,                              \
	        tare_driver.cuGraphExecDestroy(TARE_ANSWER(result, phGraphExec)))
GRAPH(cuGraphInstantiate, (CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *log, size_t size),
      (phGraphExec, hGraph, phErrorNode, log, size))
GRAPH(cuGraphInstantiate_v2,
      (CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *log, size_t size),
      (phGraphExec, hGraph, phErrorNode, log, size))
GRAPH(cuGraphInstantiateWithFlags, (CUgraphExec * phGraphExec, CUgraph hGraph, unsigned long long flags),
      (phGraphExec, hGraph, flags))
GRAPH(cuGraphInstantiateWithParams, (CUgraphExec * phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *p),
      (phGraphExec, hGraph, p))
GRAPH(cuGraphInstantiateWithParams_ptsz, (CUgraphExec * phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *p),
      (phGraphExec, hGraph, p))

/*
 * Memory nodes take what they need at the first launch, which cannot be undone, or at an upload, which
 * can: so a first launch is uploaded before.
 */
#define UPLOAD(symbol, launch, is_ptsz)                                                                                \
	static CUresult limit_##launch(CUgraphExec exec, CUstream stream)                                                  \
	{                                                                                                                  \
		struct tare_limit limit;                                                                                       \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (likely(tare_thread.depth == 0) || !tare_driver.symbol || !tare_driver.cuDeviceGraphMemTrim ||              \
		    tare_ask_is_capturing(stream, is_ptsz))                                                                    \
			return tare_driver.launch(exec, stream);                                                                   \
		if (!tare_limit_begin(&limit, HERE, 0, TARE_LIMIT_OPEN))                                                       \
			return CUDA_ERROR_OUT_OF_MEMORY;                                                                           \
		result = limit.card ? tare_driver.symbol(exec, stream) : CUDA_SUCCESS;                                         \
		if (unlikely(tare_limit_is_passed(&limit, result))) {                                                          \
			tare_driver.cuDeviceGraphMemTrim(limit.device);                                                            \
			tare_first_forget(exec);                                                                                   \
			result = CUDA_ERROR_OUT_OF_MEMORY;                                                                         \
		} else {                                                                                                       \
			result = tare_driver.launch(exec, stream);                                                                 \
		}                                                                                                              \
		tare_limit_end(&limit);                                                                                        \
		return result;                                                                                                 \
	}                                                                                                                  \
	static CUresult limit_##symbol(CUgraphExec exec, CUstream stream)                                                  \
	{                                                                                                                  \
		struct tare_limit limit;                                                                                       \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (!tare_limit_begin(&limit, HERE, 0, TARE_LIMIT_OPEN))                                                       \
			return CUDA_ERROR_OUT_OF_MEMORY;                                                                           \
		result = tare_driver.symbol(exec, stream);                                                                     \
		if (tare_driver.cuDeviceGraphMemTrim && tare_limit_is_passed(&limit, result)) {                                \
			tare_driver.cuDeviceGraphMemTrim(limit.device);                                                            \
			result = CUDA_ERROR_OUT_OF_MEMORY;                                                                         \
		}                                                                                                              \
		tare_limit_end(&limit);                                                                                        \
		return result;                                                                                                 \
	}
UPLOAD(cuGraphUpload, cuGraphLaunch, false)
UPLOAD(cuGraphUpload_ptsz, cuGraphLaunch_ptsz, true)

/* ---- asynchronous pools ---- */
/*
 * A pool grows by what it lacks, in whole steps, and now and then by one more when its room is in
 * pieces. What other threads are about to take out of it may be counted twice here, never left out;
 * so a refusal is looked at again once they are through.
 */
static uint64_t asked_of_pools;

static bool begin_pool(struct tare_limit *limit, CUmemoryPool pool, int device)
{
	uint64_t growth, again;
	int tries;

	for (tries = 0;; tries++) {
		growth = tare_ask_pool_growth(pool, device, __atomic_load_n(&asked_of_pools, __ATOMIC_ACQUIRE));
		if (tare_limit_begin(limit, device, growth, growth + TARE_CUDA_POOL_STEP))
			return true;
		again = tare_ask_pool_growth(pool, device, __atomic_load_n(&asked_of_pools, __ATOMIC_ACQUIRE));
		if (again == growth || tries == 16)
			return false;
	}
}

#define POOL(symbol, params, args, pool, device, is_ptsz, free)                                                        \
	static CUresult limit_##symbol params                                                                              \
	{                                                                                                                  \
		uint64_t size = bytesize < UINT64_MAX / 4 ? bytesize : UINT64_MAX / 4;                                         \
		CUdeviceptr old;                                                                                               \
		CUresult result = CUDA_ERROR_OUT_OF_MEMORY;                                                                    \
		struct tare_limit limit;                                                                                       \
		int on = device;                                                                                               \
                                                                                                                       \
		if (!size || !tare_vram_card(on) || tare_ask_is_capturing(hStream, is_ptsz))                                   \
			return tare_driver.symbol args;                                                                            \
		tare_peek(&old, dptr, sizeof(old));                                                                            \
		__atomic_fetch_add(&asked_of_pools, size, __ATOMIC_ACQ_REL);                                                   \
		if (begin_pool(&limit, pool, on)) {                                                                            \
			result = tare_driver.symbol args;                                                                          \
			if (unlikely(dptr && tare_limit_is_passed(&limit, result))) {                                              \
				tare_driver.free(TARE_ANSWER(result, dptr), hStream);                                                  \
				*dptr = old;                                                                                           \
				result = CUDA_ERROR_OUT_OF_MEMORY;                                                                     \
			}                                                                                                          \
			tare_limit_end(&limit);                                                                                    \
		}                                                                                                              \
		__atomic_fetch_sub(&asked_of_pools, size, __ATOMIC_ACQ_REL);                                                   \
		return result;                                                                                                 \
	}
POOL(cuMemAllocAsync, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream), (dptr, bytesize, hStream), NULL, HERE,
     false, cuMemFreeAsync)
POOL(cuMemAllocAsync_ptsz, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream), (dptr, bytesize, hStream), NULL,
     HERE, true, cuMemFreeAsync_ptsz)
POOL(cuMemAllocFromPoolAsync, (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
     (dptr, bytesize, pool, hStream), pool, tare_ask_pool_device(pool), false, cuMemFreeAsync)
POOL(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
     (dptr, bytesize, pool, hStream), pool, tare_ask_pool_device(pool), true, cuMemFreeAsync_ptsz)

/* ---- contexts ---- */
/* A card's profile says what a context takes there; else it is made, looked at, and ended again. */
static CUresult end_of_context(struct tare_limit *limit, CUresult result, CUcontext context)
{
	if (result == CUDA_SUCCESS)
		tare_local_begin(limit, context);
	tare_limit_end(limit);
	return result;
}

#define CONTEXT(symbol, params, args, destroy)                                                                         \
	static CUresult limit_##symbol params                                                                              \
	{                                                                                                                  \
		CUcontext old;                                                                                                 \
		struct tare_limit limit;                                                                                       \
		CUresult result;                                                                                               \
                                                                                                                       \
		tare_peek(&old, pctx, sizeof(old));                                                                            \
		if (!tare_limit_begin(&limit, dev, tare_local_context(dev), TARE_LIMIT_OPEN))                                  \
			return CUDA_ERROR_OUT_OF_MEMORY;                                                                           \
		result = tare_driver.symbol args;                                                                              \
		if (unlikely(pctx && tare_local_is_passed(&limit, result))) {                                                  \
			destroy;                                                                                                   \
			*pctx = old;                                                                                               \
			result = CUDA_ERROR_OUT_OF_MEMORY;                                                                         \
		}                                                                                                              \
		return end_of_context(&limit, result, TARE_ANSWER(result, pctx));                                              \
	}
CONTEXT(cuDevicePrimaryCtxRetain, (CUcontext * pctx, CUdevice dev), (pctx, dev),
        tare_driver.cuDevicePrimaryCtxRelease_v2 ? tare_driver.cuDevicePrimaryCtxRelease_v2(dev)
                                                 : tare_driver.cuDevicePrimaryCtxRelease(dev))
CONTEXT(cuCtxCreate_v2, (CUcontext * pctx, unsigned int flags, CUdevice dev), (pctx, flags, dev),
        tare_driver.cuCtxDestroy_v2(TARE_ANSWER(result, pctx)))
CONTEXT(cuCtxCreate_v3, (CUcontext * pctx, CUexecAffinityParam *params, int n, unsigned int flags, CUdevice dev),
        (pctx, params, n, flags, dev), tare_driver.cuCtxDestroy_v2(TARE_ANSWER(result, pctx)))
CONTEXT(cuCtxCreate_v4, (CUcontext * pctx, CUctxCreateParams *params, unsigned int flags, CUdevice dev),
        (pctx, params, flags, dev), tare_driver.cuCtxDestroy_v2(TARE_ANSWER(result, pctx)))

static CUresult limit_cuCtxDestroy_v2(CUcontext ctx)
{
	CUresult result = tare_driver.cuCtxDestroy_v2(ctx);

	if (result == CUDA_SUCCESS)
		tare_local_end(ctx);
	return result;
}

#define PRIMARY(symbol)                                                                                                \
	static CUresult limit_##symbol(CUdevice dev)                                                                       \
	{                                                                                                                  \
		CUresult result = tare_driver.symbol(dev);                                                                     \
                                                                                                                       \
		if (result == CUDA_SUCCESS)                                                                                    \
			tare_local_end_primary(dev);                                                                               \
		return result;                                                                                                 \
	}
PRIMARY(cuDevicePrimaryCtxRelease)
PRIMARY(cuDevicePrimaryCtxRelease_v2)
PRIMARY(cuDevicePrimaryCtxReset)
PRIMARY(cuDevicePrimaryCtxReset_v2)

/* ---- local memory ---- */
static CUresult limit_cuCtxSetLimit(CUlimit which, size_t value)
{
	struct tare_limit limit;
	uint64_t growth = which == CU_LIMIT_STACK_SIZE ? tare_local_growth(value) : 0;
	CUresult result;

	if (!tare_limit_begin(&limit, HERE, growth, growth ? growth : TARE_LIMIT_OPEN))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = tare_driver.cuCtxSetLimit(which, value);
	if (result == CUDA_SUCCESS && which == CU_LIMIT_STACK_SIZE)
		tare_local_set(&limit, value, true);
	tare_limit_end(&limit);
	return result;
}

/*
 * Only the first launch of a function in a context comes to be recorded, and only that one can take
 * anything. It cannot be undone, so what its local memory will take is computed before.
 */
#define LAUNCH(symbol, params, args, function)                                                                         \
	static CUresult limit_##symbol params                                                                              \
	{                                                                                                                  \
		struct tare_limit limit;                                                                                       \
		uint64_t stack, growth;                                                                                        \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (likely(tare_thread.depth == 0))                                                                            \
			return tare_driver.symbol args;                                                                            \
		stack = tare_ask_stack(function, HERE);                                                                        \
		growth = tare_local_growth(stack);                                                                             \
		if (!tare_limit_begin(&limit, HERE, growth, growth ? growth : TARE_LIMIT_OPEN)) {                              \
			tare_first_forget(function);                                                                               \
			return CUDA_ERROR_OUT_OF_MEMORY;                                                                           \
		}                                                                                                              \
		result = tare_driver.symbol args;                                                                              \
		if (result == CUDA_SUCCESS && growth)                                                                          \
			tare_local_set(&limit, stack, false);                                                                      \
		tare_limit_end(&limit);                                                                                        \
		return result;                                                                                                 \
	}
#define GRID                                                                                                           \
	CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by,                 \
		unsigned int bz, unsigned int shared, CUstream stream, void **kernel
#define GRID_ARGS f, gx, gy, gz, bx, by, bz, shared, stream, kernel
LAUNCH(cuLaunchKernel, (GRID, void **extra), (GRID_ARGS, extra), f)
LAUNCH(cuLaunchKernel_ptsz, (GRID, void **extra), (GRID_ARGS, extra), f)
LAUNCH(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction f, void **kernel, void **extra),
       (config, f, kernel, extra), f)
LAUNCH(cuLaunchKernelEx_ptsz, (const CUlaunchConfig *config, CUfunction f, void **kernel, void **extra),
       (config, f, kernel, extra), f)
LAUNCH(cuLaunchCooperativeKernel, (GRID), (GRID_ARGS), f)
LAUNCH(cuLaunchCooperativeKernel_ptsz, (GRID), (GRID_ARGS), f)

/* ---- ends ---- */
#define END(symbol, type, action)                                                                                      \
	static CUresult limit_##symbol(type what)                                                                          \
	{                                                                                                                  \
		CUresult result = tare_driver.symbol(what);                                                                    \
                                                                                                                       \
		if (result == CUDA_SUCCESS)                                                                                    \
			action;                                                                                                    \
		return result;                                                                                                 \
	}
END(cuModuleUnload, CUmodule, tare_kept_drop(TARE_KEPT_CODE))
END(cuLibraryUnload, CUlibrary, tare_kept_drop(TARE_KEPT_CODE))
END(cuStreamDestroy_v2, CUstream, tare_kept_count(TARE_KEPT_STREAM, -1))
END(cuGraphExecDestroy, CUgraphExec, tare_kept_count(TARE_KEPT_GRAPH, -1))

#define ROW(symbol) [CU_API_##symbol] = (void *)limit_##symbol
static void *const limits[CU_API_NR] = {
	ROW(cuMemAlloc_v2),
	ROW(cuMemAllocPitch_v2),
	ROW(cuMemAllocManaged),
	ROW(cuArrayCreate_v2),
	ROW(cuArray3DCreate_v2),
	ROW(cuMipmappedArrayCreate),
	ROW(cuMemCreate),
	ROW(cuStreamCreate),
	ROW(cuStreamCreateWithPriority),
	ROW(cuStreamDestroy_v2),
	ROW(cuModuleLoad),
	ROW(cuModuleLoadData),
	ROW(cuModuleLoadDataEx),
	ROW(cuModuleLoadFatBinary),
	ROW(cuModuleGetFunction),
	ROW(cuModuleUnload),
	ROW(cuLibraryLoadData),
	ROW(cuLibraryLoadFromFile),
	ROW(cuLibraryUnload),
	ROW(cuKernelGetFunction),
	ROW(cuGraphExecDestroy),
	ROW(cuGraphUpload),
	ROW(cuGraphUpload_ptsz),
	ROW(cuGraphLaunch),
	ROW(cuGraphLaunch_ptsz),
	ROW(cuGraphInstantiate),
	ROW(cuGraphInstantiate_v2),
	ROW(cuGraphInstantiateWithFlags),
	ROW(cuGraphInstantiateWithParams),
	ROW(cuGraphInstantiateWithParams_ptsz),
	ROW(cuMemAllocAsync),
	ROW(cuMemAllocAsync_ptsz),
	ROW(cuMemAllocFromPoolAsync),
	ROW(cuMemAllocFromPoolAsync_ptsz),
	ROW(cuDevicePrimaryCtxRetain),
	ROW(cuDevicePrimaryCtxRelease),
	ROW(cuDevicePrimaryCtxRelease_v2),
	ROW(cuDevicePrimaryCtxReset),
	ROW(cuDevicePrimaryCtxReset_v2),
	ROW(cuCtxCreate_v2),
	ROW(cuCtxCreate_v3),
	ROW(cuCtxCreate_v4),
	ROW(cuCtxDestroy_v2),
	ROW(cuCtxSetLimit),
	ROW(cuLaunchKernel),
	ROW(cuLaunchKernel_ptsz),
	ROW(cuLaunchKernelEx),
	ROW(cuLaunchKernelEx_ptsz),
	ROW(cuLaunchCooperativeKernel),
	ROW(cuLaunchCooperativeKernel_ptsz),
};

void *tare_limit_of(enum tare_api api)
{
	return tare_config.has_limit ? limits[api] : NULL;
}
