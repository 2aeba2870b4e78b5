/* SPDX-License-Identifier: Apache-2.0 */
/* cuRAND's results, and the row that only its table has (row.h has the others). */
#ifndef TARE_SIM_CURAND_H
#define TARE_SIM_CURAND_H

#include "simgpu/libs/lib.h"

enum {
	CURAND_STATUS_SUCCESS = 0,
	CURAND_STATUS_NOT_INITIALIZED = 101,
	CURAND_STATUS_ALLOCATION_FAILED = 102,
	CURAND_STATUS_TYPE_ERROR = 103,
	CURAND_STATUS_OUT_OF_RANGE = 104,
};

#undef SIM_NO_MEMORY
#define SIM_NO_MEMORY CURAND_STATUS_ALLOCATION_FAILED
#undef SIM_BAD_ARGUMENT
#define SIM_BAD_ARGUMENT CURAND_STATUS_OUT_OF_RANGE
#undef SIM_BAD_HANDLE
#define SIM_BAD_HANDLE CURAND_STATUS_NOT_INITIALIZED

enum { CURAND_ON_HOST = 0 }; /* the slot that keeps whether a generator writes on the host */

/* Fills argument 1 with as many numbers as argument 2 says, of this width. */
#define GENERATES(name, width)                                                                                         \
	SIM_ROW(name, "node", {                                                                                            \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		if (!a1)                                                                                                       \
			return SIM_BAD_ARGUMENT;                                                                                   \
		if (((struct sim_handle *)a0)->kept[CURAND_ON_HOST])                                                           \
			__builtin_memset((void *)a1, 0, (size_t)a2 *(width));                                                      \
		else                                                                                                           \
			sim_lib_node(((struct sim_handle *)a0)->stream);                                                           \
	})

#endif
