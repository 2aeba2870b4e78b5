/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated libnvidia-ml, in the worlds in which a witness may find it. */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct nvml_memory_v1 memory_v1(void)
{
	struct nvml_memory_v1 memory;

	CHECK_INT(nvml.nvmlDeviceGetMemoryInfo(nvml.device, &memory), NVML_SUCCESS);
	return memory;
}

TEST(sim_nvml_v1_counts_the_reserve)
{
	struct nvml_memory_v1 memory;

	context_open(NULL);
	memory = memory_v1();
	CHECK_INT(used(), 552402944);
	CHECK_INT(memory.used, 1197342720); /* 1141.875 MiB */
	CHECK_INT(memory.total, memory.used + memory.free);
}

TEST(sim_nvml_refuses_another_version_of_a_record)
{
	struct nvml_memory_v2 memory = { .version = 0x01000028 };

	machine_open(NULL);
	CHECK_INT(nvml.nvmlDeviceGetMemoryInfo_v2(nvml.device, &memory), NVML_ARGUMENT_VERSION_MISMATCH);
}

TEST(sim_nvml_lists_a_process_by_each_version)
{
	struct nvml_process_v1 v1[2] = { { 0 } };
	struct nvml_process_v2 v2[2] = { { 0 } };
	unsigned int count = 2;

	context_open(NULL);
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses(nvml.device, &count, v1), NVML_SUCCESS);
	CHECK_INT(count, 1);
	CHECK_INT(v1[0].pid, getpid());
	CHECK_INT(v1[0].used, 518 << 20);
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v2(nvml.device, &count, v2), NVML_SUCCESS);
	CHECK_INT(v2[0].used, 518 << 20);
	CHECK_INT(v2[0].gpu_instance, UINT32_MAX);
	count = 2;
	CHECK_INT(nvml.nvmlDeviceGetGraphicsRunningProcesses_v3(nvml.device, &count, v2), NVML_SUCCESS);
	CHECK_INT(count, 0);
}

TEST(sim_nvml_says_how_much_room_a_list_needs)
{
	struct nvml_process_v2 item;
	unsigned int count = 0;
	CUcontext context;

	machine_open(NULL);
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, NULL), NVML_SUCCESS);
	CHECK_INT(count, 0);
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, NULL), NVML_INSUFFICIENT_SIZE);
	CHECK_INT(count, 1);
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, &item), NVML_SUCCESS);
}

TEST(sim_nvml_identifies_devices)
{
	struct nvml_pci_info pci;
	nvml_device other;
	char text[96];
	CUuuid id;

	setenv("TARE_SIM_DEVICES", "2", 1);
	machine_open(NULL);
	CHECK_INT(nvml.nvmlDeviceGetName(nvml.device, text, sizeof(text)), NVML_SUCCESS);
	CHECK_STR(text, "NVIDIA H200");
	CHECK_INT(nvml.nvmlDeviceGetName(nvml.device, text, 3), NVML_INSUFFICIENT_SIZE);
	CHECK_INT(nvml.nvmlSystemGetDriverVersion(text, sizeof(text)), NVML_SUCCESS);
	CHECK_STR(text, "580.159.04");
	CHECK_INT(nvml.nvmlDeviceGetHandleByUUID("GPU-7a5e0200-5eed-4200-8000-000000000001", &other), NVML_SUCCESS);
	CHECK(other != nvml.device);
	CHECK_INT(nvml.nvmlDeviceGetPciInfo_v3(other, &pci), NVML_SUCCESS);
	CHECK_STR(pci.bus_id, "00000000:01:00.0");
	CHECK_INT(nvml.nvmlDeviceGetHandleByPciBusId_v2("00000000:00:00.0", &other), NVML_SUCCESS);
	CHECK(other == nvml.device);
	CHECK_INT(nvml.nvmlDeviceGetHandleByIndex_v2(2, &other), NVML_INVALID_ARGUMENT);
	OK(cu.cuDeviceGetUuid(&id, 0));
	CHECK_INT((unsigned char)id.bytes[0], 0x7a);
	CHECK_INT((unsigned char)id.bytes[2], 0x02);
}

TEST(sim_nvml_shuts_down)
{
	struct nvml_memory_v2 memory = { .version = NVML_MEMORY_V2 };

	machine_open(NULL);
	CHECK_INT(nvml.nvmlShutdown(), NVML_SUCCESS);
	CHECK_INT(nvml.nvmlShutdown(), NVML_UNINITIALIZED);
	CHECK_INT(nvml.nvmlDeviceGetMemoryInfo_v2(nvml.device, &memory), NVML_UNINITIALIZED);
}

TEST(sim_nvml_in_the_same_process_does_not_lose_its_slot)
{
	int status;

	machine_share();
	context_open(NULL);
	dlclose(nvml.library);
	nvml_open();
	CHECK_INT(used(), 552402944);
	if (fork() == 0) { /* where nobody's own slot is exempt from reclaiming */
		nvml_open();
		_exit(used() != 552402944);
	}
	CHECK(wait(&status) > 0);
	CHECK_INT(status, 0);
}

/* ---- scripted worlds ---- */
static int open_result(const char *script)
{
	char path[4096];

	setenv("TARE_SIM_SCRIPT", script, 1);
	snprintf(path, sizeof(path), "%s/libnvidia-ml.so.1", getenv("TARE_TEST_SIMGPU"));
	nvml.library = dlopen(path, RTLD_NOW);
	CHECK(nvml.library);
	*(void **)&nvml.nvmlInit_v2 = dlsym(nvml.library, "nvmlInit_v2");
	return nvml.nvmlInit_v2 ? nvml.nvmlInit_v2() : -1;
}

TEST(sim_nvml_does_not_start)
{
	CHECK_INT(open_result("no-nvml"), NVML_DRIVER_NOT_LOADED);
}

TEST(sim_nvml_does_not_start_for_another_reason)
{
	CHECK_INT(open_result("no-nvml 18"), NVML_VERSION_MISMATCH);
}

TEST(sim_nvml_has_no_functions)
{
	CHECK_INT(open_result("no-nvml missing"), -1);
}

TEST(sim_nvml_does_not_tell_memory)
{
	struct nvml_memory_v1 memory;

	machine_open("nvml-not-supported memory");
	CHECK_INT(nvml.nvmlDeviceGetMemoryInfo(nvml.device, &memory), NVML_NOT_SUPPORTED);
}

TEST(sim_nvml_does_not_tell_processes)
{
	struct nvml_process_v2 items[4];
	unsigned int count = 4;

	machine_open("nvml-not-supported processes");
	used();
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, items), NVML_NOT_SUPPORTED);
}

TEST(sim_nvml_does_not_tell_a_process_s_memory)
{
	struct nvml_process_v2 items[4];
	unsigned int count = 4;

	context_open("nvml-not-supported process-memory");
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, items), NVML_SUCCESS);
	CHECK_INT(count, 1);
	CHECK(items[0].used == NVML_NOT_AVAILABLE);
}

TEST(sim_nvml_is_old)
{
	struct nvml_process_v1 items[4];
	unsigned int count = 4;

	context_open("nvml-v1-only");
	CHECK(!nvml.nvmlDeviceGetMemoryInfo_v2);
	CHECK(!nvml.nvmlDeviceGetComputeRunningProcesses_v3);
	CHECK_INT(memory_v1().used, 1197342720);
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses(nvml.device, &count, items), NVML_SUCCESS);
	CHECK_INT(items[0].used, 518 << 20);
}

TEST(sim_nvml_tells_the_host_s_pids)
{
	struct nvml_process_v2 items[4];
	unsigned int count = 4;

	context_open("pid-offset 100000");
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, items), NVML_SUCCESS);
	CHECK_INT(items[0].pid, getpid() + 100000);
}

TEST(sim_nvml_has_partitions)
{
	struct nvml_memory_v2 memory = { .version = NVML_MEMORY_V2 };
	unsigned int now, later, count;
	nvml_device mig, parent;
	char text[96];
	CUuuid id;

	context_open("mig");
	CHECK_INT(nvml.nvmlDeviceGetMigMode(nvml.device, &now, &later), NVML_SUCCESS);
	CHECK_INT(now, 1);
	CHECK_INT(nvml.nvmlDeviceGetMemoryInfo_v2(nvml.device, &memory), NVML_NO_PERMISSION);
	CHECK_INT(nvml.nvmlDeviceGetMaxMigDeviceCount(nvml.device, &count), NVML_SUCCESS);
	CHECK_INT(count, 7);
	CHECK_INT(nvml.nvmlDeviceGetMigDeviceHandleByIndex(nvml.device, 1, &mig), NVML_NOT_FOUND);
	CHECK_INT(nvml.nvmlDeviceGetMigDeviceHandleByIndex(nvml.device, 0, &mig), NVML_SUCCESS);
	CHECK_INT(nvml.nvmlDeviceGetMemoryInfo_v2(mig, &memory), NVML_SUCCESS);
	CHECK_INT(memory.used, 552402944);
	CHECK_INT(nvml.nvmlDeviceGetUUID(mig, text, sizeof(text)), NVML_SUCCESS);
	CHECK_STR(text, "MIG-6a5e0200-5eed-4200-8000-000000000000");
	CHECK_INT(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig, &parent), NVML_SUCCESS);
	CHECK(parent == nvml.device);
	OK(cu.cuDeviceGetUuid_v2(&id, 0));
	CHECK_INT((unsigned char)id.bytes[0], 0x6a);
	OK(cu.cuDeviceGetUuid(&id, 0));
	CHECK_INT((unsigned char)id.bytes[0], 0x7a);
}
