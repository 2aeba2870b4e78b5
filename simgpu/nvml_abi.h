/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulated libnvidia-ml exports: the part that Tare's witness uses, which is listed there,
 * and what other tools call beside it.
 */
#ifndef SIM_NVML_ABI_H
#define SIM_NVML_ABI_H

#include "record/nvml_abi.h"

/* clang-format off */
#define NVML_EXTRA_MAP(NVML_API)                                                                   \
	NVML_API(cuda_version_v1, nvmlSystemGetCudaDriverVersion, (int *version))                  \
	NVML_API(init_flags, nvmlInitWithFlags, (unsigned int flags))                              \
	NVML_API(by_uuid, nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *dev))         \
	NVML_API(by_pci_v2, nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvml_device *dev))  \
	NVML_API(by_pci, nvmlDeviceGetHandleByPciBusId, (const char *id, nvml_device *dev))        \
	NVML_API(index, nvmlDeviceGetIndex, (nvml_device dev, unsigned int *index))                \
	NVML_API(is_mig, nvmlDeviceIsMigDeviceHandle, (nvml_device dev, unsigned int *is_mig))     \
	NVML_API(mig_parent, nvmlDeviceGetDeviceHandleFromMigDeviceHandle,                         \
		 (nvml_device mig, nvml_device *dev))                                              \
	NVML_API(process_name, nvmlSystemGetProcessName,                                           \
		 (unsigned int pid, char *text, unsigned int size))
/* clang-format on */

#endif
