/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's entry points, found at run time: `tare` itself is linked with no driver. */
#ifndef TARE_CALIBRATE_DRIVER_H
#define TARE_CALIBRATE_DRIVER_H

#include "simgpu/sim_abi.h"

#include <stdbool.h>

/* NULL where this driver has no such function. */
struct tare_cu {
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) CUresult(*symbol) params;
#include "recorder/cuda/cuda_api.def"
#include "simgpu/sim_extra.def"
#undef CU_API
};
extern struct tare_cu tare_cu;

/* Loads `path`, or libcuda.so.1 where the loader finds it. False: `error` says what the loader says. */
bool tare_driver_load(const char *path, char *error, size_t size);

/* "CUDA_ERROR_NOT_SUPPORTED", or the number as text in `room`. */
const char *tare_driver_error(CUresult result, char room[32]);

#endif
