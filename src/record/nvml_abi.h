/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of NVML's binary interface that Tare uses, in its own words: for the witness that `tare` calls, for the recorder,
 * which weighs with it inside the program, and for the simulated NVML. It links nothing.
 *
 * NVML_API(field, symbol, parameters): an entry point; NULL where the library has none. Of the
 * versions of a call, the newest that is there is used.
 */
#ifndef TARE_RECORD_NVML_ABI_H
#define TARE_RECORD_NVML_ABI_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nvml_device *nvml_device;

/* As `used` of a process: the driver does not tell. */
#define NVML_NOT_AVAILABLE UINT64_MAX

enum nvml_result {
	NVML_SUCCESS = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_VERSION_MISMATCH = 18,
	NVML_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_UNKNOWN = 999,
};

struct nvml_memory_v1 {
	uint64_t total, free, used; /* used includes the driver's reserve */
};

struct nvml_memory_v2 {
	uint32_t version;
	uint64_t total, reserved, free, used;
};
#define NVML_MEMORY_V2 (sizeof(struct nvml_memory_v2) | 2u << 24)
_Static_assert(NVML_MEMORY_V2 == 0x02000028, "NVML refuses any other version word");

/* `used` without the driver's reserve. Some drivers count the reserve as used; then free and used alone are the total. */
static inline uint64_t nvml_used_of_programs(const struct nvml_memory_v2 *memory)
{
	bool has_reserve = memory->total == memory->free + memory->used && memory->used >= memory->reserved;

	return has_reserve ? memory->used - memory->reserved : memory->used;
}

/* The bare calls fill v1, those ending in _v2 and _v3 both fill v2. */
struct nvml_process_v1 {
	uint32_t pid;
	uint64_t used;
};
struct nvml_process_v2 {
	uint32_t pid;
	uint64_t used;
	uint32_t gpu_instance, compute_instance;
};

/* nvmlPciInfo_t, as nvmlDeviceGetPciInfo_v3 fills it. */
struct nvml_pci_info {
	char bus_id_legacy[16];
	unsigned int domain, bus, device;
	unsigned int pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

/* clang-format off */
#define NVML_API_MAP(NVML_API)                                                                     \
	NVML_API(init_v2, nvmlInit_v2, (void))                                                     \
	NVML_API(init, nvmlInit, (void))                                                           \
	NVML_API(shutdown, nvmlShutdown, (void))                                                   \
	NVML_API(driver_version, nvmlSystemGetDriverVersion, (char *text, unsigned int size))      \
	NVML_API(cuda_version, nvmlSystemGetCudaDriverVersion_v2, (int *version))                  \
	NVML_API(count_v2, nvmlDeviceGetCount_v2, (unsigned int *count))                           \
	NVML_API(count, nvmlDeviceGetCount, (unsigned int *count))                                 \
	NVML_API(by_index_v2, nvmlDeviceGetHandleByIndex_v2, (unsigned int i, nvml_device *dev))   \
	NVML_API(by_index, nvmlDeviceGetHandleByIndex, (unsigned int i, nvml_device *dev))         \
	NVML_API(name, nvmlDeviceGetName, (nvml_device dev, char *text, unsigned int size))        \
	NVML_API(uuid, nvmlDeviceGetUUID, (nvml_device dev, char *text, unsigned int size))        \
	NVML_API(pci_v3, nvmlDeviceGetPciInfo_v3, (nvml_device dev, struct nvml_pci_info *info))   \
	NVML_API(mig_mode, nvmlDeviceGetMigMode,                                                   \
		 (nvml_device dev, unsigned int *now, unsigned int *after_reset))                  \
	NVML_API(mig_max, nvmlDeviceGetMaxMigDeviceCount, (nvml_device dev, unsigned int *count))  \
	NVML_API(mig_by_index, nvmlDeviceGetMigDeviceHandleByIndex,                                \
		 (nvml_device dev, unsigned int i, nvml_device *mig))                              \
	NVML_API(memory_v2, nvmlDeviceGetMemoryInfo_v2,                                            \
		 (nvml_device dev, struct nvml_memory_v2 *memory))                                 \
	NVML_API(memory, nvmlDeviceGetMemoryInfo,                                                  \
		 (nvml_device dev, struct nvml_memory_v1 *memory))                                 \
	NVML_API(compute_v3, nvmlDeviceGetComputeRunningProcesses_v3, NVML_LIST)                   \
	NVML_API(compute_v2, nvmlDeviceGetComputeRunningProcesses_v2, NVML_LIST)                   \
	NVML_API(compute_v1, nvmlDeviceGetComputeRunningProcesses, NVML_LIST)                      \
	NVML_API(graphics_v3, nvmlDeviceGetGraphicsRunningProcesses_v3, NVML_LIST)                 \
	NVML_API(graphics_v2, nvmlDeviceGetGraphicsRunningProcesses_v2, NVML_LIST)                 \
	NVML_API(graphics_v1, nvmlDeviceGetGraphicsRunningProcesses, NVML_LIST)                    \
	NVML_API(mps_v3, nvmlDeviceGetMPSComputeRunningProcesses_v3, NVML_LIST)                    \
	NVML_API(mps_v2, nvmlDeviceGetMPSComputeRunningProcesses_v2, NVML_LIST)                    \
	NVML_API(mps_v1, nvmlDeviceGetMPSComputeRunningProcesses, NVML_LIST)
#define NVML_LIST (nvml_device dev, unsigned int *count, void *items)
/* clang-format on */

#endif
