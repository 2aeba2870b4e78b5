/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVML for t_nvml, which loads it by path. FAKE_NVML lists what is odd about this machine:
 *   no-driver  nvmlInit fails          old    only the calls of version 1 answer
 *   unsupported  no memory, no lists   inside the reserve is inside `used`
 *   crowd      500 processes           lost   the GPU has fallen off the bus
 *   mig        the GPU is in MIG mode, with two devices
 */
#include "record/nvml_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB    UINT64_C(1048576)
#define EXPORT __attribute__((visibility("default")))

enum { GPU_IS_LOST = 15, CROWD = 500 };

#define NVML_API(FIELD, SYMBOL, PARAMETERS) EXPORT int SYMBOL PARAMETERS;
NVML_API_MAP(NVML_API)
#undef NVML_API
EXPORT const char *nvmlErrorString(int result);

static int is(const char *word)
{
	const char *odd = getenv("FAKE_NVML");

	return odd && strstr(odd, word) != NULL;
}

/* Handles: the GPU itself, then its MIG devices. */
static char handles[3];
#define HANDLE(I) ((nvml_device)(void *)&handles[I])

int nvmlInit_v2(void)
{
	return is("no-driver") ? NVML_DRIVER_NOT_LOADED : 0;
}

int nvmlShutdown(void)
{
	return 0;
}

const char *nvmlErrorString(int result)
{
	return result == GPU_IS_LOST ? "GPU is lost" : "some error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	snprintf(text, size, "580.159.04");
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = 2; /* the second may not be opened by this process */
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int i, nvml_device *dev)
{
	*dev = HANDLE(0);
	return i ? NVML_NO_PERMISSION : 0;
}

int nvmlDeviceGetName(nvml_device dev, char *text, unsigned int size)
{
	snprintf(text, size, dev == HANDLE(0) ? "Fake GPU" : "Fake GPU MIG 1g.5gb");
	return 0;
}

int nvmlDeviceGetUUID(nvml_device dev, char *text, unsigned int size)
{
	snprintf(text, size, "%s-%d", dev == HANDLE(0) ? "GPU" : "MIG", (int)((char *)(void *)dev - handles));
	return 0;
}

int nvmlDeviceGetMigMode(nvml_device dev, unsigned int *now, unsigned int *after_reset)
{
	*now = *after_reset = (unsigned int)is("mig");
	return dev == HANDLE(0) ? 0 : NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetMaxMigDeviceCount(nvml_device dev, unsigned int *count)
{
	(void)dev;
	*count = 7;
	return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device dev, unsigned int i, nvml_device *mig)
{
	(void)dev;
	if (i >= 2)
		return NVML_NOT_FOUND;
	*mig = HANDLE(1 + i);
	return 0;
}

int nvmlDeviceGetMemoryInfo_v2(nvml_device dev, struct nvml_memory_v2 *memory)
{
	(void)dev;
	if (is("lost"))
		return GPU_IS_LOST;
	if (is("unsupported") || is("old"))
		return NVML_FUNCTION_NOT_FOUND;
	if (memory->version != NVML_MEMORY_V2)
		return NVML_ARGUMENT_VERSION_MISMATCH;
	memory->total = 1000 * MIB;
	memory->reserved = 100 * MIB;
	memory->used = is("inside") ? 300 * MIB : 200 * MIB;
	memory->free = 700 * MIB;
	return 0;
}

int nvmlDeviceGetMemoryInfo(nvml_device dev, struct nvml_memory_v1 *memory)
{
	(void)dev;
	memory->total = 1000 * MIB;
	memory->used = 300 * MIB;
	memory->free = 700 * MIB;
	return is("unsupported") ? NVML_NOT_SUPPORTED : 0;
}

/* Pid 10 is in both lists and on two instances, 11 hides its memory, 12 only draws. */
static const struct nvml_process_v2 compute[] = { { 10, 50 * MIB, 0, 0 },
	                                              { 10, 5 * MIB, 1, 0 },
	                                              { 11, NVML_NOT_AVAILABLE, 0, 0 } };
static const struct nvml_process_v2 graphics[] = { { 10, 20 * MIB, 0, 0 }, { 12, 7 * MIB, 0, 0 } };

static int fill(const struct nvml_process_v2 *from, unsigned int n, int version, unsigned int *count, void *items)
{
	struct nvml_process_v1 *old = items;
	struct nvml_process_v2 *new = items;
	unsigned int room = *count;

	*count = n;
	if (room < n)
		return NVML_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < n; i++) {
		if (version == 1)
			old[i] = (struct nvml_process_v1){ from[i].pid, from[i].used };
		else
			new[i] = from[i];
	}
	return 0;
}

static int fill_crowd(unsigned int *count, void *items)
{
	static struct nvml_process_v2 crowd[CROWD];

	for (unsigned int i = 0; i < CROWD; i++)
		crowd[i] = (struct nvml_process_v2){ 1000 + i, MIB, 0, 0 };
	return fill(crowd, CROWD, 3, count, items);
}

static int list(const struct nvml_process_v2 *from, unsigned int n, int version, unsigned int *count, void *items)
{
	if (is("unsupported"))
		return NVML_NOT_SUPPORTED;
	if (version > 1 && is("old"))
		return NVML_FUNCTION_NOT_FOUND;
	return is("crowd") && from == compute ? fill_crowd(count, items) : fill(from, n, version, count, items);
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device dev, unsigned int *count, void *items)
{
	(void)dev;
	return list(compute, 3, 3, count, items);
}

int nvmlDeviceGetComputeRunningProcesses(nvml_device dev, unsigned int *count, void *items)
{
	(void)dev;
	return list(compute, 3, 1, count, items);
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(nvml_device dev, unsigned int *count, void *items)
{
	(void)dev;
	return list(graphics, 2, 2, count, items);
}

int nvmlDeviceGetGraphicsRunningProcesses(nvml_device dev, unsigned int *count, void *items)
{
	(void)dev;
	return list(graphics, 2, 1, count, items);
}
