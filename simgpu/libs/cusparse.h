/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that only cuSPARSE's table has (row.h has the others), and where descriptors keep what. */
#ifndef TARE_SIM_CUSPARSE_H
#define TARE_SIM_CUSPARSE_H

#include "simgpu/libs/data_type.h"
#include "simgpu/libs/lib.h"

enum {
	CUSPARSE_STATUS_SUCCESS = 0,
	CUSPARSE_STATUS_NOT_INITIALIZED = 1,
	CUSPARSE_STATUS_ALLOC_FAILED = 2,
	CUSPARSE_STATUS_INVALID_VALUE = 3,
	CUSPARSE_STATUS_NOT_SUPPORTED = 10,
};

#undef SIM_NO_MEMORY
#define SIM_NO_MEMORY CUSPARSE_STATUS_ALLOC_FAILED
#undef SIM_BAD_ARGUMENT
#define SIM_BAD_ARGUMENT CUSPARSE_STATUS_INVALID_VALUE
#undef SIM_BAD_HANDLE
#define SIM_BAD_HANDLE CUSPARSE_STATUS_NOT_INITIALIZED

/* Slots: of a handle; of a descriptor, behind the 13 arguments that it was made with. */
enum {
	CUSPARSE_POINTER_MODE = 0, /* 0: results go to the host */
	CUSPARSE_FORMAT = 13,
	CUSPARSE_BATCH = 14, /* count, then stride */
	CUSPARSE_FILL = 16,
	CUSPARSE_DIAGONAL = 17,
};

/* What formats are numbered as, and those of descriptors that are no sparse matrices. */
enum { CSR = 1, CSC, COO, COO_AOS, BLOCKED_ELL, BSR, SLICED_ELL, SP_VEC = 20, DN_VEC, DN_MAT };

/* Makes a descriptor that keeps the arguments. */
int tare_sim_cusparse_make(struct sim_handle **descriptor, int format, const long *arguments);
/* Writes what a descriptor keeps where the arguments point; `widths` has '8' or '4' for each. */
int tare_sim_cusparse_tell(const struct sim_handle *descriptor, const char *widths, const long *arguments);

#define ARGUMENTS ((const long[]){ a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13 })
#define MADE(name, format)                                                                                             \
	SIM_RESULT(name, "makes", tare_sim_cusparse_make((struct sim_handle **)a0, format, ARGUMENTS))
#define TOLD(name, widths)                                                                                             \
	SIM_RESULT(name, "tells", tare_sim_cusparse_tell((const struct sim_handle *)a0, widths, ARGUMENTS))
/* A descriptor, of data that may be written and of data that may not. */
#define DESCRIPTOR(Name, format, widths)                                                                               \
	MADE(cusparseCreate##Name, format)                                                                                 \
	MADE(cusparseCreateConst##Name, format)                                                                            \
	TOLD(cusparse##Name##Get, widths)                                                                                  \
	TOLD(cusparseConst##Name##Get, widths)
#define VALUES(Name, slot)                                                                                             \
	KEEPS(cusparse##Name##SetValues, slot)                                                                             \
	TELLS(cusparse##Name##GetValues, slot, SIZE)                                                                       \
	TELLS(cusparseConst##Name##GetValues, slot, SIZE)
/* Keeps argument 1 and those behind it, so many, from this slot on. */
#define KEEPS_FROM(name, slot, count)                                                                                  \
	SIM_ROW(name, "keeps", {                                                                                           \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		for (int i_ = 0; i_ < (count); i_++)                                                                           \
			((struct sim_handle *)a0)->kept[(slot) + i_] = (uint64_t)ARGUMENTS[i_];                                    \
	})

/* What an algorithm keeps between its steps. */
#define INFO(Name) MAKES(cusparseCreate##Name##Info, 0) ENDS(cusparseDestroy##Name##Info, 0)
/* A setting that is told as the result. */
#define SET(Name, slot)                                                                                                \
	KEEPS(cusparseSet##Name, slot)                                                                                     \
	SIM_RESULT(cusparseGet##Name, "tells", a0 ? (int)((struct sim_handle *)a0)->kept[slot] : 0)
/* Sizes of the two generations of functions. */
#define BUFFER_SDCZ(name, at)                                                                                          \
	ANSWERS_SDCZ(cusparse, name##_bufferSize, at, INT, 0)                                                              \
	ANSWERS_SDCZ(cusparse, name##_bufferSizeExt, at, SIZE, 0)
/* Work whose result goes where argument `at` points: 0 or -1 of this width, if that is on the host. */
#define POINTED(name, at, width, value)                                                                                \
	SIM_ROW(name, "node", {                                                                                            \
		struct sim_handle *handle_ = (struct sim_handle *)a0;                                                          \
		if (!handle_)                                                                                                  \
			return SIM_BAD_HANDLE;                                                                                     \
		if (!a##at)                                                                                                    \
			return SIM_BAD_ARGUMENT;                                                                                   \
		if (!handle_->kept[CUSPARSE_POINTER_MODE])                                                                     \
			__builtin_memset((void *)a##at, value, width);                                                             \
		sim_lib_node(handle_->stream);                                                                                 \
	})
#define POINTED_SD(prefix, name, at, width, value)                                                                     \
	POINTED(prefix##S##name, at, width, value) POINTED(prefix##D##name, at, width, value)
#define POINTED_SDCZ(prefix, name, at, width, value)                                                                   \
	POINTED_SD(prefix, name, at, width, value)                                                                         \
	POINTED(prefix##C##name, at, width, value) POINTED(prefix##Z##name, at, width, value)
/* Work that tells three sizes, which are 0. */
#define NODE_SIZES(name, first, second, third)                                                                         \
	SIM_ROW(name, "node", {                                                                                            \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		if (a##first)                                                                                                  \
			*(size_t *)a##first = 0;                                                                                   \
		if (a##second)                                                                                                 \
			*(size_t *)a##second = 0;                                                                                  \
		if (a##third)                                                                                                  \
			*(size_t *)a##third = 0;                                                                                   \
		sim_lib_node(((struct sim_handle *)a0)->stream);                                                               \
	})

#endif
