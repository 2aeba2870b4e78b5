/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's results, and the rows that only its table has (row.h has the others). */
#ifndef TARE_SIM_CUPTI_H
#define TARE_SIM_CUPTI_H

#include "simgpu/libs/lib.h"

enum {
	CUPTI_SUCCESS = 0,
	CUPTI_ERROR_INVALID_PARAMETER = 1,
	CUPTI_ERROR_OUT_OF_MEMORY = 8,
	CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
	CUPTI_ERROR_NOT_SUPPORTED = 27,
	CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED = 38,
};

#undef SIM_NO_MEMORY
#define SIM_NO_MEMORY CUPTI_ERROR_OUT_OF_MEMORY
#undef SIM_BAD_ARGUMENT
#define SIM_BAD_ARGUMENT CUPTI_ERROR_INVALID_PARAMETER

/* Of CUDA 11.8, 12.4 and 13.0. */
#define CUPTI_API_VERSION (SIM_VERSION == 11 ? 18 : SIM_VERSION == 12 ? 22 : 130001)

/* The driver's number of a stream. */
int tare_sim_cupti_stream(long stream);

#define OLD(name)    REFUSES(name, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED)
#define COUNTS(name) REFUSES(name, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)

#endif
