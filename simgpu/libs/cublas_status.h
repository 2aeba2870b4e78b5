/* SPDX-License-Identifier: Apache-2.0 */
/* The results of cuBLAS and cuBLASLt, their versions, and what both say of them. */
#ifndef TARE_SIM_CUBLAS_STATUS_H
#define TARE_SIM_CUBLAS_STATUS_H

#include "simgpu/libs/version.h"

/* clang-format off */
#define CUBLAS_STATUSES(X)                                                                         \
	X(SUCCESS, 0, "success")                                                                   \
	X(NOT_INITIALIZED, 1, "the library was not initialized")                                   \
	X(ALLOC_FAILED, 3, "the resource allocation failed")                                       \
	X(INVALID_VALUE, 7, "an unsupported value or parameter was passed to the function")        \
	X(ARCH_MISMATCH, 8, "the function requires a feature that the device does not have")       \
	X(MAPPING_ERROR, 11, "an access to GPU memory space failed")                               \
	X(EXECUTION_FAILED, 13, "the function failed to launch on the GPU")                        \
	X(INTERNAL_ERROR, 14, "an internal operation failed")                                      \
	X(NOT_SUPPORTED, 15, "the functionality requested is not supported")                       \
	X(LICENSE_ERROR, 16, "the functionality requires a license")
/* clang-format on */

#define CUBLAS_STATUS_ENUM(name, number, sentence) CUBLAS_STATUS_##name = (number),
enum { CUBLAS_STATUSES(CUBLAS_STATUS_ENUM) };

#define CUBLAS_STATUS_NAME(name, number, sentence)                                                                     \
	case number:                                                                                                       \
		return "CUBLAS_STATUS_" #name;
#define CUBLAS_STATUS_SENTENCE(name, number, sentence)                                                                 \
	case number:                                                                                                       \
		return sentence;

static inline const char *tare_sim_cublas_status_name(int status)
{
	switch (status) {
		CUBLAS_STATUSES(CUBLAS_STATUS_NAME)
	default:
		return "CUBLAS_STATUS_UNKNOWN";
	}
}

static inline const char *tare_sim_cublas_status_sentence(int status)
{
	switch (status) {
		CUBLAS_STATUSES(CUBLAS_STATUS_SENTENCE)
	default:
		return "unknown";
	}
}

/* cuBLAS of CUDA 11.8, 12.4 and 13.0. */
#if SIM_VERSION == 11
static const struct sim_version tare_sim_cublas_version = { 11, 11, 3 };
#elif SIM_VERSION == 12
static const struct sim_version tare_sim_cublas_version = { 12, 4, 5 };
#else
static const struct sim_version tare_sim_cublas_version = { 13, 1, 0 };
#endif

static inline int tare_sim_cublas_version_number(void)
{
	return tare_sim_cublas_version.major * 10000 + tare_sim_cublas_version.minor * 100 + tare_sim_cublas_version.patch;
}

/* The CUDA that the library was made for. */
#define CUBLAS_CUDART (SIM_VERSION == 11 ? 11080 : SIM_VERSION == 12 ? 12040 : 13000)

#endif
