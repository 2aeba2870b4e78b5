/* SPDX-License-Identifier: Apache-2.0 */
/* What a program asks of a capture that is under way, and what it tells it to wait for. */
#include "sim_record.h"

/* The legacy stream would wait for one that captures. */
static CUresult may_ask(CUstream stream)
{
	CUresult result = sim_stream_check(stream);

	if (result == CUDA_SUCCESS && sim_record_is_legacy(stream) && sim_record_is_implicit())
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	return result;
}

static CUstreamCaptureStatus status_of(const struct sim_capture *c)
{
	return !c              ? CU_STREAM_CAPTURE_STATUS_NONE
	       : c->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
	                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult sim_body_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
	CUresult result = may_ask(hStream);

	if (!captureStatus)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*captureStatus = status_of(sim_record_of(hStream));
	return result;
}

CUresult sim_body_cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                            cuuint64_t *id_out, CUgraph *graph_out,
                                            const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
                                            size_t *numDependencies_out)
{
	const struct sim_capture *c = sim_record_of(hStream);
	const struct sim_set *last;
	CUresult result = may_ask(hStream);

	if (!captureStatus_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	*captureStatus_out = status_of(c);
	if (!c || c->is_invalid)
		return CUDA_SUCCESS;
	last = &sim_record_find(c->streams, sim_record_key(hStream))->last;
	if (id_out)
		*id_out = c->id;
	if (graph_out)
		*graph_out = (CUgraph)c->graph;
	if (dependencies_out)
		*dependencies_out = (const CUgraphNode *)last->nodes;
	if (edgeData_out)
		*edgeData_out = last->data;
	if (numDependencies_out)
		*numDependencies_out = last->count;
	return dependencies_out && !edgeData_out && !sim_set_is_plain(last) ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS;
}

CUresult sim_body_cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                            cuuint64_t *id_out, CUgraph *graph_out,
                                            const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
	return sim_body_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out, dependencies_out, NULL,
	                                          numDependencies_out);
}

CUresult sim_body_cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out)
{
	return sim_body_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

CUresult sim_body_cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                       const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                                       unsigned int flags)
{
	struct sim_capture *c = sim_record_of(hStream);
	struct sim_set more = { 0 };
	struct sim_part *part;
	CUresult result = sim_stream_check(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (numDependencies && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	if (!c)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	result = sim_set_read(&more, c->graph, dependencies, dependencyData, numDependencies);
	part = sim_record_find(c->streams, sim_record_key(hStream));
	if (result == CUDA_SUCCESS) {
		if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
			sim_set_clear(&part->last);
		if (!sim_set_add_all(&part->last, &more))
			result = CUDA_ERROR_OUT_OF_MEMORY;
		part->has_work = true;
	}
	sim_set_clear(&more);
	return result;
}

CUresult sim_body_cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies, size_t numDependencies,
                                                    unsigned int flags)
{
	return sim_body_cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies, flags);
}
