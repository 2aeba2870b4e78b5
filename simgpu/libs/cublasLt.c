/* SPDX-License-Identifier: Apache-2.0 */
/* What cuBLASLt does beyond its table: descriptors keep their attributes, and each product has one algorithm. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/cublasLt_attribute.h"
#include "simgpu/libs/cublas_status.h"
#include "simgpu/libs/lib.h"

/* The bytes of descriptors and algorithms that a program makes itself: public headers say them. */
enum { MATMUL_BYTES = SIM_VERSION < 13 ? 184 : 256, OTHER_BYTES = 64 };

/* What Create takes on an H100: a page of 2 MiB for the first handle, and nothing for those after it. */
enum { OWN_MEMORY = 1024 };

SIM_EXPORT int cublasLtCreate(struct sim_handle **handle);
int cublasLtCreate(struct sim_handle **handle)
{
	SIM_CALLED("makes");
	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	*handle = sim_handle_new();
	if (*handle && sim_handle_take(*handle, OWN_MEMORY))
		return CUBLAS_STATUS_SUCCESS;
	sim_handle_end(*handle);
	*handle = NULL;
	return CUBLAS_STATUS_ALLOC_FAILED;
}

SIM_EXPORT int cublasLtGetProperty(int property, int *value);
int cublasLtGetProperty(int property, int *value)
{
	SIM_CALLED("version");
	return sim_version_property(&tare_sim_cublas_version, property, value) ? CUBLAS_STATUS_SUCCESS
	                                                                       : CUBLAS_STATUS_INVALID_VALUE;
}

SIM_EXPORT const char *cublasLtGetStatusName(int status);
const char *cublasLtGetStatusName(int status)
{
	SIM_CALLED("text");
	return tare_sim_cublas_status_name(status);
}

SIM_EXPORT const char *cublasLtGetStatusString(int status);
const char *cublasLtGetStatusString(int status)
{
	SIM_CALLED("text");
	return tare_sim_cublas_status_sentence(status);
}

/* A descriptor: Destroy, and its attributes, which Set keeps and Get tells. */
#define DESCRIPTOR(name, list, room)                                                                                   \
	SIM_EXPORT int cublasLt##name##Destroy(void *descriptor);                                                          \
	int cublasLt##name##Destroy(void *descriptor)                                                                      \
	{                                                                                                                  \
		SIM_CALLED("ends");                                                                                            \
		free(descriptor);                                                                                              \
		return CUBLAS_STATUS_SUCCESS;                                                                                  \
	}                                                                                                                  \
	ATTRIBUTES(name, list, room)
#define ATTRIBUTES(name, list, room)                                                                                   \
	SIM_EXPORT int cublasLt##name##SetAttribute(void *store, int id, const void *from, size_t bytes);                  \
	int cublasLt##name##SetAttribute(void *store, int id, const void *from, size_t bytes)                              \
	{                                                                                                                  \
		SIM_CALLED("keeps");                                                                                           \
		return sim_attributes_set(list, store, room, id, from, bytes) ? CUBLAS_STATUS_SUCCESS                          \
		                                                              : CUBLAS_STATUS_INVALID_VALUE;                   \
	}                                                                                                                  \
	SIM_EXPORT int cublasLt##name##GetAttribute(const void *store, int id, void *to, size_t bytes, size_t *written);   \
	int cublasLt##name##GetAttribute(const void *store, int id, void *to, size_t bytes, size_t *written)               \
	{                                                                                                                  \
		SIM_CALLED("tells");                                                                                           \
		return sim_attributes_get(list, store, room, id, to, bytes, written) ? CUBLAS_STATUS_SUCCESS                   \
		                                                                     : CUBLAS_STATUS_INVALID_VALUE;            \
	}
DESCRIPTOR(MatrixLayout, layout_list, OTHER_BYTES)
DESCRIPTOR(MatmulDesc, matmul_list, MATMUL_BYTES)
DESCRIPTOR(MatmulPreference, preference_list, OTHER_BYTES)
DESCRIPTOR(MatrixTransformDesc, transform_list, OTHER_BYTES)
DESCRIPTOR(EmulationDesc, emulation_list, OTHER_BYTES)
ATTRIBUTES(MatmulAlgoConfig, config_list, OTHER_BYTES)

/* Begins a descriptor in the program's own bytes, and one that the library makes. */
static int begin(const struct sim_attribute_row *list, void *store, size_t given, size_t room)
{
	if (!store || given < room)
		return CUBLAS_STATUS_INVALID_VALUE;
	sim_attributes_begin(list, store, room);
	return CUBLAS_STATUS_SUCCESS;
}

static int make(const struct sim_attribute_row *list, void **descriptor, size_t room)
{
	if (!descriptor)
		return CUBLAS_STATUS_INVALID_VALUE;
	*descriptor = malloc(room);
	if (!*descriptor)
		return CUBLAS_STATUS_ALLOC_FAILED;
	return begin(list, *descriptor, room, room);
}

static int with_types(int result, const struct sim_attribute_row *list, void *store, size_t room, int first, int second)
{
	if (result)
		return result;
	sim_attributes_set(list, store, room, 0, &first, sizeof(first));
	if (list == matmul_list)
		sim_attributes_set(list, store, room, 1, &second, sizeof(second));
	return CUBLAS_STATUS_SUCCESS;
}

static int with_shape(int result, void *store, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	if (result)
		return result;
	sim_attributes_set(layout_list, store, OTHER_BYTES, 0, &type, sizeof(type));
	sim_attributes_set(layout_list, store, OTHER_BYTES, 2, &rows, sizeof(rows));
	sim_attributes_set(layout_list, store, OTHER_BYTES, 3, &columns, sizeof(columns));
	sim_attributes_set(layout_list, store, OTHER_BYTES, 4, &ld, sizeof(ld));
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	int result = make(layout_list, layout, OTHER_BYTES);

	SIM_CALLED("makes");
	return with_shape(result, result ? NULL : *layout, type, rows, columns, ld);
}

SIM_EXPORT int cublasLtMatrixLayoutInit_internal(void *layout, size_t bytes, int type, uint64_t rows, uint64_t columns,
                                                 int64_t ld);
int cublasLtMatrixLayoutInit_internal(void *layout, size_t bytes, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	SIM_CALLED("makes");
	return with_shape(begin(layout_list, layout, bytes, OTHER_BYTES), layout, type, rows, columns, ld);
}

SIM_EXPORT int cublasLtMatmulDescCreate(void **matmul, int compute, int scale);
int cublasLtMatmulDescCreate(void **matmul, int compute, int scale)
{
	int result = make(matmul_list, matmul, MATMUL_BYTES);

	SIM_CALLED("makes");
	return with_types(result, matmul_list, result ? NULL : *matmul, MATMUL_BYTES, compute, scale);
}

SIM_EXPORT int cublasLtMatmulDescInit_internal(void *matmul, size_t bytes, int compute, int scale);
int cublasLtMatmulDescInit_internal(void *matmul, size_t bytes, int compute, int scale)
{
	SIM_CALLED("makes");
	return with_types(begin(matmul_list, matmul, bytes, MATMUL_BYTES), matmul_list, matmul, MATMUL_BYTES, compute,
	                  scale);
}

SIM_EXPORT int cublasLtMatrixTransformDescCreate(void **transform, int scale);
int cublasLtMatrixTransformDescCreate(void **transform, int scale)
{
	int result = make(transform_list, transform, OTHER_BYTES);

	SIM_CALLED("makes");
	return with_types(result, transform_list, result ? NULL : *transform, OTHER_BYTES, scale, 0);
}

SIM_EXPORT int cublasLtMatrixTransformDescInit_internal(void *transform, size_t bytes, int scale);
int cublasLtMatrixTransformDescInit_internal(void *transform, size_t bytes, int scale)
{
	SIM_CALLED("makes");
	return with_types(begin(transform_list, transform, bytes, OTHER_BYTES), transform_list, transform, OTHER_BYTES,
	                  scale, 0);
}

#define PLAIN(name, list)                                                                                              \
	SIM_EXPORT int cublasLt##name##Create(void **descriptor);                                                          \
	int cublasLt##name##Create(void **descriptor)                                                                      \
	{                                                                                                                  \
		SIM_CALLED("makes");                                                                                           \
		return make(list, descriptor, OTHER_BYTES);                                                                    \
	}                                                                                                                  \
	SIM_EXPORT int cublasLt##name##Init_internal(void *descriptor, size_t bytes);                                      \
	int cublasLt##name##Init_internal(void *descriptor, size_t bytes)                                                  \
	{                                                                                                                  \
		SIM_CALLED("makes");                                                                                           \
		return begin(list, descriptor, bytes, OTHER_BYTES);                                                            \
	}
PLAIN(MatmulPreference, preference_list)
PLAIN(EmulationDesc, emulation_list)
