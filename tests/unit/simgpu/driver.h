/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated driver and NVML as a program gets them: loaded, or linked in under a sanitizer. */
#ifndef TARE_TESTS_SIMGPU_DRIVER_H
#define TARE_TESTS_SIMGPU_DRIVER_H

#include <stdbool.h>

#include "tests/unit/test.h"

#include "simgpu/nvml_abi.h"
#include "simgpu/sim_abi.h"

#define MIB (1024.0 * 1024.0)

struct driver {
	void *library;
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) CUresult(*symbol) params;
#include "recorder/cuda/cuda_api.def"
#include "simgpu/sim_extra.def"
#undef CU_API
};
extern struct driver cu;

struct nvml {
	void *library;
#define NVML_API(field, symbol, parameters) int(*symbol) parameters;
	NVML_API_MAP(NVML_API)
	NVML_EXTRA_MAP(NVML_API)
#undef NVML_API
	nvml_device device; /* the first */
};
extern struct nvml nvml;

/* A symbol that the library lacks leaves NULL. `script` is TARE_SIM_SCRIPT; NULL: none. */
void driver_open(const char *script);
void nvml_open(void); /* and initialise */
/* All of it: driver, NVML, cuInit. */
void machine_open(const char *script);
/* The above and a current primary context. */
CUcontext context_open(const char *script);

/* Makes a machine that several processes share; its folder is gone when the test ends. */
void machine_share(void);

uint64_t used(void); /* NVML's v2 figure */
/* What it grew by since the last call of this, in MiB: what the measured lists show. */
double grown(void);

#define OK(CALL) CHECK_INT(CALL, CUDA_SUCCESS)
#define GROWS(CALL, MIBS)                                                                                              \
	do {                                                                                                               \
		grown();                                                                                                       \
		OK(CALL);                                                                                                      \
		CHECK_INT(grown() * 1024, (MIBS)*1024);                                                                        \
	} while (0)

#endif
