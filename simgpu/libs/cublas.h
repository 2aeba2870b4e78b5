/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that only cuBLAS's table has (row.h has the others), and what its files tell each other. */
#ifndef TARE_SIM_CUBLAS_H
#define TARE_SIM_CUBLAS_H

#include <complex.h>

#include "simgpu/libs/cublas_status.h"
#include "simgpu/libs/data_type.h"
#include "simgpu/libs/lib.h"

enum { CUBLAS_POINTER_MODE = 1 }; /* the slot that keeps where results go; 0 there: the host */

#undef SIM_BAD_HANDLE
#define SIM_BAD_HANDLE CUBLAS_STATUS_NOT_INITIALIZED

/* Work without a handle: on the stream that cublasSetKernelStream gave. */
void tare_sim_cublas_legacy(void);

#define float_complex  float _Complex
#define double_complex double _Complex

#define LEGACY(name) SIM_ROW(name, "node", tare_sim_cublas_legacy())
#define LEGACY_VALUE(name, type)                                                                                       \
	SIM_EXPORT type name(void);                                                                                        \
	type name(void)                                                                                                    \
	{                                                                                                                  \
		SIM_CALLED("node");                                                                                            \
		tare_sim_cublas_legacy();                                                                                      \
		return 0;                                                                                                      \
	}

/* A function of a handle, and the same with counts of 64 bits. */
#define TWIN(name)      NODE(name, 0) NODE(name##_64, 0)
#define TWIN_SDCZ(name) TWIN(cublasS##name) TWIN(cublasD##name) TWIN(cublasC##name) TWIN(cublasZ##name)
/* Half precision and bfloat16, in and out of single precision. */
#define TWIN_HALF(name) TWIN(cublasHSH##name) TWIN(cublasHSS##name) TWIN(cublasTST##name) TWIN(cublasTSS##name)

/* A function of BLAS: without a handle, with one, and with counts of 64 bits. BLAS_SHORT: not the last. */
#define BLAS_SHORT(name) LEGACY(cublas##name) NODE(cublas##name##_v2, 0)
#define BLAS(name)       LEGACY(cublas##name) TWIN(cublas##name##_v2)
#define BLAS_SD(name)    BLAS(S##name) BLAS(D##name)
#define BLAS_CZ(name)    BLAS(C##name) BLAS(Z##name)
#define BLAS_SDCZ(name)  BLAS_SD(name) BLAS_CZ(name)

/* One that has a result of this type, for argument `at`, which is on the host or on the device. */
#define RESULT_AT(name, at, bytes, value)                                                                              \
	SIM_ROW(name, "node", {                                                                                            \
		struct sim_handle *handle_ = (struct sim_handle *)a0;                                                          \
		if (!handle_)                                                                                                  \
			return SIM_BAD_HANDLE;                                                                                     \
		if (!a##at)                                                                                                    \
			return SIM_BAD_ARGUMENT;                                                                                   \
		if (!handle_->kept[CUBLAS_POINTER_MODE])                                                                       \
			tare_sim_cublas_result((void *)a##at, (size_t)(bytes), value);                                             \
		sim_lib_node(handle_->stream);                                                                                 \
	})
#define RESULT(name, at, type)                                                                                         \
	LEGACY_VALUE(cublas##name, type)                                                                                   \
	RESULT_AT(cublas##name##_v2, at, sizeof(type), 0)                                                                  \
	RESULT_AT(cublas##name##_v2_64, at, sizeof(type), 0)
#define INDEX(name)                                                                                                    \
	LEGACY_VALUE(cublas##name, int)                                                                                    \
	RESULT_AT(cublas##name##_v2, 4, 4, 1)                                                                              \
	RESULT_AT(cublas##name##_v2_64, 4, 8, 1)
/* … whose type argument `type` says. */
#define RESULT_EX(name, at, type)                                                                                      \
	RESULT_AT(name, at, sim_data_type_width((int)a##type), 0)                                                          \
	RESULT_AT(name##_64, at, sim_data_type_width((int)a##type), 0)
#define INDEX_EX(name) RESULT_AT(name, 5, 4, 1) RESULT_AT(name##_64, 5, 8, 1)

/* Writes a result of so many bytes: a whole number, 0 of any type. */
static inline void tare_sim_cublas_result(void *at, size_t bytes, int64_t value)
{
	__builtin_memset(at, 0, bytes);
	if (value)
		__builtin_memcpy(at, &value, bytes < sizeof(value) ? bytes : sizeof(value));
}

#endif
