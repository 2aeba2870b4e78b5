/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver and NVML say when asked, and what it takes to start. */
#include "calibrate/probe.h"

#include "witness/nvml.h"

#include <stdio.h>

static void ask_attribute(struct tare_bench *bench, enum tare_profile_key key, int attribute)
{
	int value = 0;

	if (TARE_DO(bench, cuDeviceGetAttribute, &value, attribute, bench->device))
		tare_bench_put(bench, key, (uint64_t)value, "cuDeviceGetAttribute %d", attribute);
	else
		tare_bench_lack(bench, key, "%s", bench->failure);
}

static void ask_name(struct tare_bench *bench)
{
	char name[96] = "";
	int version = 0;

	if (TARE_DO(bench, cuDeviceGetName, name, sizeof(name) - 1, bench->device))
		tare_bench_put_text(bench, TARE_PROFILE_name, name, "cuDeviceGetName");
	else
		tare_bench_lack(bench, TARE_PROFILE_name, "%s", bench->failure);
	if (TARE_DO(bench, cuDriverGetVersion, &version))
		tare_bench_put(bench, TARE_PROFILE_cuda_version, (uint64_t)version, "cuDriverGetVersion");
	else
		tare_bench_lack(bench, TARE_PROFILE_cuda_version, "%s", bench->failure);
}

static void ask_nvml(struct tare_bench *bench)
{
	const struct tare_nvml_device *device;
	const char *driver;

	if (!bench->scale.nvml) {
		tare_bench_lack(bench, TARE_PROFILE_driver_version, "only NVML says it, which is not here");
		tare_bench_lack(bench, TARE_PROFILE_pci_device_id, "only NVML says it, which is not here");
		return;
	}
	driver = tare_nvml_info(bench->scale.nvml)->driver;
	if (*driver)
		tare_bench_put_text(bench, TARE_PROFILE_driver_version, driver, "nvmlSystemGetDriverVersion");
	else
		tare_bench_lack(bench, TARE_PROFILE_driver_version, "NVML does not say it");
	device = bench->scale.device < 0 ? NULL : tare_nvml_device(bench->scale.nvml, bench->scale.device);
	if (device && device->pci_id)
		tare_bench_put(bench, TARE_PROFILE_pci_device_id, device->pci_id, "nvmlDeviceGetPciInfo");
	else
		tare_bench_lack(bench, TARE_PROFILE_pci_device_id, "NVML does not say it");
}

/* Where NVML does not tell what it could, the simulated one must not either. */
static void ask_what_nvml_tells(struct tare_bench *bench, const struct tare_nvml_memory *memory)
{
	if (bench->scale.nvml && bench->scale.device < 0)
		tare_bench_lack(bench, TARE_PROFILE_nvml, "NVML does not know this GPU");
	else
		tare_bench_put_text(bench, TARE_PROFILE_nvml,
		                    !bench->scale.nvml ? TARE_PROFILE_NVML_NOTHING
		                    : memory->version  ? TARE_PROFILE_NVML_MEMORY
		                                       : TARE_PROFILE_NVML_NO_MEMORY,
		                    "nvmlDeviceGetMemoryInfo");
}

static void ask_memory(struct tare_bench *bench)
{
	struct tare_nvml_memory memory = { .version = 0 };
	size_t total = 0;

	if (bench->scale.device >= 0)
		tare_nvml_memory(bench->scale.nvml, bench->scale.device, &memory, NULL);
	ask_what_nvml_tells(bench, &memory);
	if (memory.version)
		tare_bench_put(bench, TARE_PROFILE_total, memory.total, "NVML, version %d", memory.version);
	else if (TARE_DO(bench, cuDeviceTotalMem_v2, &total, bench->device))
		tare_bench_put(bench, TARE_PROFILE_total, total, "cuDeviceTotalMem, without the driver's reserve");
	else
		tare_bench_lack(bench, TARE_PROFILE_total, "%s", bench->failure);
	if (memory.version == 2)
		tare_bench_put(bench, TARE_PROFILE_reserved, memory.reserved, "NVML, version 2");
	else
		tare_bench_lack(bench, TARE_PROFILE_reserved, "only NVML's second version of the record says it");
}

enum { L2_CACHE = 38 }; /* CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE */

void tare_probe_device(struct tare_bench *bench)
{
	ask_name(bench);
	ask_nvml(bench);
	ask_memory(bench);
	ask_attribute(bench, TARE_PROFILE_compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	ask_attribute(bench, TARE_PROFILE_compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	ask_attribute(bench, TARE_PROFILE_integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
	ask_attribute(bench, TARE_PROFILE_pci_bus_first, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
	ask_attribute(bench, TARE_PROFILE_sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	ask_attribute(bench, TARE_PROFILE_l2, L2_CACHE);
	ask_attribute(bench, TARE_PROFILE_threads_per_sm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
}

/* One process has started the driver before us, and is still there. */
void tare_probe_init(struct tare_bench *bench)
{
	if (bench->scale.by_cuda) {
		snprintf(bench->failure, sizeof(bench->failure), "before there is a context only NVML can weigh");
		return;
	}
	if (bench->init == TARE_NOT_KNOWN || (int64_t)bench->init < 0 || (int64_t)bench->first_init < 0 ||
	    bench->first_init == TARE_NOT_KNOWN) {
		bench->scale.is_noisy = true;
		return;
	}
	tare_bench_put(bench, TARE_PROFILE_init_process, bench->init, "cuInit while another process has the driver open");
	if (bench->first_init > bench->init)
		tare_bench_put(bench, TARE_PROFILE_init, bench->first_init - bench->init,
		               "cuInit of the first process, less that of the next");
	else
		tare_bench_lack(bench, TARE_PROFILE_init, "another process has the driver open");
}

/* ---- contexts ---- */
/* What NVML's process list shows for all processes; TARE_NOT_KNOWN. */
static uint64_t listed(struct tare_bench *bench)
{
	struct tare_nvml_processes list = { 0 };
	uint64_t sum = 0;

	if (bench->scale.device < 0 || tare_nvml_processes(bench->scale.nvml, bench->scale.device, &list, NULL))
		return TARE_NOT_KNOWN;
	if (!list.version)
		sum = TARE_NOT_KNOWN;
	for (size_t i = 0; i < list.count && sum != TARE_NOT_KNOWN; i++)
		sum = list.items[i].used == TARE_NOT_KNOWN ? TARE_NOT_KNOWN : sum + list.items[i].used;
	tare_nvml_processes_free(&list);
	return sum;
}

static void compare_list(struct tare_bench *bench, uint64_t before, uint64_t after, int64_t context)
{
	if (before == TARE_NOT_KNOWN || after == TARE_NOT_KNOWN)
		tare_bench_lack(bench, TARE_PROFILE_nvml_context_below, "NVML does not list what processes have");
	else if ((int64_t)(after - before) > context)
		tare_bench_lack(bench, TARE_PROFILE_nvml_context_below, "NVML's list grew by more than a context");
	else
		tare_bench_put(bench, TARE_PROFILE_nvml_context_below, (uint64_t)context - (after - before),
		               "NVML's process list beside the device's counter");
}

void tare_probe_contexts(struct tare_bench *bench)
{
	CUcontext context = NULL;
	uint64_t before = listed(bench);
	int64_t change = 0, back = 0;

	if (!TARE_WEIGH(bench, &change, cuCtxCreate_v2, &context, 0, bench->device))
		return;
	if (change > 0) {
		tare_bench_put(bench, TARE_PROFILE_context, (uint64_t)change, "cuCtxCreate");
		compare_list(bench, before, listed(bench), change);
	}
	/* Weighed by what is left to weigh with: the primary context. */
	if (TARE_DO(bench, cuCtxSetCurrent, bench->base) && TARE_WEIGH(bench, &back, cuCtxDestroy_v2, context) &&
	    change <= 0)
		tare_bench_lack(bench, TARE_PROFILE_context, "a context took nothing of the device");
}

void tare_probe_limits(struct tare_bench *bench)
{
	static const struct {
		enum tare_profile_key key;
		int limit;
	} limits[] = {
		{ TARE_PROFILE_stack_default, CU_LIMIT_STACK_SIZE },
		{ TARE_PROFILE_printf_default, CU_LIMIT_PRINTF_FIFO_SIZE },
		{ TARE_PROFILE_heap_default, CU_LIMIT_MALLOC_HEAP_SIZE },
		{ TARE_PROFILE_l2_persisting_default, CU_LIMIT_PERSISTING_L2_CACHE_SIZE },
	};
	CUcontext context = tare_bench_context(bench);
	size_t value = 0;

	for (size_t i = 0; context && i < sizeof(limits) / sizeof(limits[0]); i++)
		if (TARE_DO(bench, cuCtxGetLimit, &value, limits[i].limit))
			tare_bench_put(bench, limits[i].key, value, "cuCtxGetLimit %d", limits[i].limit);
		else
			tare_bench_lack(bench, limits[i].key, "%s", bench->failure);
	tare_bench_end_context(bench, context);
}
