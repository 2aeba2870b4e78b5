/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture. A capture begins on one stream; another joins it by waiting for an event that was
 * recorded in it, and must be waited for in turn before the capture ends. What a capture does not
 * bear is as measured (docs/measurements/in-capture.md, h200-pointers.md).
 */
#include <stdlib.h>

#include "sim.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED };

/* A stream that takes part, as key_of() says, or an event that was recorded in a capture. */
struct part {
	struct part *next;
	const void *handle;
	const void *from; /* of an event: the stream that it was recorded on */
	bool is_joined;
};

struct capture {
	struct capture *next;
	struct sim_graph *graph;
	const void *origin;
	CUstreamCaptureMode mode;
	const int *thread;
	bool is_invalid;
	bool is_given; /* the graph is one that the program had before */
	struct part *streams, *events;
};

static struct capture *captures;
static __thread CUstreamCaptureMode thread_mode;
static __thread int thread; /* its address tells threads apart */

static struct part *find(struct part *list, const void *handle)
{
	while (list && list->handle != handle)
		list = list->next;
	return list;
}

static struct part *add(struct part **list, const void *handle)
{
	struct part *part = find(*list, handle);

	if (part)
		return part;
	part = calloc(1, sizeof(*part));
	if (!part)
		return NULL;
	part->handle = handle;
	part->next = *list;
	*list = part;
	return part;
}

static void remove_part(struct part **list, const void *handle)
{
	while (*list) {
		struct part *part = *list;

		if (handle && part->handle != handle) {
			list = &part->next;
			continue;
		}
		*list = part->next;
		free(part);
	}
}

/* What tells streams apart; of the default one of a thread, the thread. */
static const void *key_of(CUstream stream)
{
	bool is_own = stream ? stream == CU_STREAM_PER_THREAD : sim.is_per_thread;

	return is_own ? (const void *)&thread : stream;
}

static bool is_legacy(CUstream stream)
{
	const void *key = key_of(stream);

	return !key || key == CU_STREAM_LEGACY;
}

static struct capture *capture_of(CUstream stream)
{
	const void *key = key_of(stream);
	struct capture *c = captures;

	while (c && !find(c->streams, key))
		c = c->next;
	return c;
}

static void end(struct capture *capture)
{
	struct capture **link = &captures;

	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	remove_part(&capture->streams, NULL);
	remove_part(&capture->events, NULL);
	free(capture);
}

struct sim_graph *sim_stream_graph(CUstream stream)
{
	struct capture *c = capture_of(stream);

	return c ? c->graph : NULL;
}

CUresult sim_capture_record(CUstream stream, CUevent event)
{
	struct capture *c = capture_of(stream);
	struct part *part;

	sim_capture_forget(event);
	if (!c)
		return CUDA_SUCCESS;
	part = add(&c->events, event);
	if (!part)
		return CUDA_ERROR_OUT_OF_MEMORY;
	part->from = key_of(stream);
	return CUDA_SUCCESS;
}

CUresult sim_capture_wait(CUstream stream, CUevent event)
{
	struct capture *c = captures, *own = capture_of(stream);
	struct part *part;

	while (c && !find(c->events, event))
		c = c->next;
	if (!c)
		return CUDA_SUCCESS;
	if (own && own != c) {
		own->is_invalid = c->is_invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	if (!own)
		return add(&c->streams, key_of(stream)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	part = find(c->streams, find(c->events, event)->from);
	if (part)
		part->is_joined = true;
	return CUDA_SUCCESS;
}

void sim_capture_forget(CUevent event)
{
	struct capture *c;

	for (c = captures; c; c = c->next)
		remove_part(&c->events, event);
}

void sim_capture_leave(CUstream stream)
{
	struct capture *c = capture_of(stream);

	if (!c)
		return;
	c->is_invalid = true;
	if (c->origin == stream)
		end(c);
	else
		remove_part(&c->streams, stream);
}

CUresult sim_stream_unsafe(void)
{
	CUresult result = CUDA_SUCCESS;
	struct capture *c;

	for (c = captures; c && thread_mode != RELAXED; c = c->next) {
		bool is_own = c->thread == &thread && c->mode != RELAXED;
		bool is_other = thread_mode == GLOBAL && c->mode == GLOBAL;

		if (!is_own && !is_other)
			continue;
		c->is_invalid = true;
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return result;
}

CUresult sim_capture_bears_wait(const struct sim_context *context)
{
	CUresult result = CUDA_SUCCESS;
	struct capture *c;
	struct part *part;

	for (c = captures; c; c = c->next)
		for (part = c->streams; part; part = part->next) {
			const struct sim_object *stream = sim_object_get(part->handle, SIM_STREAM);

			if (stream && stream->context != context)
				continue;
			c->is_invalid = true;
			result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
	return result;
}

static bool is_blocking_one_captured(void)
{
	struct capture *c;
	struct part *part;

	for (c = captures; c; c = c->next)
		for (part = c->streams; part; part = part->next)
			if (sim_stream_is_blocking((CUstream)part->handle))
				return true;
	return false;
}

static CUresult begin(CUstream stream, struct sim_graph *graph, CUstreamCaptureMode mode)
{
	struct capture *c;

	if (is_legacy(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (sim_stream_check(stream) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_HANDLE;
	if (mode < GLOBAL || mode > RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (capture_of(stream))
		return CUDA_ERROR_ILLEGAL_STATE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->graph = graph ? graph : sim_graph_new();
	if (!c->graph || !add(&c->streams, key_of(stream))) {
		free(c);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	c->streams->is_joined = true;
	c->is_given = graph != NULL;
	c->origin = key_of(stream);
	c->mode = mode;
	c->thread = &thread;
	c->next = captures;
	captures = c;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuStreamBeginCapture(CUstream hStream)
{
	return begin(hStream, NULL, GLOBAL);
}

CUresult sim_body_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
	return begin(hStream, NULL, mode);
}

CUresult sim_body_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
					      const CUgraphNode *dependencies,
					      const CUgraphEdgeData *dependencyData,
					      size_t numDependencies, CUstreamCaptureMode mode)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);

	(void)dependencyData;
	if (!graph || (numDependencies && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	return begin(hStream, graph, mode);
}

CUresult sim_body_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
	struct capture *c = capture_of(hStream);
	CUresult result = CUDA_SUCCESS;
	struct part *part;

	if (sim_stream_check(hStream) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!c)
		return is_legacy(hStream) && is_blocking_one_captured()
			       ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
			       : CUDA_ERROR_ILLEGAL_STATE;
	/* A graph that the program began with it has already. */
	if (!phGraph && !c->is_given)
		return CUDA_ERROR_INVALID_VALUE;
	if (c->origin != key_of(hStream))
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (c->mode != RELAXED && c->thread != &thread)
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	for (part = c->streams; part; part = part->next)
		if (!part->is_joined)
			result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	if (c->is_invalid)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (phGraph)
		*phGraph = result == CUDA_SUCCESS ? (CUgraph)c->graph : NULL;
	end(c);
	return result;
}

CUresult sim_body_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
	CUresult result = sim_stream_check(hStream);
	struct capture *c = capture_of(hStream);

	if (!captureStatus)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*captureStatus = !c              ? CU_STREAM_CAPTURE_STATUS_NONE
				 : c->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
						 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return result;
}

CUresult sim_body_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode previous = thread_mode;

	if (!mode || *mode < GLOBAL || *mode > RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	thread_mode = *mode;
	*mode = previous;
	return CUDA_SUCCESS;
}
