/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the simulated libnvidia-ml share. */
#ifndef SIM_NVML_H
#define SIM_NVML_H

#include "nvml_abi.h"
#include "sim_profile.h"
#include "sim_script.h"
#include "sim_state.h"

#define EXPORT __attribute__((visibility("default")))

#define NVML_API(field, symbol, parameters) EXPORT int symbol parameters;
NVML_API_MAP(NVML_API)
NVML_EXTRA_MAP(NVML_API)
#undef NVML_API
EXPORT const char *nvmlErrorString(int result);

struct nvml_device {
	int index;
	bool is_mig; /* a partition, of which a sliced GPU has one */
	bool is_valid;
};

struct sim_nvml {
	struct tare_profile profile;
	struct sim_script script;
	struct sim_shared *shared;
	int devices_nr, users; /* nvmlInit calls without a nvmlShutdown */
	struct nvml_device gpus[SIM_DEVICES], migs[SIM_DEVICES];
};
extern struct sim_nvml sim_nvml;

int sim_nvml_ready(void); /* UNINITIALIZED before nvmlInit */
/* SUCCESS: NVML is initialised, and `dev` is one of its handles. */
int sim_nvml_check(const struct nvml_device *dev);
/* As above; NO_PERMISSION for a GPU of which only partitions may be looked at. */
int sim_nvml_check_whole(const struct nvml_device *dev);

#endif
