/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

struct driver cu;
struct nvml nvml;

#ifdef SIM_LINKED
#include "simgpu/nvml.h"
#include "simgpu/sim.h"

static void *find(void *library, const char *name, void *linked)
{
	(void)library;
	(void)name;
	return linked;
}
#define FIND(library, symbol) find(library, #symbol, (void *)symbol)
#else
#define FIND(library, symbol) dlsym(library, #symbol)

static void *load(const char *name)
{
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/%s", getenv("TARE_TEST_SIMGPU"), name);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		test_fail(__FILE__, __LINE__, "%s", dlerror());
	return library;
}
#endif

void driver_open(const char *script)
{
#ifdef SIM_LINKED
	CHECK(!script);
#else
	if (script)
		setenv("TARE_SIM_SCRIPT", script, 1);
	cu.library = load("libcuda.so.1");
#endif
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	*(void **)&cu.symbol = FIND(cu.library, symbol);
#include "recorder/cuda/cuda_api.def"
#include "simgpu/sim_extra.def"
#undef CU_API
}

void nvml_open(void)
{
#ifndef SIM_LINKED
	nvml.library = load("libnvidia-ml.so.1");
#endif
#define NVML_API(field, symbol, parameters) *(void **)&nvml.symbol = FIND(nvml.library, symbol);
	NVML_API_MAP(NVML_API)
	NVML_EXTRA_MAP(NVML_API)
#undef NVML_API
	CHECK_INT(nvml.nvmlInit_v2(), NVML_SUCCESS);
	CHECK_INT(nvml.nvmlDeviceGetHandleByIndex_v2(0, &nvml.device), NVML_SUCCESS);
}

void machine_open(const char *script)
{
	driver_open(script);
	nvml_open();
	OK(cu.cuInit(0));
}

CUcontext context_open(const char *script)
{
	CUcontext context;

	machine_open(script);
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	OK(cu.cuCtxSetCurrent(context));
	return context;
}

static char folder[64];

static void remove_folder(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/simgpu-3.state", folder);
	unlink(path);
	rmdir(folder);
}

void machine_share(void)
{
	strcpy(folder, "/tmp/t-simgpu-XXXXXX");
	CHECK(mkdtemp(folder));
	setenv("TARE_SIM_DIR", folder, 1);
	atexit(remove_folder);
}

uint64_t used(void)
{
	struct nvml_memory_v2 memory = { .version = NVML_MEMORY_V2 };

	CHECK_INT(nvml.nvmlDeviceGetMemoryInfo_v2(nvml.device, &memory), NVML_SUCCESS);
	CHECK_INT(memory.total, memory.used + memory.free + memory.reserved);
	return memory.used;
}

double grown(void)
{
	static uint64_t last;
	uint64_t now = used();
	double by = ((double)now - (double)last) / MIB;

	last = now;
	return by;
}
