/* SPDX-License-Identifier: Apache-2.0 */
/* Of NVML: what monitors and frameworks ask besides memory and processes. What is not known is not supported. */
#include <stdio.h>

#include "nvml.h"

#define MORE(name, ...)                                                                                                \
	EXPORT int name(__VA_ARGS__);                                                                                      \
	int name(__VA_ARGS__)

#define NOT_SUPPORTED(name)                                                                                            \
	MORE(name, void)                                                                                                   \
	{                                                                                                                  \
		return sim_nvml_ready() ? NVML_UNINITIALIZED : NVML_NOT_SUPPORTED;                                             \
	}
#include "nvml_not_supported.def"

MORE(nvmlSystemGetNVMLVersion, char *text, unsigned int size)
{
	if (sim_nvml_ready() != NVML_SUCCESS)
		return NVML_UNINITIALIZED;
	if (!text)
		return NVML_INVALID_ARGUMENT;
	return snprintf(text, size, "%d.%s", (int)sim_nvml.profile.cuda_version / 1000, sim_nvml.profile.driver_version) <
	               (int)size
	           ? NVML_SUCCESS
	           : NVML_INSUFFICIENT_SIZE;
}

MORE(nvmlDeviceGetCudaComputeCapability, struct nvml_device *dev, int *major, int *minor)
{
	int rc = sim_nvml_check(dev);

	if (rc != NVML_SUCCESS)
		return rc;
	if (!major || !minor)
		return NVML_INVALID_ARGUMENT;
	*major = (int)sim_nvml.profile.compute_major;
	*minor = (int)sim_nvml.profile.compute_minor;
	return NVML_SUCCESS;
}

MORE(nvmlDeviceGetMinorNumber, struct nvml_device *dev, unsigned int *number)
{
	int rc = sim_nvml_check_whole(dev);

	if (rc != NVML_SUCCESS)
		return rc;
	if (!number)
		return NVML_INVALID_ARGUMENT;
	*number = (unsigned int)dev->index;
	return NVML_SUCCESS;
}

/* Any number of processes may use it; and the driver stays loaded without one. */
static int tell(struct nvml_device *dev, unsigned int *to, unsigned int value)
{
	int rc = sim_nvml_check(dev);

	if (rc != NVML_SUCCESS)
		return rc;
	if (!to)
		return NVML_INVALID_ARGUMENT;
	*to = value;
	return NVML_SUCCESS;
}

MORE(nvmlDeviceGetComputeMode, struct nvml_device *dev, unsigned int *mode)
{
	return tell(dev, mode, 0);
}

MORE(nvmlDeviceGetPersistenceMode, struct nvml_device *dev, unsigned int *mode)
{
	return tell(dev, mode, 1);
}

/* As documented of the cards of a compute capability: PCIe, all with 16 lanes (0: none), and nvmlDeviceArchitecture_t. */
static const struct generation {
	unsigned int compute, pcie, architecture;
} generations[] = {
	{ 70, 3, 5 }, { 75, 3, 6 }, { 80, 4, 7 },   { 86, 4, 7 },   { 87, 0, 7 },
	{ 89, 4, 8 }, { 90, 5, 9 }, { 100, 5, 10 }, { 120, 5, 10 }, { 121, 0, 10 },
};

/* NULL: not known. */
static const struct generation *generation(void)
{
	uint64_t compute = sim_nvml.profile.compute_major * 10 + sim_nvml.profile.compute_minor;
	size_t i;

	for (i = 0; i < sizeof(generations) / sizeof(generations[0]); i++)
		if (generations[i].compute == compute)
			return &generations[i];
	return NULL;
}

static unsigned int pcie_generation(void)
{
	return !sim_nvml.profile.integrated && generation() ? generation()->pcie : 0;
}

MORE(nvmlDeviceGetArchitecture, struct nvml_device *dev, unsigned int *architecture)
{
	int rc = sim_nvml_check(dev);

	if (rc == NVML_SUCCESS && !generation())
		return NVML_NOT_SUPPORTED;
	return rc == NVML_SUCCESS ? tell(dev, architecture, generation()->architecture) : rc;
}

/* Parts of a hundred of the time in which a kernel ran, or memory was read: none does. */
struct utilization {
	unsigned int gpu, memory;
};

MORE(nvmlDeviceGetUtilizationRates, struct nvml_device *dev, struct utilization *rates)
{
	unsigned int none;
	int rc = tell(dev, &none, 0);

	if (rc != NVML_SUCCESS)
		return rc;
	if (!rates)
		return NVML_INVALID_ARGUMENT;
	*rates = (struct utilization){ 0, 0 };
	return NVML_SUCCESS;
}

static int tell_pcie(struct nvml_device *dev, unsigned int *to, unsigned int value)
{
	int rc = sim_nvml_check_whole(dev);

	if (rc == NVML_SUCCESS && !pcie_generation())
		return NVML_NOT_SUPPORTED;
	return rc == NVML_SUCCESS ? tell(dev, to, value) : rc;
}

#define PCIE(name, value)                                                                                              \
	MORE(name, struct nvml_device *dev, unsigned int *to)                                                              \
	{                                                                                                                  \
		return tell_pcie(dev, to, value);                                                                              \
	}

enum { LANES = 16 };

PCIE(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation())
PCIE(nvmlDeviceGetMaxPcieLinkGeneration, pcie_generation())
PCIE(nvmlDeviceGetGpuMaxPcieLinkGeneration, pcie_generation())
PCIE(nvmlDeviceGetCurrPcieLinkWidth, LANES)
PCIE(nvmlDeviceGetMaxPcieLinkWidth, LANES)
