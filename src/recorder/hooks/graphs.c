/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of stream capture and graphs. */
#include "recorder/hooks/graphs.h"

#include <string.h>

#include "recorder/base/peek.h"
#include "recorder/base/sys.h"
#include "recorder/cuda/first.h"
#include "recorder/hooks/custom.h"
#include "recorder/recorder.h"
#include "recorder/torch/tensors.h"

#define BEGIN(symbol, class, effect) tare_call_begin(&call, CU_API_##symbol, TARE_CLASS_##class, effect)
#define NAME(field, value)           call.field = (uint64_t)(uintptr_t)(value)

static bool has_memory_nodes;

/* ---- captures ---- */

static void begin_capture(struct tare_call *call, CUstream stream, uint32_t mode)
{
	struct tare_torch_capture torch;

	call->handle = (uint64_t)(uintptr_t)stream;
	call->limit = TARE_GRAPH_CALL_BEGIN | (uint64_t)mode << 32;
	if (!tare_torch_take_capture(&torch))
		return;
	call->flags |= TARE_EVENT_POOL_TOLD;
	call->parent = torch.graph;
	call->asked = torch.pool_first;
	call->granted = torch.pool_second;
}

#define BEGIN_CAPTURE(symbol, params, args, mode)                                                                      \
	CUSTOM_HOOK(symbol, params, args, BEGIN(symbol, CAPTURE, TARE_EFFECT_CHANGE), begin_capture(&call, hStream, mode), )
BEGIN_CAPTURE(cuStreamBeginCapture, (CUstream hStream), (hStream), 0)
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz, (CUstream hStream), (hStream), 0)
BEGIN_CAPTURE(cuStreamBeginCapture_v2, (CUstream hStream, CUstreamCaptureMode mode), (hStream, mode), mode)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz, (CUstream hStream, CUstreamCaptureMode mode), (hStream, mode), mode)
#define TO_GRAPH_PARAMS                                                                                                \
	(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,         \
	 size_t numDependencies, CUstreamCaptureMode mode)
#define TO_GRAPH_ARGS (hStream, hGraph, dependencies, dependencyData, numDependencies, mode)

/* The thread's last capture into a graph that the program has: its end need not say which. */
static TARE_TLS struct {
	CUstream stream;
	CUgraph graph;
} given;

static void begin_given(CUstream stream, CUgraph graph)
{
	given.stream = stream;
	given.graph = graph;
}

#define BEGIN_TO_GRAPH(symbol)                                                                                         \
	CUSTOM_HOOK(symbol, TO_GRAPH_PARAMS, TO_GRAPH_ARGS, BEGIN(symbol, CAPTURE, TARE_EFFECT_CHANGE),                    \
	            begin_capture(&call, hStream, mode), if (result == CUDA_SUCCESS) begin_given(hStream, hGraph))
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph)
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz)

/* Does the capture end with this answer? Asked at the wrong time or by the wrong thread, it goes on. */
static bool is_end(CUresult result)
{
	switch (result) {
	case CUDA_SUCCESS:
	case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
	case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
	case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
		return true;
	default:
		return false;
	}
}

static void end_capture(struct tare_call *call, CUresult result, CUstream stream, CUgraph *out)
{
	CUgraph graph = TARE_ANSWER(result, out);

	if (result == CUDA_SUCCESS && !graph && given.stream == stream)
		graph = given.graph;
	call->limit = is_end(result) ? TARE_GRAPH_CALL_END : 0;
	call->parent = (uint64_t)(uintptr_t)graph;
}

/* An end: recorded while recording is paused too, or the capture would go on in the books. */
#define END_CAPTURE(symbol)                                                                                            \
	CUSTOM_HOOK(symbol, (CUstream hStream, CUgraph * phGraph), (hStream, phGraph),                                     \
	            BEGIN(symbol, CAPTURE, TARE_EFFECT_DEL), NAME(handle, hStream),                                        \
	            end_capture(&call, result, hStream, phGraph))
END_CAPTURE(cuStreamEndCapture)
END_CAPTURE(cuStreamEndCapture_ptsz)

/* Which call it is stands in `limit`. */
#define GRAPH_HOOK(symbol, class, effect, what, params, args, before, after)                                           \
	CUSTOM_HOOK(symbol, params, args, BEGIN(symbol, class, TARE_EFFECT_##effect), call.limit = TARE_GRAPH_CALL_##what; \
	            before, after)

/* A handle that is given again is another graph's. */
#define MAKE_GRAPH(symbol, params, args, made, original)                                                               \
	GRAPH_HOOK(symbol, CAPTURE, CHANGE, CREATE, params, args, NAME(parent, original),                                  \
	           NAME(handle, TARE_ANSWER(result, made)))
MAKE_GRAPH(cuGraphCreate, (CUgraph * phGraph, unsigned int flags), (phGraph, flags), phGraph, NULL)
MAKE_GRAPH(cuGraphClone, (CUgraph * phGraphClone, CUgraph originalGraph), (phGraphClone, originalGraph), phGraphClone,
           originalGraph)

/* ---- executable graphs ---- */

static void made_exec(struct tare_call *call, CUgraphExec exec)
{
	call->handle = (uint64_t)(uintptr_t)exec;
	if (exec)
		tare_exec_add(exec);
}

#define INSTANTIATE(symbol, params, args)                                                                              \
	GRAPH_HOOK(symbol, GRAPH, NEW, INSTANTIATE, params, args, NAME(parent, hGraph),                                    \
	           made_exec(&call, TARE_ANSWER(result, phGraphExec)))
#define LOG_PARAMS                                                                                                     \
	(CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode * phErrorNode, char *logBuffer, size_t bufferSize)
#define LOG_ARGS (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
INSTANTIATE(cuGraphInstantiate, LOG_PARAMS, LOG_ARGS)
INSTANTIATE(cuGraphInstantiate_v2, LOG_PARAMS, LOG_ARGS)
INSTANTIATE(cuGraphInstantiateWithFlags, (CUgraphExec * phGraphExec, CUgraph hGraph, unsigned long long flags),
            (phGraphExec, hGraph, flags))
#define WITH_PARAMS (CUgraphExec * phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS * instantiateParams)
INSTANTIATE(cuGraphInstantiateWithParams, WITH_PARAMS, (phGraphExec, hGraph, instantiateParams))
INSTANTIATE(cuGraphInstantiateWithParams_ptsz, WITH_PARAMS, (phGraphExec, hGraph, instantiateParams))

#define UPLOAD(symbol)                                                                                                 \
	GRAPH_HOOK(symbol, GRAPH, CHANGE, UPLOAD, (CUgraphExec hGraphExec, CUstream hStream), (hGraphExec, hStream),       \
	           NAME(handle, hGraphExec), )
UPLOAD(cuGraphUpload)
UPLOAD(cuGraphUpload_ptsz)

/*
 * A launch that changes nothing is a look into a table and a count. What may change something: the
 * first one of an exec, the first after an update, and after what every first launch repeats.
 */
static bool is_launch_known(const struct tare_exec *exec, const void *handle)
{
	if (likely(exec))
		return __atomic_load_n(&exec->epoch, __ATOMIC_RELAXED) == tare_first_epoch();
	return !tare_first_time(handle);
}

static void launched(struct tare_exec *exec, CUresult result)
{
	if (likely(exec && result == CUDA_SUCCESS))
		__atomic_fetch_add(&exec->launches, 1, __ATOMIC_RELAXED);
}

#define LAUNCH(symbol)                                                                                                 \
	CUresult tare_hook_##symbol(CUgraphExec hGraphExec, CUstream hStream)                                              \
	{                                                                                                                  \
		uint64_t epoch = tare_first_epoch();                                                                           \
		struct tare_exec *exec;                                                                                        \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (unlikely(tare_config.nop))                                                                                 \
			return tare_real.symbol(hGraphExec, hStream);                                                              \
		exec = tare_exec_find(hGraphExec);                                                                             \
		if (likely(is_launch_known(exec, hGraphExec)) || !BEGIN(symbol, GRAPH, TARE_EFFECT_CHANGE)) {                  \
			result = tare_real.symbol(hGraphExec, hStream);                                                            \
			launched(exec, result);                                                                                    \
			return result;                                                                                             \
		}                                                                                                              \
		call.limit = TARE_GRAPH_CALL_LAUNCH;                                                                           \
		call.handle = (uint64_t)(uintptr_t)hGraphExec;                                                                 \
		result = tare_real.symbol(hGraphExec, hStream);                                                                \
		launched(exec, result);                                                                                        \
		if (exec && result == CUDA_SUCCESS)                                                                            \
			__atomic_store_n(&exec->epoch, epoch, __ATOMIC_RELAXED);                                                   \
		tare_call_end(&call, result);                                                                                  \
		return result;                                                                                                 \
	}
LAUNCH(cuGraphLaunch)
LAUNCH(cuGraphLaunch_ptsz)

/* An updated executable graph may grow at its next launch. */
#define UPDATE(symbol, params, args)                                                                                   \
	GRAPH_HOOK(symbol, GRAPH, CHANGE, UPDATE, params, args, (NAME(handle, hGraphExec), NAME(parent, hGraph)),          \
	           tare_exec_changed(hGraphExec))
UPDATE(cuGraphExecUpdate,
       (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out, CUgraphExecUpdateResult *updateResult_out),
       (hGraphExec, hGraph, hErrorNode_out, updateResult_out))
UPDATE(cuGraphExecUpdate_v2, (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo),
       (hGraphExec, hGraph, resultInfo))

/* Some programs set the parameters of every node before every launch: the first time for each tells. */
#define SET_NODE(symbol, params, args)                                                                                 \
	CUSTOM_HOOK(symbol, params, args,                                                                                  \
	            !tare_config.nop && tare_first_time_with(hGraphExec, (uint64_t)(uintptr_t)hNode) &&                    \
	                BEGIN(symbol, GRAPH, TARE_EFFECT_CHANGE),                                                          \
	            call.limit = TARE_GRAPH_CALL_UPDATE;                                                                   \
	            NAME(handle, hGraphExec), tare_exec_changed(hGraphExec))
SET_NODE(cuGraphExecKernelNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
         (hGraphExec, hNode, nodeParams))
SET_NODE(cuGraphExecKernelNodeSetParams_v2,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams),
         (hGraphExec, hNode, nodeParams))
SET_NODE(cuGraphExecMemcpyNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
         (hGraphExec, hNode, copyParams, ctx))
SET_NODE(cuGraphExecMemsetNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx),
         (hGraphExec, hNode, memsetParams, ctx))
SET_NODE(cuGraphExecHostNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams),
         (hGraphExec, hNode, nodeParams))
SET_NODE(cuGraphExecChildGraphNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph),
         (hGraphExec, hNode, childGraph))
SET_NODE(cuGraphExecNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams),
         (hGraphExec, hNode, nodeParams))

CUresult tare_hook_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	struct tare_exec *exec;
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuGraphExecDestroy))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!BEGIN(cuGraphExecDestroy, GRAPH, TARE_EFFECT_DEL)) {
		tare_exec_remove(hGraphExec);
		return tare_real.cuGraphExecDestroy(hGraphExec);
	}
	call.limit = TARE_GRAPH_CALL_DESTROY;
	call.handle = (uint64_t)(uintptr_t)hGraphExec;
	exec = tare_exec_find(hGraphExec);
	call.launches = exec ? __atomic_load_n(&exec->launches, __ATOMIC_RELAXED) : TARE_NOT_KNOWN;
	tare_exec_remove(hGraphExec); /* before the driver may give the handle to another thread */
	result = tare_real.cuGraphExecDestroy(hGraphExec);
	tare_call_end(&call, result);
	return result;
}

CUresult tare_hook_cuDeviceGraphMemTrim(CUdevice device)
{
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuDeviceGraphMemTrim))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!tare_call_begin_on(&call, CU_API_cuDeviceGraphMemTrim, TARE_CLASS_GRAPHMEM, TARE_EFFECT_CHANGE, device))
		return tare_real.cuDeviceGraphMemTrim(device);
	call.limit = TARE_GRAPH_CALL_TRIM;
	result = tare_real.cuDeviceGraphMemTrim(device);
	tare_call_end(&call, result);
	return result;
}

/* ---- what the driver says ---- */

/*
 * Memory nodes draw on a pool of the device whose size the driver tells, also while a stream is
 * captured (docs/measurements/in-capture.md). It is asked only where it may have changed.
 */
static void ask_reserved(const struct tare_call *call, struct tare_rec_graph *out)
{
	cuuint64_t reserved = 0;

	if (!__atomic_load_n(&has_memory_nodes, __ATOMIC_RELAXED) || call->device < 0 ||
	    !tare_real.cuDeviceGetGraphMemAttribute ||
	    tare_real.cuDeviceGetGraphMemAttribute(call->device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved) !=
	        CUDA_SUCCESS)
		return;
	out->flags |= TARE_GRAPH_FLAG_RESERVED;
	out->reserved = reserved;
}

bool tare_graph_describe(const struct tare_call *call, CUresult result, struct tare_rec_graph *out)
{
	memset(out, 0, sizeof(*out));
	out->tid = tare_sys_gettid();
	out->exec = call->handle;
	if ((uint32_t)call->limit == TARE_GRAPH_CALL_INSTANTIATE && result == CUDA_SUCCESS) {
		tare_graph_count_nodes((CUgraph)(uintptr_t)call->parent, out);
		if (out->allocs || !(out->flags & TARE_GRAPH_FLAG_NODES) || (out->flags & TARE_GRAPH_FLAG_CAPPED))
			__atomic_store_n(&has_memory_nodes, true, __ATOMIC_RELAXED);
	}
	if ((uint32_t)call->limit == TARE_GRAPH_CALL_DESTROY && call->launches != TARE_NOT_KNOWN) {
		out->flags |= TARE_GRAPH_FLAG_LAUNCHES;
		out->launches = call->launches;
	}
	ask_reserved(call, out);
	return out->flags != 0;
}
