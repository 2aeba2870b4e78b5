/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams. Work is done when it is given; what counts as not done yet is sim_pending.c's. What remains are
 * the books: the driver takes room for streams by the handful, and keeps it when they go.
 */

#include "sim_stream.h"

#include <string.h>

static uint64_t last_id;

/* ---- streams ---- */
/* Steps that `count` streams have filled or begun, beyond those that come free. */
static uint64_t steps(uint64_t count, uint64_t free, uint64_t per_step)
{
	return count > free ? (count - free + per_step - 1) / per_step : 0;
}

static uint64_t stream_bytes(uint64_t count)
{
	const struct tare_profile *profile = &sim.profile;

	return (steps(count, profile->streams_free, profile->streams_per_step) +
	        steps(count, profile->streams_free_2, profile->streams_per_step_2)) *
	       profile->stream_step;
}

/* As measured: two kinds of memory for streams, and neither goes back when streams do. */
static CUresult make_room(struct sim_context *context)
{
	uint64_t more;
	CUresult result;

	if (context->streams < context->streams_high)
		return CUDA_SUCCESS;
	more = stream_bytes(context->streams_high + 1) - stream_bytes(context->streams_high);
	result = more ? sim_context_take(context, more) : CUDA_SUCCESS;
	if (result == CUDA_SUCCESS)
		context->streams_high++;
	return result;
}

CUresult sim_body_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
	struct sim_context *context;
	struct sim_stream *stream;
	CUresult result = sim_current(&context);
	bool is_apart = flags & SIM_STREAM_APART;

	if (result != CUDA_SUCCESS)
		return result;
	flags &= ~SIM_STREAM_APART;
	if (!phStream || flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	result = is_apart ? sim_context_take(context, sim.profile.stream_step) : make_room(context);
	if (result != CUDA_SUCCESS)
		return result;
	stream = sim_object_new(SIM_STREAM, context, sizeof(*stream));
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	context->streams++;
	stream->flags = flags;
	stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
	stream->id = ++last_id;
	*phStream = (CUstream)stream;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	return sim_body_cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult sim_body_cuStreamDestroy_v2(CUstream hStream)
{
	struct sim_stream *stream = sim_object_get(hStream, SIM_STREAM);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_capture_leave(hStream);
	stream->object.context->streams--;
	sim_object_delete(stream);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuStreamSynchronize(CUstream hStream)
{
	struct sim_context *context;
	CUresult result = sim_stream_context(hStream, &context);

	if (result == CUDA_SUCCESS)
		result = sim_capture_bears_query(hStream);
	if (result != CUDA_SUCCESS)
		return result;
	sim_pending_finish();
	sim_pool_sync(context->device);
	return CUDA_SUCCESS;
}

static CUresult synchronize(const struct sim_context *context)
{
	CUresult result = sim_capture_bears_wait(context);

	if (result != CUDA_SUCCESS)
		return result;
	sim_pending_finish();
	sim_pool_sync(context->device);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuCtxSynchronize(void)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	return result == CUDA_SUCCESS ? synchronize(context) : result;
}

CUresult sim_body_cuCtxSynchronize_v2(CUcontext ctx)
{
	struct sim_context *context = sim_object_get(ctx, SIM_CONTEXT);

	if (!ctx)
		return sim_body_cuCtxSynchronize();
	return context && context->is_alive ? synchronize(context) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_body_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_WAIT_EVENT };
	CUresult result = sim_stream_use(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (Flags > CU_EVENT_WAIT_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_object_get(hEvent, SIM_EVENT))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!sim_capture_has(hEvent) && !sim_stream_graph(hStream))
		sim_pending_wait(hStream, sim_event_piece(hEvent));
	if (Flags != CU_EVENT_WAIT_EXTERNAL)
		return sim_capture_wait(hStream, hEvent);
	if (!sim_stream_graph(hStream)) /* what is external is so to a capture */
		return CUDA_ERROR_INVALID_VALUE;
	params.eventWait.event = hEvent;
	return sim_capture_add(hStream, &params);
}

CUresult sim_body_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
	struct sim_context *context;
	CUresult result = sim_stream_context(hStream, &context);

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*pctx = (CUcontext)context;
	return result;
}

CUresult sim_body_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
	CUresult result = sim_stream_check(hStream);

	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*flags = sim_stream_is_default(hStream) ? 0 : ((struct sim_stream *)hStream)->flags;
	return result;
}

CUresult sim_body_cuStreamGetPriority(CUstream hStream, int *priority)
{
	CUresult result = sim_stream_check(hStream);

	if (!priority)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*priority = sim_stream_is_default(hStream) ? 0 : ((struct sim_stream *)hStream)->priority;
	return result;
}

CUresult sim_body_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
	CUresult result = sim_stream_check(hStream);

	if (!streamId)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*streamId = sim_stream_is_default(hStream) ? (uintptr_t)hStream : ((struct sim_stream *)hStream)->id + 2;
	return result;
}

CUresult sim_body_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
	struct sim_context *context;
	CUresult result = sim_stream_context(hStream, &context);

	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*device = context->device;
	return result;
}

/* ---- attributes, kept for reading back ---- */
static bool is_attribute(CUstreamAttrID attr)
{
	return attr == 1 || attr == 3 || (attr >= 8 && attr <= 10) || attr == 16;
}

CUresult sim_body_cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value)
{
	struct sim_stream *stream = sim_object_get(hStream, SIM_STREAM);
	CUresult result = sim_stream_check(hStream);

	if (!value || !is_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	memset(value, 0, sizeof(*value));
	if (stream)
		*value = stream->attributes[attr];
	if (stream && attr == 8)
		value->priority = stream->priority;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *param)
{
	struct sim_stream *stream = sim_object_get(hStream, SIM_STREAM);
	CUresult result = sim_stream_check(hStream);

	if (!param || !is_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream)
		stream->attributes[attr] = *param;
	if (stream && attr == 8)
		stream->priority = param->priority;
	return result;
}

CUresult sim_body_cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream)
{
	struct sim_stream *to = sim_object_get(dstStream, SIM_STREAM), *from = sim_object_get(srcStream, SIM_STREAM);

	if (sim_stream_check(dstStream) != CUDA_SUCCESS || sim_stream_check(srcStream) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_HANDLE;
	if (to && from) {
		memcpy(to->attributes, from->attributes, sizeof(to->attributes));
		to->priority = from->priority;
	}
	return CUDA_SUCCESS;
}

/* ---- functions of the program: without our lock, for they may wait for another thread ---- */
CUresult sim_body_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_HOST };
	CUresult result = sim_stream_use(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_stream_graph(hStream)) {
		params.host = (CUDA_HOST_NODE_PARAMS){ fn, userData };
		return sim_capture_add(hStream, &params);
	}
	sim_pending_finish();
	sim_unlock();
	fn(userData);
	sim_relock();
	return CUDA_SUCCESS;
}

CUresult sim_body_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
	CUresult result = sim_stream_use(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!callback || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_stream_graph(hStream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	sim_pending_finish();
	sim_unlock();
	callback(hStream, CUDA_SUCCESS, userData);
	sim_relock();
	return CUDA_SUCCESS;
}
