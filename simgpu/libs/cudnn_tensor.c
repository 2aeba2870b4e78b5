/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cuDNN: tensors and filters of its older interface. */
#include "simgpu/libs/cudnn_tensor.h"

#include <stdlib.h>
#include <string.h>

#define CUDNN(name, ...)                                                                                               \
	SIM_EXPORT int name(__VA_ARGS__);                                                                                  \
	int name(__VA_ARGS__)

void *cudnn_more(struct sim_handle *handle, size_t bytes)
{
	if (handle && !handle->more)
		handle->more = calloc(1, bytes);
	return handle ? handle->more : NULL;
}

size_t cudnn_element(int type)
{
	static const size_t bytes[] = { 4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8, 1, 1, 1, 2 };

	return type >= 0 && (size_t)type < sizeof(bytes) / sizeof(bytes[0]) ? bytes[type] : 1;
}

static int set(struct sim_handle *handle, int type, int format, int n, const int *sizes, const int *strides)
{
	struct cudnn_tensor *tensor = cudnn_more(handle, sizeof(*tensor));
	int i;

	if (!tensor || n < 0 || n > CUDNN_DIMENSIONS || (n && !sizes))
		return CUDNN_BAD_PARAMETER;
	tensor->type = type;
	tensor->format = format;
	tensor->dimensions = n;
	for (i = n - 1; i >= 0; i--) {
		tensor->size[i] = sizes[i];
		tensor->stride[i] = strides ? strides[i] : i == n - 1 ? 1 : tensor->stride[i + 1] * sizes[i + 1];
	}
	return CUDNN_SUCCESS;
}

static int get(struct sim_handle *handle, int wanted, int *type, int *format, int *n, int *sizes, int *strides)
{
	const struct cudnn_tensor *tensor = cudnn_more(handle, sizeof(*tensor));
	size_t bytes;

	if (!tensor || wanted < 0)
		return CUDNN_BAD_PARAMETER;
	bytes = sizeof(int) * (size_t)(wanted < tensor->dimensions ? wanted : tensor->dimensions);
	if (type)
		*type = tensor->type;
	if (format)
		*format = tensor->format;
	if (n)
		*n = tensor->dimensions;
	if (sizes)
		memcpy(sizes, tensor->size, bytes);
	if (strides)
		memcpy(strides, tensor->stride, bytes);
	return CUDNN_SUCCESS;
}

CUDNN(cudnnSetTensorNdDescriptor, struct sim_handle *tensor, int type, int n, const int *sizes, const int *strides)
{
	return set(tensor, type, 0, n, sizes, strides);
}

CUDNN(cudnnSetTensorNdDescriptorEx, struct sim_handle *tensor, int format, int type, int n, const int *sizes)
{
	return set(tensor, type, format, n, sizes, NULL);
}

CUDNN(cudnnSetTensor4dDescriptor, struct sim_handle *tensor, int format, int type, int n, int c, int h, int w)
{
	int sizes[4] = { n, c, h, w };

	return set(tensor, type, format, 4, sizes, NULL);
}

CUDNN(cudnnGetTensorNdDescriptor, struct sim_handle *tensor, int wanted, int *type, int *n, int *sizes, int *strides)
{
	return get(tensor, wanted, type, NULL, n, sizes, strides);
}

CUDNN(cudnnSetFilterNdDescriptor, struct sim_handle *filter, int type, int format, int n, const int *sizes)
{
	return set(filter, type, format, n, sizes, NULL);
}

CUDNN(cudnnSetFilter4dDescriptor, struct sim_handle *filter, int type, int format, int k, int c, int h, int w)
{
	int sizes[4] = { k, c, h, w };

	return set(filter, type, format, 4, sizes, NULL);
}

CUDNN(cudnnGetFilterNdDescriptor, struct sim_handle *filter, int wanted, int *type, int *format, int *n, int *sizes)
{
	return get(filter, wanted, type, format, n, sizes, NULL);
}

static size_t bytes_of(struct sim_handle *handle)
{
	const struct cudnn_tensor *tensor = cudnn_more(handle, sizeof(*tensor));
	size_t elements = 1;
	int i;

	for (i = 0; tensor && i < tensor->dimensions; i++)
		elements += (size_t)(tensor->size[i] - 1) * (size_t)tensor->stride[i];
	return tensor ? elements * cudnn_element(tensor->type) : 0;
}

CUDNN(cudnnGetTensorSizeInBytes, struct sim_handle *tensor, size_t *bytes)
{
	if (!bytes)
		return CUDNN_BAD_PARAMETER;
	*bytes = bytes_of(tensor);
	return CUDNN_SUCCESS;
}

CUDNN(cudnnGetFilterSizeInBytes, struct sim_handle *filter, size_t *bytes)
{
	return cudnnGetTensorSizeInBytes(filter, bytes);
}

/* The older interface to convolutions: one algorithm, without a workspace; assumed. */
struct performance {
	int algorithm, status;
	float time;
	size_t memory;
	int determinism, math, reserved[3];
};

static int one_algorithm(struct performance *out, int *count)
{
	if (!out || !count)
		return CUDNN_BAD_PARAMETER;
	memset(out, 0, sizeof(*out));
	out->time = 1;
	*count = 1;
	return CUDNN_SUCCESS;
}

#define ALGORITHM(direction)                                                                                           \
	CUDNN(cudnnGetConvolution##direction##Algorithm_v7, void *handle, void *a, void *b, void *c, void *d, int wanted,  \
	      int *count, struct performance *out)                                                                         \
	{                                                                                                                  \
		(void)handle, (void)a, (void)b, (void)c, (void)d, (void)wanted;                                                \
		return one_algorithm(out, count);                                                                              \
	}                                                                                                                  \
	CUDNN(cudnnFindConvolution##direction##Algorithm, void *handle, void *a, void *b, void *c, void *d, int wanted,    \
	      int *count, struct performance *out)                                                                         \
	{                                                                                                                  \
		(void)handle, (void)a, (void)b, (void)c, (void)d, (void)wanted;                                                \
		return one_algorithm(out, count);                                                                              \
	}                                                                                                                  \
	CUDNN(cudnnFindConvolution##direction##AlgorithmEx, void *handle, void *a, const void *x, void *b, const void *w,  \
	      void *c, void *d, void *y, int wanted, int *count, struct performance *out, void *workspace, size_t bytes)   \
	{                                                                                                                  \
		(void)handle, (void)a, (void)x, (void)b, (void)w, (void)c, (void)d, (void)y, (void)wanted, (void)workspace,    \
			(void)bytes;                                                                                               \
		return one_algorithm(out, count);                                                                              \
	}
ALGORITHM(Forward)
ALGORITHM(BackwardData)
ALGORITHM(BackwardFilter)
