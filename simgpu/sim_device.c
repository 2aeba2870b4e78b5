/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as one process sees it: cuInit, devices and what they have, and their memory. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"
#include "sim_process.h"

struct sim sim;

/* One word of CUDA_VISIBLE_DEVICES: an index, or the beginning of a UUID. -1: no such device. */
static int find_visible(const char *word, int count)
{
	char uuid[64];
	char *end;
	long index;
	int i;

	if (isdigit((unsigned char)*word)) {
		index = strtol(word, &end, 10);
		return *end == 0 && index < count ? (int)index : -1;
	}
	for (i = 0; i < count; i++) {
		sim_profile_uuid(&sim.profile, i, uuid);
		if (*word && strncmp(uuid, word, strlen(word)) == 0)
			return i;
	}
	return -1;
}

/* As the driver: the first word that names no device ends the list. */
static void see_devices(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int i, count = sim_profile_devices();
	char words[4096], *word, *rest;

	sim.devices_nr = 0;
	if (!visible) {
		for (i = 0; i < count; i++)
			sim.devices[sim.devices_nr++].physical = i;
		return;
	}
	snprintf(words, sizeof(words), "%s", visible);
	for (word = strtok_r(words, ", ", &rest); word && sim.devices_nr < SIM_DEVICES;
	     word = strtok_r(NULL, ", ", &rest)) {
		int found = find_visible(word, count);

		if (found < 0)
			return;
		sim.devices[sim.devices_nr++].physical = found;
	}
}

bool sim_is_device(CUdevice device)
{
	return device >= 0 && device < sim.devices_nr;
}

static CUresult start(void)
{
	char error[512];
	int i;

	if (sim_profile_load(&sim.profile, error, sizeof(error)) < 0) {
		fprintf(stderr, "simulated GPU: %s\n", error);
		return CUDA_ERROR_NO_DEVICE;
	}
	see_devices();
	sim.shared = sim.devices_nr ? sim_state_open() : NULL;
	sim.slot = sim.shared ? sim_state_join(sim.shared) : NULL;
	if (!sim.slot)
		return CUDA_ERROR_NO_DEVICE;
	for (i = 0; i < sim.devices_nr; i++) {
		sim.slot->opened |= 1ull << sim.devices[i].physical;
		if (sim_take(i, sim.profile.init_process) != CUDA_SUCCESS)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuInit(unsigned int Flags)
{
	CUresult result;

	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim.is_initialized)
		return sim.slot->pid == (uint32_t)getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
	result = start();
	sim.is_initialized = result == CUDA_SUCCESS;
	return result;
}

/* Where host and GPU share one memory: what the processes that are on the device have of it by malloc. */
static uint64_t host_memory(int physical)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; sim.script.host_memory && i < sim.shared->slots_high; i++)
		if (sim.shared->slots[i].pid && sim.shared->slots[i].opened >> physical & 1)
			sum += sim_process_anonymous(sim.shared->slots[i].pid);
	return sum;
}

static uint64_t used_now(int physical)
{
	return sim_state_used(sim.shared, physical, &sim.profile) + host_memory(physical) + sim_script_noise(&sim.script);
}

CUresult sim_take(int device, uint64_t bytes)
{
	int physical = sim.devices[device].physical;
	uint64_t capacity = sim.profile.total - sim.profile.reserved, used;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	if (sim.script.oom_above && sim.script.oom_above < capacity)
		capacity = sim.script.oom_above;
	sim_state_lock(sim.shared);
	used = used_now(physical);
	if (bytes > capacity || used > capacity - bytes) {
		sim_state_reclaim(sim.shared);
		used = used_now(physical);
	}
	if (bytes <= capacity && used <= capacity - bytes) {
		sim.slot->used[physical] += bytes;
		result = CUDA_SUCCESS;
	}
	sim_state_unlock(sim.shared);
	return result;
}

void sim_give(int device, uint64_t bytes)
{
	sim_state_lock(sim.shared);
	sim.slot->used[sim.devices[device].physical] -= bytes;
	sim_state_unlock(sim.shared);
}

/* Of all processes. */
static uint64_t used_of(int device)
{
	uint64_t used;

	sim_state_lock(sim.shared);
	sim_state_reclaim(sim.shared);
	used = used_now(sim.devices[device].physical);
	sim_state_unlock(sim.shared);
	return used;
}

CUresult sim_body_cuDriverGetVersion(int *driverVersion)
{
	char error[512];

	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	/* May be asked before cuInit. */
	if (!sim.profile.total && sim_profile_load(&sim.profile, error, sizeof(error)) < 0) {
		fprintf(stderr, "simulated GPU: %s\n", error);
		*driverVersion = 0;
		return CUDA_SUCCESS;
	}
	*driverVersion = sim.script.driver_version ? sim.script.driver_version : (int)sim.profile.cuda_version;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetCount(int *count)
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = sim.devices_nr;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGet(CUdevice *device, int ordinal)
{
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetName(char *name, int len, CUdevice dev)
{
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)len, "%s%s", sim.profile.name, sim.script.mig ? " MIG 7g" : "");
	return CUDA_SUCCESS;
}

static CUresult get_uuid(CUuuid *uuid, CUdevice dev, bool is_mig)
{
	char text[64];

	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	sim_profile_uuid(&sim.profile, sim.devices[dev].physical, text);
	sim_uuid_parse(text, (unsigned char *)uuid->bytes);
	if (is_mig)
		uuid->bytes[0] ^= SIM_UUID_MIG;
	return CUDA_SUCCESS;
}

/* The first version knows no partitions and names the GPU that they are part of. */
CUresult sim_body_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	return get_uuid(uuid, dev, false);
}

CUresult sim_body_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	return get_uuid(uuid, dev, sim.script.mig);
}

CUresult sim_body_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = sim.profile.total - sim.profile.reserved;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemGetInfo_v2(size_t *free, size_t *total)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);
	uint64_t capacity = sim.profile.total - sim.profile.reserved, used;

	if (result != CUDA_SUCCESS)
		return result;
	/* Programs pass NULL for what they do not want to know (llama.cpp does). */
	used = used_of(context->device);
	if (total)
		*total = capacity;
	if (free)
		*free = used < capacity ? capacity - used : 0;
	return CUDA_SUCCESS;
}

/* Attributes of every device of our day, for programs that size their launches by them. */
static const struct {
	int attribute, value;
} attributes[] = {
	{ 1, 1024 },                                                       /* threads per block */
	{ 2, 1024 },        { 3, 1024 },  { 4, 64 },    { 5, 2147483647 }, /* blocks per grid */
	{ 6, 65535 },       { 7, 65535 }, { 8, 49152 },                    /* shared memory per block */
	{ 9, 65536 },                                                      /* constant memory */
	{ 10, 32 },                                                        /* warp size */
	{ 11, 2147483647 },                                                /* largest pitch */
	{ 12, 65536 },                                                     /* registers per block */
	{ 13, 1980000 },                                                   /* clock, kHz */
	{ 14, 512 },                                                       /* texture alignment */
	{ 19, 1 },                                                         /* can map host memory */
	{ 31, 1 },                                                         /* concurrent kernels */
	{ 36, 2619000 },                                                   /* memory clock, kHz */
	{ 37, 6144 },                                                      /* bus width */
	{ 40, 3 },                                                         /* copy engines */
	{ 41, 1 },                                                         /* unified addressing */
	{ 78, 1 },                                                         /* stream priorities */
	{ 82, 65536 },                                                     /* registers per multiprocessor */
	{ 83, 1 },                                                         /* managed memory */
	{ 89, 1 },                                                         /* concurrent managed access */
	{ 95, 1 },                                                         /* cooperative launch */
	{ 102, 1 },                                                        /* virtual memory management */
	{ 103, 1 },                                                        /* POSIX file descriptors */
	{ 115, 1 },                                                        /* memory pools */
};

static int attribute_of_profile(int attribute, CUdevice dev)
{
	const struct tare_profile *profile = &sim.profile;

	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		return (int)profile->sm_count;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
		return (int)profile->threads_per_sm;
	case 38: /* L2 */
		return (int)profile->l2;
	case CU_DEVICE_ATTRIBUTE_INTEGRATED:
		return (int)profile->integrated;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		return (int)profile->pci_bus_first + sim.devices[dev].physical;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return (int)profile->compute_major;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		return (int)profile->compute_minor;
	case 81: /* shared memory of a multiprocessor */
		return (int)sim_generation()->shared_of_sm;
	case 97: /* shared memory of a block, opted in */
		return (int)sim_generation()->shared_of_block;
	case 106: /* blocks of a multiprocessor */
		return (int)sim_generation()->blocks_of_sm;
	default:
		return 0; /* what the device does not have, PCI domain and slot 0 too */
	}
}

CUresult sim_body_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	size_t i;

	if (!pi || attrib <= 0 || attrib > 200)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pi = attribute_of_profile(attrib, dev);
	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].attribute == attrib)
			*pi = attributes[i].value;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = (int)sim.profile.compute_major;
	*minor = (int)sim.profile.compute_minor;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
	if (!pciBusId || len < 13)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(pciBusId, (size_t)len, "0000:%02X:00.0",
	         (unsigned)sim.profile.pci_bus_first + (unsigned)sim.devices[dev].physical);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
	unsigned domain, bus, slot;
	int i;

	if (!dev || !pciBusId || sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < sim.devices_nr; i++)
		if (bus == sim.profile.pci_bus_first + (unsigned)sim.devices[i].physical) {
			*dev = i;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_body_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
	if (!canAccessPeer)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev) || !sim_is_device(peerDev))
		return CUDA_ERROR_INVALID_DEVICE;
	*canAccessPeer = dev != peerDev;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                          CUdevice dstDevice)
{
	if (!value || attrib <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(srcDevice) || !sim_is_device(dstDevice) || srcDevice == dstDevice)
		return CUDA_ERROR_INVALID_DEVICE;
	*value = 1;
	return CUDA_SUCCESS;
}
