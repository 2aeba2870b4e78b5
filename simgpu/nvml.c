/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated libnvidia-ml: its beginning and end, and memory, out of the state of the machine. */
#include "nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sim_hide.h"

struct sim_nvml sim_nvml;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Functions that a library older than these does not have. */
static const char *const younger[] = {
	"nvmlDeviceGetMemoryInfo_v2",
	"nvmlDeviceGetComputeRunningProcesses_v2",
	"nvmlDeviceGetComputeRunningProcesses_v3",
	"nvmlDeviceGetGraphicsRunningProcesses_v2",
	"nvmlDeviceGetGraphicsRunningProcesses_v3",
	"nvmlDeviceGetMPSComputeRunningProcesses_v2",
	"nvmlDeviceGetMPSComputeRunningProcesses_v3",
};

/* When the library is loaded: before anybody looks for a symbol. */
__attribute__((constructor)) static void start(void)
{
	size_t i;

	sim_script_load(&sim_nvml.script, NULL);
	for (i = 0; sim_nvml.script.nvml_v1_only && i < sizeof(younger) / sizeof(younger[0]); i++)
		sim_hide_symbol(younger[i]);
	if (!sim_nvml.script.nvml_missing)
		return;
#define NVML_API(field, symbol, parameters) sim_hide_symbol(#symbol);
	NVML_API_MAP(NVML_API)
	NVML_EXTRA_MAP(NVML_API)
#undef NVML_API
}

static int open_machine(void)
{
	char error[512];
	int i;

	if (sim_nvml.shared)
		return NVML_SUCCESS;
	if (sim_profile_load(&sim_nvml.profile, error, sizeof(error)) < 0) {
		fprintf(stderr, "simulated GPU: %s\n", error);
		return NVML_DRIVER_NOT_LOADED;
	}
	if (!strcmp(sim_nvml.profile.nvml, TARE_PROFILE_NVML_NOTHING))
		return NVML_DRIVER_NOT_LOADED;
	sim_nvml.devices_nr = sim_profile_devices();
	for (i = 0; i < SIM_DEVICES; i++) {
		sim_nvml.gpus[i] = (struct nvml_device){ i, false, i < sim_nvml.devices_nr };
		sim_nvml.migs[i] = (struct nvml_device){ i, true, i < sim_nvml.devices_nr && sim_nvml.script.mig };
	}
	sim_nvml.shared = sim_state_open();
	return sim_nvml.shared ? NVML_SUCCESS : NVML_UNKNOWN;
}

int nvmlInit_v2(void)
{
	int result;

	if (sim_nvml.script.no_nvml)
		return sim_nvml.script.no_nvml;
	pthread_mutex_lock(&lock);
	result = open_machine();
	sim_nvml.users += result == NVML_SUCCESS;
	pthread_mutex_unlock(&lock);
	return result;
}

int nvmlInit(void)
{
	return nvmlInit_v2();
}

int nvmlInitWithFlags(unsigned int flags)
{
	(void)flags;
	return nvmlInit_v2();
}

int nvmlShutdown(void)
{
	int result = NVML_UNINITIALIZED;

	pthread_mutex_lock(&lock);
	if (sim_nvml.users) {
		sim_nvml.users--;
		result = NVML_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

int sim_nvml_check(const struct nvml_device *dev)
{
	if (!__atomic_load_n(&sim_nvml.users, __ATOMIC_ACQUIRE))
		return NVML_UNINITIALIZED;
	if (dev < sim_nvml.gpus || dev >= sim_nvml.gpus + SIM_DEVICES)
		if (dev < sim_nvml.migs || dev >= sim_nvml.migs + SIM_DEVICES)
			return NVML_INVALID_ARGUMENT;
	return dev->is_valid ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

int sim_nvml_check_whole(const struct nvml_device *dev)
{
	int result = sim_nvml_check(dev);

	return result == NVML_SUCCESS && sim_nvml.script.mig && !dev->is_mig ? NVML_NO_PERMISSION : result;
}

int sim_nvml_ready(void)
{
	return __atomic_load_n(&sim_nvml.users, __ATOMIC_ACQUIRE) ? NVML_SUCCESS : NVML_UNINITIALIZED;
}

/* ---- memory ---- */
/*
 * The script's drift falls between calls and never within one: into a reading that follows another
 * without a call of this process that may change memory.
 */
static void drift(int device)
{
	struct sim_slot *self = sim_state_self(sim_nvml.shared);

	if (!sim_nvml.script.drift || !self)
		return;
	if (self->calls == self->calls_seen)
		sim_nvml.shared->drift[device] += (int64_t)sim_nvml.script.drift;
	self->calls_seen = self->calls;
}

static int read_used(const struct nvml_device *dev, uint64_t *used)
{
	int result = sim_nvml_check_whole(dev);

	if (result != NVML_SUCCESS)
		return result;
	if (sim_nvml.script.no_memory || !strcmp(sim_nvml.profile.nvml, TARE_PROFILE_NVML_NO_MEMORY))
		return NVML_NOT_SUPPORTED;
	sim_state_lock(sim_nvml.shared);
	sim_state_reclaim(sim_nvml.shared);
	drift(dev->index);
	*used = sim_state_used(sim_nvml.shared, dev->index, &sim_nvml.profile);
	sim_state_unlock(sim_nvml.shared);
	*used += sim_script_noise(&sim_nvml.script);
	return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(nvml_device dev, struct nvml_memory_v2 *memory)
{
	uint64_t used, version = memory ? memory->version : 0;
	int result = read_used(dev, &used);

	if (result != NVML_SUCCESS)
		return result;
	if (!memory)
		return NVML_INVALID_ARGUMENT;
	if (version != NVML_MEMORY_V2)
		return NVML_ARGUMENT_VERSION_MISMATCH;
	memory->total = sim_nvml.profile.total;
	memory->reserved = sim_nvml.profile.reserved;
	memory->used = used;
	memory->free = memory->total - memory->reserved - used;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo(nvml_device dev, struct nvml_memory_v1 *memory)
{
	uint64_t used;
	int result = read_used(dev, &used);

	if (result != NVML_SUCCESS)
		return result;
	if (!memory)
		return NVML_INVALID_ARGUMENT;
	memory->total = sim_nvml.profile.total;
	memory->used = used + sim_nvml.profile.reserved;
	memory->free = memory->total - memory->used;
	return NVML_SUCCESS;
}
