/* SPDX-License-Identifier: Apache-2.0 */
/* What cuBLAS does beyond its table: a handle holds device memory of its own; vectors and matrices are copied. */
#include "simgpu/libs/cublas.h"

/*
 * An H100 and an H200 with cuBLAS 13.1: three allocations of 67,240,960 bytes in all for each handle, from its
 * making to its end (docs/measurements/simulated.md).
 */
static const size_t own_memory[] = { 64 << 20, 128 << 10, 1 << 10 };

/* Together with PyTorch's kernels it fills one step of code more than those do alone, in trainings on both cards. */
const size_t sim_lib_code = 400 << 10;

SIM_EXPORT int cublasCreate_v2(struct sim_handle **handle);
int cublasCreate_v2(struct sim_handle **handle)
{
	size_t i;

	SIM_CALLED("makes");
	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	*handle = sim_handle_new();
	if (!*handle)
		return CUBLAS_STATUS_ALLOC_FAILED;
	for (i = 0; i < sizeof(own_memory) / sizeof(own_memory[0]); i++)
		if (!sim_handle_take(*handle, own_memory[i])) {
			sim_handle_end(*handle);
			*handle = NULL;
			return CUBLAS_STATUS_ALLOC_FAILED;
		}
	return CUBLAS_STATUS_SUCCESS;
}

static int tell_version(int *out)
{
	if (!out)
		return CUBLAS_STATUS_INVALID_VALUE;
	*out = tare_sim_cublas_version_number();
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT int cublasGetVersion_v2(struct sim_handle *handle, int *out);
int cublasGetVersion_v2(struct sim_handle *handle, int *out)
{
	(void)handle; /* programs ask without one */
	SIM_CALLED("version");
	return tell_version(out);
}

SIM_EXPORT int cublasGetVersion(int *out);
int cublasGetVersion(int *out)
{
	SIM_CALLED("version");
	return tell_version(out);
}

SIM_EXPORT int cublasGetProperty(int property, int *value);
int cublasGetProperty(int property, int *value)
{
	SIM_CALLED("version");
	return sim_version_property(&tare_sim_cublas_version, property, value) ? CUBLAS_STATUS_SUCCESS
	                                                                       : CUBLAS_STATUS_INVALID_VALUE;
}

/* Without handles: one for all, which cublasInit makes and cublasShutdown leaves, as nobody can tell. */
static struct sim_handle *legacy;
static long legacy_stream;

SIM_EXPORT int cublasInit(void);
int cublasInit(void)
{
	SIM_CALLED("makes");
	return legacy ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&legacy);
}

SIM_EXPORT int cublasSetKernelStream(long stream);
int cublasSetKernelStream(long stream)
{
	SIM_CALLED("stream");
	legacy_stream = stream;
	return CUBLAS_STATUS_SUCCESS;
}

void tare_sim_cublas_legacy(void)
{
	sim_lib_node(legacy_stream);
}

SIM_EXPORT int cublasAlloc(int n, int element, uint64_t *address);
int cublasAlloc(int n, int element, uint64_t *address)
{
	SIM_CALLED("driver");
	if (!address || n <= 0 || element <= 0)
		return CUBLAS_STATUS_INVALID_VALUE;
	return SIM_DRIVER("cuMemAlloc_v2", address, (size_t)n * (size_t)element) ? CUBLAS_STATUS_ALLOC_FAILED
	                                                                         : CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT int cublasFree(uint64_t address);
int cublasFree(uint64_t address)
{
	SIM_CALLED("driver");
	return address && SIM_DRIVER("cuMemFree_v2", address) ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

/* The columns of a matrix, whose begins are `from_step` and `to_step` elements apart. */
struct copy {
	int64_t rows, columns, element;
	uint64_t from, to;
	int64_t from_step, to_step;
};

static int copy(const struct copy *what, const long *stream)
{
	uint64_t column = (uint64_t)(what->rows * what->element);
	int64_t i;

	if (what->rows < 0 || what->columns < 0 || what->element <= 0 || what->from_step <= 0 || what->to_step <= 0)
		return CUBLAS_STATUS_INVALID_VALUE;
	for (i = 0; i < what->columns && column; i++) {
		uint64_t from = what->from + (uint64_t)(i * what->from_step * what->element);
		uint64_t to = what->to + (uint64_t)(i * what->to_step * what->element);

		if (stream ? SIM_DRIVER("cuMemcpyAsync", to, from, column, *stream) : SIM_DRIVER("cuMemcpy", to, from, column))
			return CUBLAS_STATUS_MAPPING_ERROR;
	}
	return CUBLAS_STATUS_SUCCESS;
}

/* A vector is a matrix with a row. */
#define COPIES(way, number, suffix)                                                                                    \
	SIM_EXPORT int cublas##way##Vector##suffix(number n, number element, uint64_t from, number from_step, uint64_t to, \
	                                           number to_step);                                                        \
	int cublas##way##Vector##suffix(number n, number element, uint64_t from, number from_step, uint64_t to,            \
	                                number to_step)                                                                    \
	{                                                                                                                  \
		SIM_CALLED("driver");                                                                                          \
		return copy(&(struct copy){ 1, n, element, from, to, from_step, to_step }, NULL);                              \
	}                                                                                                                  \
	SIM_EXPORT int cublas##way##VectorAsync##suffix(number n, number element, uint64_t from, number from_step,         \
	                                                uint64_t to, number to_step, long stream);                         \
	int cublas##way##VectorAsync##suffix(number n, number element, uint64_t from, number from_step, uint64_t to,       \
	                                     number to_step, long stream)                                                  \
	{                                                                                                                  \
		SIM_CALLED("driver");                                                                                          \
		return copy(&(struct copy){ 1, n, element, from, to, from_step, to_step }, &stream);                           \
	}                                                                                                                  \
	SIM_EXPORT int cublas##way##Matrix##suffix(number rows, number columns, number element, uint64_t from,             \
	                                           number from_step, uint64_t to, number to_step);                         \
	int cublas##way##Matrix##suffix(number rows, number columns, number element, uint64_t from, number from_step,      \
	                                uint64_t to, number to_step)                                                       \
	{                                                                                                                  \
		SIM_CALLED("driver");                                                                                          \
		return copy(&(struct copy){ rows, columns, element, from, to, from_step, to_step }, NULL);                     \
	}                                                                                                                  \
	SIM_EXPORT int cublas##way##MatrixAsync##suffix(number rows, number columns, number element, uint64_t from,        \
	                                                number from_step, uint64_t to, number to_step, long stream);       \
	int cublas##way##MatrixAsync##suffix(number rows, number columns, number element, uint64_t from, number from_step, \
	                                     uint64_t to, number to_step, long stream)                                     \
	{                                                                                                                  \
		SIM_CALLED("driver");                                                                                          \
		return copy(&(struct copy){ rows, columns, element, from, to, from_step, to_step }, &stream);                  \
	}
COPIES(Set, int, )
COPIES(Get, int, )
COPIES(Set, int64_t, _64)
COPIES(Get, int64_t, _64)

SIM_EXPORT const char *cublasGetStatusName(int status);
const char *cublasGetStatusName(int status)
{
	SIM_CALLED("text");
	return tare_sim_cublas_status_name(status);
}

SIM_EXPORT const char *cublasGetStatusString(int status);
const char *cublasGetStatusString(int status)
{
	SIM_CALLED("text");
	return tare_sim_cublas_status_sentence(status);
}
