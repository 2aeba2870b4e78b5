/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that only cuSOLVER's table has (row.h has the others). */
#ifndef TARE_SIM_CUSOLVER_H
#define TARE_SIM_CUSOLVER_H

#include "simgpu/libs/data_type.h"
#include "simgpu/libs/lib.h"

enum {
	CUSOLVER_STATUS_SUCCESS = 0,
	CUSOLVER_STATUS_NOT_INITIALIZED = 1,
	CUSOLVER_STATUS_ALLOC_FAILED = 2,
	CUSOLVER_STATUS_INVALID_VALUE = 3,
	CUSOLVER_STATUS_NOT_SUPPORTED = 9,
};

#undef SIM_NO_MEMORY
#define SIM_NO_MEMORY CUSOLVER_STATUS_ALLOC_FAILED
#undef SIM_BAD_ARGUMENT
#define SIM_BAD_ARGUMENT CUSOLVER_STATUS_INVALID_VALUE
#undef SIM_BAD_HANDLE
#define SIM_BAD_HANDLE CUSOLVER_STATUS_NOT_INITIALIZED

/* Elements of a workspace, as LAPACK asks for them: of 32 columns, and of a divide and conquer solver. */
#define PANEL(n)    (32 * (int64_t)(n))
#define SQUARE(n)   (2 * (int64_t)(n) * (int64_t)(n) + 6 * (int64_t)(n) + 1)
#define WIDTH(type) sim_data_type_width((int)(type))

/*
 * Elements as an H100 answers (cuSOLVER 12.0, tests/gpu/solver_answers.py; docs/measurements/simulated.md has how near): of a
 * QR, a product with its Q, the Q; singular values by QR and by Jacobi; eigenvalues. For square matrices but the first, which is
 * right for all.
 */
#define QR(n)            (1024 * (512 + ((int64_t)(n) > 256 ? (int64_t)(n) : 256)))
#define QR_TIMES(m, n)   (2 * (int64_t)(m) * (n) + 769 * (int64_t)(n) + 65792)
#define QR_Q(n)          (384 * (int64_t)(n) + 16640)
#define SVD(n)           (3 * (int64_t)(n) * (n) + 260 * (int64_t)(n) + 65792)
#define SVD_JACOBI(m, n) (2 * (int64_t)(m) * (n) + 65 * (int64_t)(n) + (int64_t)(n) * (n) / 256 + 1056)
#define EIGEN_SMALL(n)   (3 * (int64_t)(n) * (n) + 768 * (int64_t)(n) + 65603)
#define EIGEN_LARGE(n)   (4 * (int64_t)(n) * (n) + 127 * (int64_t)(n) + 32963)
#define EIGEN(n)         (EIGEN_SMALL(n) > EIGEN_LARGE(n) ? EIGEN_SMALL(n) : EIGEN_LARGE(n))

/* Sizes in bytes, on the device and on the host, of so many elements of the type that argument `type` says. */
#define WORKSPACE(name, device, host, elements, type)                                                                  \
	SIM_ROW(name, "answers", {                                                                                         \
		if (!a##device || !a##host)                                                                                    \
			return SIM_BAD_ARGUMENT;                                                                                   \
		*(size_t *)a##device = (size_t)(elements)*WIDTH(a##type);                                                      \
		*(size_t *)a##host = 0;                                                                                        \
	})
/* The same, as recorded: 128 bytes more. */
#define WORKSPACE_128(name, device, host, elements, type)                                                              \
	SIM_ROW(name, "answers", {                                                                                         \
		if (!a##device || !a##host)                                                                                    \
			return SIM_BAD_ARGUMENT;                                                                                   \
		*(size_t *)a##device = (size_t)(elements)*WIDTH(a##type) + 128;                                                \
		*(size_t *)a##host = 0;                                                                                        \
	})
/* Two sizes, which are 0, for four types; two numbers. */
#define TWO_SIZES(name, first, second)                                                                                 \
	SIM_ROW(name, "answers", {                                                                                         \
		if (!a##first || !a##second)                                                                                   \
			return SIM_BAD_ARGUMENT;                                                                                   \
		*(size_t *)a##first = 0;                                                                                       \
		*(size_t *)a##second = 0;                                                                                      \
	})
#define SIZES_SDCZ(prefix, name, first, second)                                                                        \
	TWO_SIZES(prefix##S##name, first, second)                                                                          \
	TWO_SIZES(prefix##D##name, first, second)                                                                          \
	TWO_SIZES(prefix##C##name, first, second)                                                                          \
	TWO_SIZES(prefix##Z##name, first, second)
#define ZEROS(name, first, second)                                                                                     \
	SIM_ROW(name, "answers", {                                                                                         \
		if (!a##first || !a##second)                                                                                   \
			return SIM_BAD_ARGUMENT;                                                                                   \
		*(int *)a##first = 0;                                                                                          \
		*(int *)a##second = 0;                                                                                         \
	})
/* Two settings at once. */
#define KEEPS_TWO(name, slot)                                                                                          \
	SIM_ROW(name, "keeps", {                                                                                           \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		((struct sim_handle *)a0)->kept[slot] = (uint64_t)a1;                                                          \
		((struct sim_handle *)a0)->kept[(slot) + 1] = (uint64_t)a2;                                                    \
	})
#define TELLS_TWO(name, slot)                                                                                          \
	SIM_ROW(name, "tells", {                                                                                           \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		if (!a1 || !a2)                                                                                                \
			return SIM_BAD_ARGUMENT;                                                                                   \
		*(int *)a1 = (int)((struct sim_handle *)a0)->kept[slot];                                                       \
		*(int *)a2 = (int)((struct sim_handle *)a0)->kept[(slot) + 1];                                                 \
	})

/* A pair of main and lowest precision: systems (gesv) and least squares (gels), found in one iteration. */
#define MIXED(pair)                                                                                                    \
	NODE_TELLS(cusolverDn##pair##gesv, 0, 12, INT, 1)                                                                  \
	ANSWERS(cusolverDn##pair##gesv_bufferSize, 11, SIZE, 8 * SQUARE((int)a1))                                          \
	NODE_TELLS(cusolverDn##pair##gels, 0, 12, INT, 1)                                                                  \
	ANSWERS(cusolverDn##pair##gels_bufferSize, 11, SIZE, 8 * SQUARE((int)a2))

#endif
