/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT's interface for programs of FFTW: memory of the host, and what a plan costs, which is not known. */
#include <stdlib.h>

#include "simgpu/libs/lib.h"

#define MEMORY(prefix)                                                                                                 \
	SIM_EXPORT void *prefix##_malloc(size_t bytes);                                                                    \
	void *prefix##_malloc(size_t bytes)                                                                                \
	{                                                                                                                  \
		SIM_CALLED("host");                                                                                            \
		return malloc(bytes);                                                                                          \
	}                                                                                                                  \
	SIM_EXPORT void prefix##_free(void *memory);                                                                       \
	void prefix##_free(void *memory)                                                                                   \
	{                                                                                                                  \
		SIM_CALLED("host");                                                                                            \
		free(memory);                                                                                                  \
	}                                                                                                                  \
	SIM_EXPORT double prefix##_cost(void *plan);                                                                       \
	double prefix##_cost(void *plan)                                                                                   \
	{                                                                                                                  \
		(void)plan;                                                                                                    \
		SIM_CALLED("number");                                                                                          \
		return 0;                                                                                                      \
	}
MEMORY(fftw)
MEMORY(fftwf)
