/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime's functions that its tables alone say. */
#include "simgpu/libs/cudart.h"
#include "simgpu/libs/row.h"

/* The result of a call of the driver, once `ready` says 0. */
static int run(int ready, void *function, const long *a)
{
	return ready ? ready
	             : cudart_result(sim_lib_call(function, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
	                                          a[10], a[11]));
}

#define WORDS                  ((long[]){ a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11 })
#define RUN(name, driver_name) SIM_RESULT(name, driver_name, run(cudart_context(), SIM_FUNCTION(driver_name), WORDS))
#define ASK(name, driver_name) SIM_RESULT(name, driver_name, run(cudart_init(), SIM_FUNCTION(driver_name), WORDS))

/* clang-format off */
#include "simgpu/libs/cudart.def"
#include "simgpu/libs/cudart_refused.def"
