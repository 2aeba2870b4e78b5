/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the driver and finds its functions. */
#include "calibrate/driver.h"

#include <dlfcn.h>
#include <stdio.h>

struct tare_cu tare_cu;

bool tare_driver_load(const char *path, char *error, size_t size)
{
	void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(error, size, "%s", dlerror());
		return false;
	}
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	*(void **)&tare_cu.symbol = dlsym(library, #symbol);
#include "recorder/cuda/cuda_api.def"
#include "simgpu/sim_extra.def"
#undef CU_API
	return true;
}

const char *tare_driver_error(CUresult result, char room[32])
{
	const char *name = NULL;

	if (tare_cu.cuGetErrorName && tare_cu.cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
		return name;
	snprintf(room, 32, "error %d", result);
	return room;
}
