/* SPDX-License-Identifier: Apache-2.0 */
/* The system, its devices, what they are called, and their partitions. */
#include <stdio.h>
#include <string.h>

#include "nvml.h"

static int copy_text(char *to, unsigned int size, const char *text)
{
	if (!to)
		return NVML_INVALID_ARGUMENT;
	if (strlen(text) >= size)
		return NVML_INSUFFICIENT_SIZE;
	strcpy(to, text);
	return NVML_SUCCESS;
}

int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	return sim_nvml_ready() ? NVML_UNINITIALIZED : copy_text(text, size, sim_nvml.profile.driver_version);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	if (sim_nvml_ready() != NVML_SUCCESS)
		return NVML_UNINITIALIZED;
	if (!version)
		return NVML_INVALID_ARGUMENT;
	*version = sim_nvml.script.driver_version ? sim_nvml.script.driver_version : (int)sim_nvml.profile.cuda_version;
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
	if (sim_nvml_ready() != NVML_SUCCESS)
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
	if (sim_nvml_ready() != NVML_SUCCESS)
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

	if (sim_nvml_ready() != NVML_SUCCESS)
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

	if (sim_nvml_ready() != NVML_SUCCESS)
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
