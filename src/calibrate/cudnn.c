/* SPDX-License-Identifier: Apache-2.0 */
/* Asks cuDNN for the workspace of its first plan of a convolution. */
#include "calibrate/cudnn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Numbers of cuDNN 9's interface: kinds of descriptors, of values, and attributes. */
enum {
	CONVOLUTION = 1,
	ENGINE_CONFIGURATION = 3,
	HEURISTIC = 4,
	PLAN = 5,
	OPERATION = 10, /* forward; the filter's gradient, the image's */
	GRAPH = 15,
	TENSOR = 17,

	AS_HANDLE = 0,
	AS_DATA_TYPE = 1,
	AS_INT64 = 3,
	AS_FLOAT = 4,
	AS_CONVOLUTION_MODE = 7,
	AS_HEURISTIC_MODE = 8,
	AS_DESCRIPTOR = 15,
};

/* Descriptors of one question, and whether all went well until now. */
struct question {
	struct tare_cudnn *dnn;
	void *made[32];
	int made_nr;
	bool failed;
};

static void *make(struct question *q, int kind)
{
	void *descriptor = NULL;

	if (q->failed || q->made_nr == (int)(sizeof(q->made) / sizeof(q->made[0])) || q->dnn->create(kind, &descriptor)) {
		q->failed = true;
		return NULL;
	}
	q->made[q->made_nr++] = descriptor;
	return descriptor;
}

static void set(struct question *q, void *descriptor, int name, int type, int64_t count, const void *values)
{
	if (!q->failed && q->dnn->set(descriptor, name, type, count, values))
		q->failed = true;
}

static void *finish(struct question *q, void *descriptor)
{
	if (!q->failed && q->dnn->finalize(descriptor))
		q->failed = true;
	return descriptor;
}

static void *make_tensor(struct question *q, const struct sim_conv *conv, const struct sim_conv_tensor *of, int64_t id)
{
	enum { ALIGNMENT = 900, DATA_TYPE, DIMENSIONS, STRIDES, UNIQUE_ID = 906 };
	void *tensor = make(q, TENSOR);
	int64_t alignment = 16;

	set(q, tensor, DATA_TYPE, AS_DATA_TYPE, 1, &conv->type);
	set(q, tensor, DIMENSIONS, AS_INT64, conv->rank, of->dims);
	set(q, tensor, STRIDES, AS_INT64, conv->rank, of->strides);
	set(q, tensor, UNIQUE_ID, AS_INT64, 1, &id);
	set(q, tensor, ALIGNMENT, AS_INT64, 1, &alignment);
	return finish(q, tensor);
}

static void *make_convolution(struct question *q, const struct sim_conv *conv)
{
	enum { COMPUTE = 100, MODE, DILATIONS, FILTER_STRIDES, AFTER, BEFORE, SPATIAL };
	void *convolution = make(q, CONVOLUTION);
	int cross_correlation = 1;
	int64_t spatial = conv->rank - 2;

	set(q, convolution, COMPUTE, AS_DATA_TYPE, 1, &conv->compute);
	set(q, convolution, MODE, AS_CONVOLUTION_MODE, 1, &cross_correlation);
	set(q, convolution, SPATIAL, AS_INT64, 1, &spatial);
	set(q, convolution, BEFORE, AS_INT64, spatial, conv->pads);
	set(q, convolution, AFTER, AS_INT64, spatial, conv->pads);
	set(q, convolution, DILATIONS, AS_INT64, spatial, conv->dilations);
	set(q, convolution, FILTER_STRIDES, AS_INT64, spatial, conv->strides);
	return finish(q, convolution);
}

/* Attributes of the three operations are in the same order: alpha, beta, the convolution, its filter, image and result. */
static const struct {
	int kind, first;
} operations[] = {
	[SIM_CONV_FORWARD] = { OPERATION, 700 },
	[SIM_CONV_DATA] = { OPERATION + 2, 706 },
	[SIM_CONV_FILTER] = { OPERATION + 1, 712 },
};

static void *make_graph(struct question *q, const struct sim_conv *conv)
{
	enum { HANDLE = 800, OPERATIONS };
	int first = operations[conv->direction].first;
	float one = 1, zero = 0;
	void *parts[4], *operation, *graph;

	parts[0] = make_convolution(q, conv);
	parts[1] = make_tensor(q, conv, &conv->w, 'w');
	parts[2] = make_tensor(q, conv, &conv->x, 'x');
	parts[3] = make_tensor(q, conv, &conv->y, 'y');
	operation = make(q, operations[conv->direction].kind);
	set(q, operation, first, AS_FLOAT, 1, &one);
	set(q, operation, first + 1, AS_FLOAT, 1, &zero);
	for (int i = 0; i < 4; i++)
		set(q, operation, first + 2 + i, AS_DESCRIPTOR, 1, &parts[i]);
	finish(q, operation);
	graph = make(q, GRAPH);
	set(q, graph, OPERATIONS, AS_DESCRIPTOR, 1, &operation);
	set(q, graph, HANDLE, AS_HANDLE, 1, &q->dnn->handle);
	return finish(q, graph);
}

enum { MOST_PLANS = 8 };

/* The heuristic's plans, best first; how many. */
static int64_t ask_plans(struct question *q, void *graph, void *plans[MOST_PLANS])
{
	enum { MODE = 200, OF_GRAPH, RESULTS };
	void *heuristic = make(q, HEURISTIC);
	int instant = 0;
	int64_t count = 0;

	set(q, heuristic, OF_GRAPH, AS_DESCRIPTOR, 1, &graph);
	set(q, heuristic, MODE, AS_HEURISTIC_MODE, 1, &instant);
	finish(q, heuristic);
	for (int i = 0; i < MOST_PLANS; i++)
		plans[i] = make(q, ENGINE_CONFIGURATION);
	if (q->failed || q->dnn->get(heuristic, RESULTS, AS_DESCRIPTOR, MOST_PLANS, &count, plans))
		return 0;
	return count < MOST_PLANS ? count : MOST_PLANS;
}

/* -1: the plan cannot be had. */
static int64_t ask_workspace(struct question *q, void *configuration)
{
	enum { HANDLE = 400, CONFIGURATION, WORKSPACE };
	void *plan = make(q, PLAN);
	int64_t bytes = -1, count = 0;

	set(q, plan, CONFIGURATION, AS_DESCRIPTOR, 1, &configuration);
	set(q, plan, HANDLE, AS_HANDLE, 1, &q->dnn->handle);
	finish(q, plan);
	if (q->failed || q->dnn->get(plan, WORKSPACE, AS_INT64, 1, &count, &bytes))
		bytes = -1;
	q->failed = false;
	return bytes;
}

int64_t tare_cudnn_workspace(struct tare_cudnn *dnn, const struct sim_conv *conv)
{
	struct question q = { .dnn = dnn };
	void *graph = make_graph(&q, conv), *plans[MOST_PLANS];
	int64_t count = ask_plans(&q, graph, plans), bytes = -1;

	for (int64_t i = 0; i < count && bytes < 0; i++)
		bytes = ask_workspace(&q, plans[i]);
	while (q.made_nr)
		dnn->destroy(q.made[--q.made_nr]);
	return bytes;
}

bool tare_cudnn_open(struct tare_cudnn *dnn, const char *file, char *why, size_t size)
{
	const struct {
		void *place;
		const char *name;
	} wanted[] = {
		{ &dnn->version, "cudnnGetVersion" },
		{ &dnn->make_handle, "cudnnCreate" },
		{ &dnn->create, "cudnnBackendCreateDescriptor" },
		{ &dnn->destroy, "cudnnBackendDestroyDescriptor" },
		{ &dnn->finalize, "cudnnBackendFinalize" },
		{ &dnn->set, "cudnnBackendSetAttribute" },
		{ &dnn->get, "cudnnBackendGetAttribute" },
	};
	void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
	int status;

	if (!library) {
		snprintf(why, size, "%s; --cudnn gives the path of libcudnn.so.9", dlerror());
		return false;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *function = dlsym(library, wanted[i].name);

		if (!function) {
			snprintf(why, size, "%s has no %s: it is no libcudnn of version 8 or 9", file, wanted[i].name);
			return false;
		}
		memcpy(wanted[i].place, &function, sizeof(function));
	}
	status = dnn->make_handle(&dnn->handle);
	if (status)
		snprintf(why, size, "cudnnCreate: status %d", status);
	return status == 0;
}
