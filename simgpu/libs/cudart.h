/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the simulated CUDA runtime: contexts and results, which every function needs. As the real one, it works in
 * the primary context of the current device unless the program made another context current, makes that context at
 * the first call that needs one, and remembers the last result that was not a success.
 */
#ifndef TARE_SIM_CUDART_H
#define TARE_SIM_CUDART_H

#include "simgpu/libs/lib.h"

enum {
	CUDART_SUCCESS = 0,
	CUDART_INVALID_VALUE = 1,
	CUDART_NO_MEMORY = 2,
	CUDART_INVALID_CONFIGURATION = 9,
	CUDART_INVALID_SYMBOL = 13,
	CUDART_INVALID_COPY_DIRECTION = 21,
	CUDART_INSUFFICIENT_DRIVER = 35,
	CUDART_MISSING_CONFIGURATION = 52,
	CUDART_INVALID_FUNCTION = 98,
	CUDART_NO_DEVICE = 100,
	CUDART_INVALID_DEVICE = 101,
	CUDART_NOT_READY = 600,
	CUDART_PEER_ACCESS_NOT_ENABLED = 705,
	CUDART_NOT_SUPPORTED = 801,

	CUDART_DEVICES = 64,
};

/* Remembers a result, and returns it. The driver's numbers are the runtime's. */
int cudart_result(int result);
/* The driver is ready. */
int cudart_init(void);
/* … and a context is current. */
int cudart_context(void);
/* The device that the calling thread works on. */
int cudart_device(void);
/* The primary context of a device, which is made if it is not there; NULL: it cannot be, `*result` says why. */
void *cudart_primary(int device, int *result);
int cudart_attribute(int device, int attribute);

/* The driver's function for a kernel of the program on the current device; NULL: no such kernel. `*is_new`: nobody asked yet. */
void *cudart_function(const void *host_function, bool *is_new);

/* In a context: a call of the driver, whose result is the function's. */
#define CUDART_RUN(...)                                                                                                \
	do {                                                                                                               \
		int failed_ = cudart_context();                                                                                \
		if (failed_)                                                                                                   \
			return failed_;                                                                                            \
		return cudart_result(SIM_DRIVER(__VA_ARGS__));                                                                 \
	} while (0)

/* A function of the runtime: seen by programs, logged at its first call. */
#define CUDART(name, ...)                                                                                              \
	SIM_EXPORT int name(__VA_ARGS__);                                                                                  \
	int name(__VA_ARGS__)

#endif
