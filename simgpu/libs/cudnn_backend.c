/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cuDNN: descriptors of its graph interface, each with a twin in the real library where that answers. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/cudnn.h"

enum { PLAN_WORKSPACE = 402, HEURISTICS_DEVICE = 204, PLAN_DEVICE = 407, MOST_DESCRIPTORS = 1024 };

#define BACKEND(name, ...)                                                                                             \
	SIM_EXPORT int name(__VA_ARGS__);                                                                                  \
	int name(__VA_ARGS__)

static size_t size_of(int type)
{
	switch (type) {
	case CUDNN_HANDLE:
	case CUDNN_INT64:
	case CUDNN_DOUBLE:
	case CUDNN_POINTER:
	case CUDNN_DESCRIPTOR:
		return 8;
	case CUDNN_BOOLEAN:
	case CUDNN_CHAR:
		return 1;
	case CUDNN_FRACTION:
		return 16;
	default:
		return 4;
	}
}

static struct cudnn_attribute *find(const struct cudnn_descriptor *descriptor, int name)
{
	struct cudnn_attribute *attribute = descriptor->attributes;

	while (attribute && attribute->name != name)
		attribute = attribute->next;
	return attribute;
}

const struct cudnn_attribute *cudnn_attribute(const struct cudnn_descriptor *descriptor, int name)
{
	return find(descriptor, name);
}

static void end_twin(struct cudnn_descriptor *descriptor)
{
	if (descriptor->twin)
		cudnn_real()->destroy(descriptor->twin);
	descriptor->twin = NULL;
}

BACKEND(cudnnBackendCreateDescriptor, int kind, struct cudnn_descriptor **out)
{
	const struct cudnn_real *real = cudnn_real();

	SIM_CALLED("");
	if (!out)
		return CUDNN_BAD_PARAMETER;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return CUDNN_NO_MEMORY;
	(*out)->kind = kind;
	(*out)->workspace = -1;
	if (real && kind != CUDNN_VARIANT_PACK && real->create(kind, &(*out)->twin))
		(*out)->twin = NULL;
	return CUDNN_SUCCESS;
}

BACKEND(cudnnBackendDestroyDescriptor, struct cudnn_descriptor *descriptor)
{
	struct cudnn_attribute *attribute, *next;

	if (!descriptor)
		return CUDNN_SUCCESS;
	end_twin(descriptor);
	for (attribute = descriptor->attributes; attribute; attribute = next) {
		next = attribute->next;
		free(attribute->values);
		free(attribute);
	}
	free(descriptor->convolution);
	free(descriptor);
	return CUDNN_SUCCESS;
}

/* What a descriptor is about, its users are about: a graph its operation, heuristics their graph, a plan its engine. */
static void inherit(struct cudnn_descriptor *descriptor, int64_t count, struct cudnn_descriptor *const *others)
{
	int64_t i;

	for (i = 0; i < count; i++) {
		if (!others[i])
			continue;
		if (!others[i]->twin)
			end_twin(descriptor);
		if (count == 1 && others[i]->convolution && !descriptor->convolution)
			descriptor->convolution = strdup(others[i]->convolution);
		if (count == 1 && others[i]->workspace >= 0)
			descriptor->workspace = others[i]->workspace;
	}
}

static int set_twin(struct cudnn_descriptor *descriptor, int name, int type, int64_t count, const void *values)
{
	void *twins[MOST_DESCRIPTORS];
	int64_t i;

	if (type == CUDNN_HANDLE)
		return CUDNN_SUCCESS; /* the device stands in for the handle, when all is set */
	if (type != CUDNN_DESCRIPTOR)
		return cudnn_real()->set(descriptor->twin, name, type, count, values);
	if (count > MOST_DESCRIPTORS)
		return CUDNN_BAD_PARAMETER;
	for (i = 0; i < count; i++) {
		struct cudnn_descriptor *other = ((struct cudnn_descriptor *const *)values)[i];

		twins[i] = other ? other->twin : NULL;
	}
	return cudnn_real()->set(descriptor->twin, name, type, count, twins);
}

BACKEND(cudnnBackendSetAttribute, struct cudnn_descriptor *descriptor, int name, int type, int64_t count,
        const void *values)
{
	struct cudnn_attribute *attribute;
	size_t bytes = count > 0 ? (size_t)count * size_of(type) : 0;

	SIM_CALLED("");
	if (!descriptor || count < 0 || (bytes && !values))
		return CUDNN_BAD_PARAMETER;
	attribute = find(descriptor, name);
	if (!attribute) {
		attribute = calloc(1, sizeof(*attribute));
		if (!attribute)
			return CUDNN_NO_MEMORY;
		attribute->name = name;
		attribute->next = descriptor->attributes;
		descriptor->attributes = attribute;
	}
	free(attribute->values);
	attribute->values = malloc(bytes ? bytes : 1);
	if (!attribute->values)
		return CUDNN_NO_MEMORY;
	attribute->type = type;
	attribute->count = count;
	if (bytes)
		memcpy(attribute->values, values, bytes);
	if (type == CUDNN_DESCRIPTOR)
		inherit(descriptor, count, values);
	return descriptor->twin ? set_twin(descriptor, name, type, count, values) : CUDNN_SUCCESS;
}

static int finalize_twin(struct cudnn_descriptor *descriptor)
{
	const struct cudnn_real *real = cudnn_real();
	int name = descriptor->kind == CUDNN_ENGINE_HEURISTICS ? HEURISTICS_DEVICE
	           : descriptor->kind == CUDNN_PLAN            ? PLAN_DEVICE
	                                                       : 0;
	void *device = real->device;

	if (name)
		real->set(descriptor->twin, name, CUDNN_DESCRIPTOR, 1, &device);
	return real->finalize(descriptor->twin);
}

BACKEND(cudnnBackendFinalize, struct cudnn_descriptor *descriptor)
{
	int64_t workspace = -1, count = 0;
	int failed;

	SIM_CALLED("");
	if (!descriptor)
		return CUDNN_BAD_PARAMETER;
	if (descriptor->kind >= CUDNN_CONVOLVE && descriptor->kind <= CUDNN_CONVOLVE_DATA)
		descriptor->convolution = cudnn_convolution(descriptor);
	if (descriptor->kind == CUDNN_GRAPH && !descriptor->convolution) {
		descriptor->workspace = cudnn_attention(descriptor);
		end_twin(descriptor); /* without a device there is no engine for it */
	}
	failed = descriptor->twin ? finalize_twin(descriptor) : CUDNN_SUCCESS;
	if (failed || descriptor->kind != CUDNN_PLAN || descriptor->workspace >= 0)
		return failed;
	if (descriptor->twin && cudnn_real()->get(descriptor->twin, PLAN_WORKSPACE, CUDNN_INT64, 1, &count, &workspace))
		workspace = -1;
	descriptor->workspace = cudnn_workspace(descriptor, workspace);
	return CUDNN_SUCCESS;
}

static int get_twin(struct cudnn_descriptor *descriptor, int name, int type, int64_t wanted, int64_t *count,
                    void *values)
{
	void *twins[MOST_DESCRIPTORS];
	int64_t i;

	if (type != CUDNN_DESCRIPTOR || !values)
		return cudnn_real()->get(descriptor->twin, name, type, wanted, count, values);
	if (wanted > MOST_DESCRIPTORS)
		wanted = MOST_DESCRIPTORS;
	for (i = 0; i < wanted; i++) {
		struct cudnn_descriptor *other = ((struct cudnn_descriptor **)values)[i];

		twins[i] = other ? other->twin : NULL;
	}
	return cudnn_real()->get(descriptor->twin, name, type, wanted, count, twins);
}

/* Without the real library: one engine, which everything runs on, with nothing to choose. */
static int get_own(const struct cudnn_descriptor *descriptor, int name, int type, int64_t wanted, int64_t *count,
                   void *values)
{
	enum { RESULTS = 202, ENGINE = 300, INTERMEDIATES = 301, CHOICES = 302, PLAN_ENGINE = 401, PLAN_TEXT = 405 };
	enum { KNOBS = 1302, NUMERICAL_NOTES = 1303, BEHAVIOUR_NOTES = 1305 };
	const struct cudnn_attribute *attribute = cudnn_attribute(descriptor, name);
	int64_t most;

	*count = 1;
	if (name == RESULTS || name == PLAN_ENGINE || name == ENGINE)
		return CUDNN_SUCCESS;
	if (name == KNOBS || name == NUMERICAL_NOTES || name == BEHAVIOUR_NOTES || name == CHOICES ||
	    name == INTERMEDIATES) {
		*count = 0;
		return CUDNN_SUCCESS;
	}
	if (!attribute || attribute->type != type) {
		if (values && wanted > 0 && type != CUDNN_DESCRIPTOR)
			memset(values, 0, name == PLAN_TEXT ? 1 : size_of(type));
		return CUDNN_SUCCESS;
	}
	*count = attribute->count;
	most = attribute->count < wanted ? attribute->count : wanted;
	if (values && most > 0 && type != CUDNN_DESCRIPTOR)
		memcpy(values, attribute->values, (size_t)most * size_of(type));
	return CUDNN_SUCCESS;
}

BACKEND(cudnnBackendGetAttribute, struct cudnn_descriptor *descriptor, int name, int type, int64_t wanted,
        int64_t *count, void *values)
{
	const struct cudnn_attribute *attribute;
	int64_t own_count, i;

	SIM_CALLED("");
	if (!descriptor)
		return CUDNN_BAD_PARAMETER;
	if (!count)
		count = &own_count;
	if (name == PLAN_WORKSPACE && descriptor->workspace >= 0) {
		*count = 1;
		if (values && wanted > 0)
			memcpy(values, &descriptor->workspace, sizeof(descriptor->workspace));
		return CUDNN_SUCCESS;
	}
	for (i = 0; type == CUDNN_DESCRIPTOR && values && i < wanted; i++) {
		struct cudnn_descriptor *other = ((struct cudnn_descriptor **)values)[i];

		if (other && descriptor->workspace >= 0)
			other->workspace = descriptor->workspace;
		if (other && descriptor->convolution && !other->convolution)
			other->convolution = strdup(descriptor->convolution);
		if (other && !descriptor->twin)
			end_twin(other);
	}
	if (!descriptor->twin)
		return get_own(descriptor, name, type, wanted, count, values);
	if (type != CUDNN_HANDLE)
		return get_twin(descriptor, name, type, wanted, count, values);
	attribute = cudnn_attribute(descriptor, name);
	*count = attribute ? 1 : 0;
	if (attribute && values && wanted > 0)
		memcpy(values, attribute->values, sizeof(void *));
	return CUDNN_SUCCESS;
}

BACKEND(cudnnBackendInitialize, struct cudnn_descriptor *descriptor)
{
	if (!descriptor)
		return CUDNN_BAD_PARAMETER;
	*descriptor = (struct cudnn_descriptor){ .workspace = -1 };
	return CUDNN_SUCCESS;
}

/*
 * Each plan that runs loads code, up to some: 16 plans or more take one step of it beside PyTorch's own on an H200,
 * a single convolution takes none. Plans of attention are few, and are not seen in the device's counter.
 */
static void load_code(struct cudnn_descriptor *plan)
{
	enum { PLAN_CODE = 128 << 10, MOST = 18 };
	static int loaded;

	if (plan->has_run || !plan->convolution)
		return;
	plan->has_run = true;
	if (__atomic_fetch_add(&loaded, 1, __ATOMIC_RELAXED) < MOST)
		sim_lib_load(PLAN_CODE);
}

BACKEND(cudnnBackendExecute, struct sim_handle *handle, struct cudnn_descriptor *plan,
        struct cudnn_descriptor *variables)
{
	SIM_CALLED("node");
	if (!handle || !plan || !variables)
		return CUDNN_BAD_PARAMETER;
	load_code(plan);
	sim_lib_node(handle->stream);
	return CUDNN_SUCCESS;
}
