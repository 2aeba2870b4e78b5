/* SPDX-License-Identifier: Apache-2.0 */
/* Events. On an H200 twenty thousand of them take nothing of the device. */
#include "sim.h"

struct sim_event {
	struct sim_object object;
	unsigned flags;
	uint64_t at_ns;       /* 0: not recorded */
	uint64_t piece, told; /* as of a stream (struct sim_line): it is ready when the piece is done */
};

CUresult sim_body_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	struct sim_context *context;
	struct sim_event *event;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!phEvent || Flags > 7 || (Flags & CU_EVENT_INTERPROCESS && !(Flags & CU_EVENT_DISABLE_TIMING)))
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_context_hold(context, &context->events, sim.profile.event, sim.profile.page);
	if (result != CUDA_SUCCESS)
		return result;
	event = sim_object_new(SIM_EVENT, context, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->flags = Flags;
	*phEvent = (CUevent)event;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuEventDestroy_v2(CUevent hEvent)
{
	struct sim_event *event = sim_object_get(hEvent, SIM_EVENT);

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_capture_forget(hEvent);
	sim_object_delete(event);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuEventRecord(CUevent hEvent, CUstream hStream)
{
	struct sim_event *event = sim_object_get(hEvent, SIM_EVENT);
	struct sim_context *context;
	CUresult result = sim_stream_context(hStream, &context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!event || event->object.context != context)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_capture_bears_work(hStream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!sim_stream_graph(hStream))
		sim_event_record(hEvent, sim_pending_next(hStream));
	return sim_capture_record(hStream, hEvent);
}

unsigned sim_event_flags(CUevent event)
{
	return ((const struct sim_event *)sim_object_get(event, SIM_EVENT))->flags;
}

uint64_t sim_event_piece(CUevent event)
{
	return ((const struct sim_event *)sim_object_get(event, SIM_EVENT))->piece;
}

/* Two events have never the same time, however close they are. */
void sim_event_record(CUevent handle, uint64_t piece)
{
	static uint64_t last_ns;
	struct sim_event *event = sim_object_get(handle, SIM_EVENT);
	uint64_t now = sim_now_ns();

	last_ns = now > last_ns ? now : last_ns + 1;
	if (!event)
		return;
	event->at_ns = last_ns;
	event->piece = piece;
}

/* An external one is a node of the graph, and recorded at each launch. */
CUresult sim_body_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD };

	if (flags > CU_EVENT_RECORD_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags != CU_EVENT_RECORD_EXTERNAL || sim_stream_check(hStream) != CUDA_SUCCESS ||
	    !sim_object_get(hEvent, SIM_EVENT))
		return sim_body_cuEventRecord(hEvent, hStream);
	if (!sim_stream_graph(hStream))
		return CUDA_ERROR_INVALID_VALUE;
	params.eventRecord.event = hEvent;
	return sim_capture_add(hStream, &params);
}

static bool is_ready(struct sim_event *event)
{
	return sim_pending_is_done(event->piece, &event->told);
}

CUresult sim_body_cuEventQuery(CUevent hEvent)
{
	struct sim_event *event = sim_object_get(hEvent, SIM_EVENT);
	CUresult result = sim_capture_bears_event(hEvent);

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		return result;
	return is_ready(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_body_cuEventSynchronize(CUevent hEvent)
{
	struct sim_event *event = sim_object_get(hEvent, SIM_EVENT);
	CUresult result = sim_capture_bears_event(hEvent);

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		return result;
	sim_pending_finish();
	sim_pool_sync(event->object.context->device);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	struct sim_event *begin = sim_object_get(hStart, SIM_EVENT), *end = sim_object_get(hEnd, SIM_EVENT);

	if (!pMilliseconds)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_capture_has(hStart) || sim_capture_has(hEnd))
		return CUDA_ERROR_CAPTURED_EVENT;
	if (!begin || !end || begin->object.context != end->object.context)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!begin->at_ns || !end->at_ns || (begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!is_ready(begin) || !is_ready(end))
		return CUDA_ERROR_NOT_READY;
	*pMilliseconds = (float)((double)(int64_t)(end->at_ns - begin->at_ns) / 1e6);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	return sim_body_cuEventElapsedTime(pMilliseconds, hStart, hEnd);
}
