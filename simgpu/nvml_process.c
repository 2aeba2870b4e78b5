/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are on a device. The functions without a number fill an older, shorter record. */
#include <stdio.h>
#include <string.h>

#include "nvml.h"

#define LIST_MAX (SIM_SLOTS + 1)

struct listed {
	uint32_t pid;
	uint64_t used;
};

/* As measured: less than the contexts of a process take, and nothing of what cuInit takes. */
static uint64_t shown(const struct sim_slot *slot, int device)
{
	uint64_t used = sim_state_used_by(sim_nvml.shared, slot, device);
	uint64_t below = sim_nvml.profile.init_process + slot->contexts[device] * sim_nvml.profile.nvml_context_below;

	if (sim_nvml.script.no_process_memory)
		return NVML_NOT_AVAILABLE;
	return used > below ? used - below : 0;
}

static unsigned int list(int device, struct listed *items)
{
	struct sim_shared *shared = sim_nvml.shared;
	unsigned int count = 0;
	uint32_t i;

	sim_state_lock(shared);
	sim_state_reclaim(shared);
	for (i = 0; i < shared->slots_high; i++) {
		const struct sim_slot *slot = &shared->slots[i];

		if (!slot->pid || !slot->contexts[device])
			continue;
		items[count].pid = slot->pid + (uint32_t)sim_nvml.script.pid_offset;
		items[count++].used = shown(slot, device);
	}
	sim_state_unlock(shared);
	if (sim_nvml.script.noisy && !sim_nvml.script.noisy_hidden) {
		items[count].pid = SIM_NOISY_PID;
		items[count++].used =
			sim_nvml.script.no_process_memory ? NVML_NOT_AVAILABLE : sim_script_noise(&sim_nvml.script);
	}
	return count;
}

/* `is_compute`: the other lists of this machine are empty. */
static int fill(nvml_device dev, unsigned int *count, void *to, bool is_v1, bool is_compute)
{
	struct listed items[LIST_MAX];
	struct nvml_process_v1 *v1 = to;
	struct nvml_process_v2 *v2 = to;
	unsigned int i, room, found;
	int result = sim_nvml_check_whole(dev);

	if (result != NVML_SUCCESS)
		return result;
	if (!count || (*count && !to))
		return NVML_INVALID_ARGUMENT;
	if (sim_nvml.script.no_processes)
		return NVML_NOT_SUPPORTED;
	room = *count;
	found = *count = is_compute ? list(dev->index, items) : 0;
	if (found > room)
		return NVML_INSUFFICIENT_SIZE;
	for (i = 0; i < found; i++) {
		if (is_v1)
			v1[i] = (struct nvml_process_v1){ items[i].pid, items[i].used };
		else
			v2[i] = (struct nvml_process_v2){ items[i].pid, items[i].used, dev->is_mig ? 0 : UINT32_MAX,
				                              dev->is_mig ? 0 : UINT32_MAX };
	}
	return NVML_SUCCESS;
}

#define LIST(symbol, is_v1, is_compute)                                                                                \
	int symbol NVML_LIST                                                                                               \
	{                                                                                                                  \
		return fill(dev, count, items, is_v1, is_compute);                                                             \
	}
LIST(nvmlDeviceGetComputeRunningProcesses, true, true)
LIST(nvmlDeviceGetComputeRunningProcesses_v2, false, true)
LIST(nvmlDeviceGetComputeRunningProcesses_v3, false, true)
LIST(nvmlDeviceGetGraphicsRunningProcesses, true, false)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, false, false)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, false, false)
LIST(nvmlDeviceGetMPSComputeRunningProcesses, true, false)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, false, false)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, false, false)

int nvmlSystemGetProcessName(unsigned int pid, char *text, unsigned int size)
{
	struct sim_shared *shared = sim_nvml.shared;
	int result = NVML_NOT_FOUND;
	uint32_t i;

	if (!sim_nvml.users)
		return NVML_UNINITIALIZED;
	if (!text || !size)
		return NVML_INVALID_ARGUMENT;
	sim_state_lock(shared);
	for (i = 0; i < shared->slots_high && result != NVML_SUCCESS; i++)
		if (shared->slots[i].pid && shared->slots[i].pid + (uint32_t)sim_nvml.script.pid_offset == pid) {
			snprintf(text, size, "%s", shared->slots[i].name);
			result = NVML_SUCCESS;
		}
	sim_state_unlock(shared);
	return result;
}
