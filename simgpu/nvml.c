/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated libnvidia-ml: devices and their memory, out of the state of the machine. */
#include "nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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
	sim_nvml.devices_nr = sim_profile_devices();
	for (i = 0; i < SIM_DEVICES; i++) {
		sim_nvml.gpus[i] = (struct nvml_device){ i, false, i < sim_nvml.devices_nr };
		sim_nvml.migs[i] =
			(struct nvml_device){ i, true, i < sim_nvml.devices_nr && sim_nvml.script.mig };
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

static int copy_text(char *to, unsigned int size, const char *text)
{
	if (!to)
		return NVML_INVALID_ARGUMENT;
	if (strlen(text) >= size)
		return NVML_INSUFFICIENT_SIZE;
	strcpy(to, text);
	return NVML_SUCCESS;
}

/* ---- the system ---- */
static int is_ready(void)
{
	return __atomic_load_n(&sim_nvml.users, __ATOMIC_ACQUIRE) ? NVML_SUCCESS : NVML_UNINITIALIZED;
}

int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	return is_ready() ? NVML_UNINITIALIZED : copy_text(text, size, sim_nvml.profile.driver_version);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	if (is_ready() != NVML_SUCCESS)
		return NVML_UNINITIALIZED;
	if (!version)
		return NVML_INVALID_ARGUMENT;
	*version = sim_nvml.script.driver_version ? sim_nvml.script.driver_version :
						    (int)sim_nvml.profile.cuda_version;
	return NVML_SUCCESS;
}

int nvmlSystemGetCudaDriverVersion(int *version)
{
	return nvmlSystemGetCudaDriverVersion_v2(version);
}

const char *nvmlErrorString(int result)
{
	switch (result) {
	case NVML_SUCCESS:
		return "The operation was successful";
	case NVML_UNINITIALIZED:
		return "Uninitialized";
	case NVML_INVALID_ARGUMENT:
		return "Invalid Argument";
	case NVML_NOT_SUPPORTED:
		return "Not Supported";
	case NVML_NO_PERMISSION:
		return "Insufficient Permissions";
	case NVML_NOT_FOUND:
		return "Not Found";
	case NVML_INSUFFICIENT_SIZE:
		return "Insufficient Size";
	case NVML_DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	case NVML_FUNCTION_NOT_FOUND:
		return "Function Not Found";
	case NVML_VERSION_MISMATCH:
		return "Driver/library version mismatch";
	case NVML_ARGUMENT_VERSION_MISMATCH:
		return "Argument version mismatch";
	default:
		return "Unknown Error";
	}
}

/* ---- devices ---- */
int nvmlDeviceGetCount_v2(unsigned int *count)
{
	if (is_ready() != NVML_SUCCESS)
		return NVML_UNINITIALIZED;
	if (!count)
		return NVML_INVALID_ARGUMENT;
	*count = (unsigned int)sim_nvml.devices_nr;
	return NVML_SUCCESS;
}

int nvmlDeviceGetCount(unsigned int *count)
{
	return nvmlDeviceGetCount_v2(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int i, nvml_device *dev)
{
	if (is_ready() != NVML_SUCCESS)
		return NVML_UNINITIALIZED;
	if (!dev || i >= (unsigned int)sim_nvml.devices_nr)
		return NVML_INVALID_ARGUMENT;
	*dev = &sim_nvml.gpus[i];
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex(unsigned int i, nvml_device *dev)
{
	return nvmlDeviceGetHandleByIndex_v2(i, dev);
}

int nvmlDeviceGetIndex(nvml_device dev, unsigned int *index)
{
	int result = sim_nvml_check(dev);

	if (result == NVML_SUCCESS && index)
		*index = (unsigned int)dev->index;
	return result != NVML_SUCCESS || index ? result : NVML_INVALID_ARGUMENT;
}

static void uuid_of(const struct nvml_device *dev, char uuid[64])
{
	char text[64];
	unsigned char bytes[16];

	sim_profile_uuid(&sim_nvml.profile, dev->index, text);
	if (!dev->is_mig) {
		memcpy(uuid, text, sizeof(text));
		return;
	}
	sim_uuid_parse(text, bytes);
	snprintf(uuid, 64, "MIG-%02x%s", bytes[0] ^ SIM_UUID_MIG, text + strlen("GPU-00"));
}

int nvmlDeviceGetUUID(nvml_device dev, char *text, unsigned int size)
{
	int result = sim_nvml_check(dev);
	char uuid[64];

	if (result != NVML_SUCCESS)
		return result;
	uuid_of(dev, uuid);
	return copy_text(text, size, uuid);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, nvml_device *dev)
{
	char text[64];
	int i;

	if (is_ready() != NVML_SUCCESS)
		return NVML_UNINITIALIZED;
	if (!uuid || !dev)
		return NVML_INVALID_ARGUMENT;
	for (i = 0; i < 2 * SIM_DEVICES; i++) {
		struct nvml_device *at = i < SIM_DEVICES ? &sim_nvml.gpus[i] : &sim_nvml.migs[i - SIM_DEVICES];

		uuid_of(at, text);
		if (!at->is_valid || strcmp(text, uuid) != 0)
			continue;
		*dev = at;
		return NVML_SUCCESS;
	}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetName(nvml_device dev, char *text, unsigned int size)
{
	int result = sim_nvml_check(dev);
	char name[80];

	if (result != NVML_SUCCESS)
		return result;
	snprintf(name, sizeof(name), "%s%s", sim_nvml.profile.name, dev->is_mig ? " MIG 7g" : "");
	return copy_text(text, size, name);
}

static unsigned int bus_of(const struct nvml_device *dev)
{
	return (unsigned int)sim_nvml.profile.pci_bus_first + (unsigned int)dev->index;
}

int nvmlDeviceGetPciInfo_v3(nvml_device dev, struct nvml_pci_info *info)
{
	int result = sim_nvml_check(dev);

	if (result != NVML_SUCCESS)
		return result;
	if (!info)
		return NVML_INVALID_ARGUMENT;
	memset(info, 0, sizeof(*info));
	info->bus = bus_of(dev);
	info->pci_device_id = (unsigned int)sim_nvml.profile.pci_device_id;
	snprintf(info->bus_id_legacy, sizeof(info->bus_id_legacy), "0000:%02X:00.0", info->bus & 0xff);
	snprintf(info->bus_id, sizeof(info->bus_id), "00000000:%02X:00.0", info->bus & 0xff);
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvml_device *dev)
{
	unsigned int domain, bus, slot;
	int i;

	if (is_ready() != NVML_SUCCESS)
		return NVML_UNINITIALIZED;
	if (!id || !dev || sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3)
		return NVML_INVALID_ARGUMENT;
	for (i = 0; i < sim_nvml.devices_nr; i++)
		if (bus_of(&sim_nvml.gpus[i]) == bus) {
			*dev = &sim_nvml.gpus[i];
			return NVML_SUCCESS;
		}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId(const char *id, nvml_device *dev)
{
	return nvmlDeviceGetHandleByPciBusId_v2(id, dev);
}

/* ---- partitions ---- */
int nvmlDeviceGetMigMode(nvml_device dev, unsigned int *now, unsigned int *after_reset)
{
	int result = sim_nvml_check(dev);

	if (result != NVML_SUCCESS)
		return result;
	if (!now || !after_reset)
		return NVML_INVALID_ARGUMENT;
	*now = *after_reset = sim_nvml.script.mig;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(nvml_device dev, unsigned int *count)
{
	int result = sim_nvml_check(dev);

	if (result == NVML_SUCCESS && count)
		*count = sim_nvml.script.mig && !dev->is_mig ? 7 : 0;
	return result != NVML_SUCCESS || count ? result : NVML_INVALID_ARGUMENT;
}

int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device dev, unsigned int i, nvml_device *mig)
{
	int result = sim_nvml_check(dev);

	if (result != NVML_SUCCESS)
		return result;
	if (!mig || i >= 7)
		return NVML_INVALID_ARGUMENT;
	if (!sim_nvml.script.mig || dev->is_mig || i)
		return NVML_NOT_FOUND;
	*mig = &sim_nvml.migs[dev->index];
	return NVML_SUCCESS;
}

int nvmlDeviceIsMigDeviceHandle(nvml_device dev, unsigned int *is_mig)
{
	int result = sim_nvml_check(dev);

	if (result == NVML_SUCCESS && is_mig)
		*is_mig = dev->is_mig;
	return result != NVML_SUCCESS || is_mig ? result : NVML_INVALID_ARGUMENT;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml_device mig, nvml_device *dev)
{
	int result = sim_nvml_check(mig);

	if (result != NVML_SUCCESS)
		return result;
	if (!dev || !mig->is_mig)
		return NVML_INVALID_ARGUMENT;
	*dev = &sim_nvml.gpus[mig->index];
	return NVML_SUCCESS;
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
	if (sim_nvml.script.no_memory)
		return NVML_NOT_SUPPORTED;
	sim_state_lock(sim_nvml.shared);
	sim_state_reclaim(sim_nvml.shared);
	drift(dev->index);
	*used = sim_state_used(sim_nvml.shared, dev->index, sim_nvml.profile.init);
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
