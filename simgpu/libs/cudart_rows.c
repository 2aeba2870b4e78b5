/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime's functions that its tables alone say. */
#include "simgpu/libs/cudart.h"
#include "simgpu/libs/row.h"

#define RUN(name, driver_name)                                                                     \
	SIM_ROW(name, driver_name, {                                                               \
		int failed_ = cudart_context();                                                    \
		return failed_ ? failed_                                                           \
			       : cudart_result(SIM_DRIVER(driver_name, a0, a1, a2, a3, a4, a5, a6, \
							  a7, a8, a9, a10, a11));                  \
	})
#define ASK(name, driver_name)                                                                     \
	SIM_ROW(name, driver_name, {                                                               \
		int failed_ = cudart_init();                                                       \
		return failed_ ? failed_                                                           \
			       : cudart_result(SIM_DRIVER(driver_name, a0, a1, a2, a3, a4, a5));   \
	})

/* clang-format off */
#include "simgpu/libs/cudart.def"
#include "simgpu/libs/cudart_refused.def"
