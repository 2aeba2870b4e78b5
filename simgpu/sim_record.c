/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture. A capture begins on one stream; another joins it by waiting for an event that was
 * recorded in it, and must be waited for in turn before the capture ends. What a capture does not
 * bear is as measured (docs/measurements/in-capture.md, h200-pointers.md).
 */
#include "sim_record.h"

#include <stdlib.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };

static struct sim_capture *captures;
static uint64_t last_id;
static __thread CUstreamCaptureMode thread_mode;
static __thread int thread; /* its address tells threads apart */

struct sim_part *sim_record_find(struct sim_part *list, const void *handle)
{
	while (list && list->handle != handle)
		list = list->next;
	return list;
}

static struct sim_part *add(struct sim_part **list, const void *handle)
{
	struct sim_part *part = sim_record_find(*list, handle);

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

static void remove_part(struct sim_part **list, const void *handle)
{
	while (*list) {
		struct sim_part *part = *list;

		if (handle && part->handle != handle) {
			list = &part->next;
			continue;
		}
		*list = part->next;
		sim_set_clear(&part->last);
		free(part);
	}
}

/* What tells streams apart; of the default one of a thread, the thread. */
const void *sim_record_key(CUstream stream)
{
	bool is_own = stream ? stream == CU_STREAM_PER_THREAD : sim.is_per_thread;

	return is_own ? (const void *)&thread : stream;
}

bool sim_record_is_legacy(CUstream stream)
{
	const void *key = sim_record_key(stream);

	return !key || key == CU_STREAM_LEGACY;
}

struct sim_capture *sim_record_of(CUstream stream)
{
	const void *key = sim_record_key(stream);
	struct sim_capture *c = captures;

	while (c && !sim_record_find(c->streams, key))
		c = c->next;
	return c;
}

static void end(struct sim_capture *capture)
{
	struct sim_capture **link = &captures;

	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	remove_part(&capture->streams, NULL);
	remove_part(&capture->events, NULL);
	free(capture);
}

struct sim_graph *sim_stream_graph(CUstream stream)
{
	struct sim_capture *c = sim_record_of(stream);

	return c ? c->graph : NULL;
}

/* Adds a node behind what the stream did last. */
CUresult sim_capture_add(CUstream stream, CUgraphNodeParams *params)
{
	struct sim_capture *c = sim_record_of(stream);
	struct sim_part *part = sim_record_find(c->streams, sim_record_key(stream));
	CUresult result = CUDA_SUCCESS;
	struct sim_node *node;
	size_t i;

	if (c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	result = sim_graph_add(c->graph, params, &node);
	for (i = 0; i < part->last.count && result == CUDA_SUCCESS; i++)
		result = sim_edge_add(part->last.nodes[i], node, &part->last.data[i]);
	if (result == CUDA_SUCCESS && !sim_set_only(&part->last, node))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	part->has_work = true;
	part->is_joined = part->handle == c->origin;
	return result;
}

/* Of the kernel node that was added last. One that a node cannot have is the launch's own matter. */
CUresult sim_capture_attribute(CUstream stream, const CUlaunchAttribute *attribute)
{
	const struct sim_set *last = &sim_record_find(sim_record_of(stream)->streams, sim_record_key(stream))->last;
	CUresult result =
		sim_body_cuGraphKernelNodeSetAttribute((CUgraphNode)last->nodes[0], attribute->id, &attribute->value);

	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
}

CUresult sim_capture_record(CUstream stream, CUevent event)
{
	struct sim_capture *c = sim_record_of(stream);
	struct sim_part *part, *from;

	sim_capture_forget(event);
	if (!c)
		return CUDA_SUCCESS;
	part = add(&c->events, event);
	from = sim_record_find(c->streams, sim_record_key(stream));
	if (!part || !sim_set_add_all(&part->last, &from->last))
		return CUDA_ERROR_OUT_OF_MEMORY;
	part->from = sim_record_key(stream);
	return CUDA_SUCCESS;
}

bool sim_capture_has(CUevent event)
{
	const struct sim_capture *c = captures;

	while (c && !sim_record_find(c->events, event))
		c = c->next;
	return c;
}

/* A stream that waits for an event of a capture takes part in it from now on. */
CUresult sim_capture_wait(CUstream stream, CUevent event)
{
	struct sim_capture *c = captures, *own = sim_record_of(stream);
	struct sim_part *part, *recorded;

	while (c && !sim_record_find(c->events, event))
		c = c->next;
	if (!c)
		return CUDA_SUCCESS;
	if (own && own != c) {
		own->is_invalid = c->is_invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	recorded = sim_record_find(c->events, event);
	part = sim_record_find(c->streams, recorded->from);
	if (own && part)
		part->is_joined = true;
	part = add(&c->streams, sim_record_key(stream));
	return part && sim_set_add_all(&part->last, &recorded->last) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void sim_capture_forget(CUevent event)
{
	struct sim_capture *c;

	for (c = captures; c; c = c->next)
		remove_part(&c->events, event);
}

void sim_capture_leave(CUstream stream)
{
	struct sim_capture *c = sim_record_of(stream);

	if (!c)
		return;
	c->is_invalid = true;
	if (c->origin == stream)
		end(c);
	else
		remove_part(&c->streams, stream);
}

/* A graph that ends while a capture adds to it, and a node of it. */
void sim_capture_forget_graph(const struct sim_graph *graph)
{
	struct sim_capture *c;
	struct sim_part *part;

	for (c = captures; c; c = c->next) {
		if (c->graph != graph)
			continue;
		c->is_invalid = c->is_given = true;
		c->graph = NULL;
		for (part = c->streams; part; part = part->next)
			sim_set_clear(&part->last);
		for (part = c->events; part; part = part->next)
			sim_set_clear(&part->last);
	}
}

void sim_capture_forget_node(const struct sim_node *node)
{
	struct sim_capture *c;
	struct sim_part *part;

	for (c = captures; c; c = c->next) {
		for (part = c->streams; part; part = part->next)
			sim_set_remove(&part->last, node);
		for (part = c->events; part; part = part->next)
			sim_set_remove(&part->last, node);
	}
}

CUresult sim_stream_unsafe(void)
{
	CUresult result = CUDA_SUCCESS;
	struct sim_capture *c;

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
	struct sim_capture *c;
	struct sim_part *part;

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

static bool is_implicit(const struct sim_capture *c)
{
	const struct sim_part *part;

	for (part = c->streams; part; part = part->next)
		if (sim_stream_is_blocking((CUstream)part->handle))
			return true;
	return false;
}

bool sim_record_is_implicit(void)
{
	const struct sim_capture *c = captures;

	while (c && !is_implicit(c))
		c = c->next;
	return c;
}

/* As measured (tests/gpu/facts/facts_captured.c), these three: whatever the mode, and the capture ends with it. */
CUresult sim_capture_bears_work(CUstream stream)
{
	CUresult result = CUDA_SUCCESS;
	struct sim_capture *c;

	for (c = captures; c && sim_record_is_legacy(stream); c = c->next)
		if (is_implicit(c)) {
			c->is_invalid = true;
			result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
		}
	return result;
}

CUresult sim_capture_bears_query(CUstream stream)
{
	struct sim_capture *c = sim_record_of(stream);
	CUresult result = sim_capture_bears_work(stream);

	if (c) {
		c->is_invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return result == CUDA_SUCCESS ? sim_stream_unsafe() : result;
}

CUresult sim_capture_bears_event(CUevent event)
{
	struct sim_capture *c = captures;

	while (c && !sim_record_find(c->events, event))
		c = c->next;
	if (!c)
		return sim_stream_unsafe();
	c->is_invalid = true;
	return CUDA_ERROR_CAPTURED_EVENT;
}

static CUresult begin(CUstream stream, struct sim_graph *graph, const struct sim_set *behind, CUstreamCaptureMode mode)
{
	struct sim_capture *c;

	if (sim_record_is_legacy(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (sim_stream_check(stream) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_HANDLE;
	if (mode < GLOBAL || mode > RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_record_of(stream))
		return CUDA_ERROR_ILLEGAL_STATE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->graph = graph ? graph : sim_graph_new();
	if (!c->graph || !add(&c->streams, sim_record_key(stream)) ||
	    (behind && !sim_set_add_all(&c->streams->last, behind))) {
		free(c);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	c->streams->is_joined = true;
	c->id = ++last_id;
	c->is_given = graph != NULL;
	c->origin = sim_record_key(stream);
	c->mode = mode;
	c->thread = &thread;
	c->next = captures;
	captures = c;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuStreamBeginCapture(CUstream hStream)
{
	return begin(hStream, NULL, NULL, GLOBAL);
}

CUresult sim_body_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
	return begin(hStream, NULL, NULL, mode);
}

CUresult sim_body_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                              const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                              CUstreamCaptureMode mode)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct sim_set behind = { 0 };
	CUresult result;

	if (!graph || (numDependencies && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_set_read(&behind, graph, dependencies, dependencyData, numDependencies);
	if (result == CUDA_SUCCESS)
		result = begin(hStream, graph, &behind, mode);
	sim_set_clear(&behind);
	return result;
}

/* Joined by a wait, or because what the capture's first stream did last waits for all of its work. */
static bool is_joined(const struct sim_capture *c, const struct sim_part *part)
{
	const struct sim_set *last = &sim_record_find(c->streams, c->origin)->last;
	size_t i;

	if (part->is_joined || part->handle == c->origin || !part->has_work)
		return true;
	for (i = 0; i < part->last.count; i++)
		if (!sim_edge_reaches(last->nodes, last->count, part->last.nodes[i]))
			return false;
	return part->last.count;
}

CUresult sim_body_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
	struct sim_capture *c = sim_record_of(hStream);
	CUresult result = CUDA_SUCCESS;
	struct sim_part *part;

	if (sim_stream_check(hStream) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!c)
		return sim_record_is_legacy(hStream) && sim_record_is_implicit() ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
		                                                                 : CUDA_ERROR_ILLEGAL_STATE;
	/* A graph that the program began with it has already. */
	if (!phGraph && !c->is_given)
		return CUDA_ERROR_INVALID_VALUE;
	if (c->origin != sim_record_key(hStream))
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (c->mode != RELAXED && c->thread != &thread)
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	for (part = c->streams; part; part = part->next)
		if (!c->is_invalid && !is_joined(c, part))
			result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	if (c->is_invalid)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (phGraph)
		*phGraph = result == CUDA_SUCCESS ? (CUgraph)c->graph : NULL;
	end(c);
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
