/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes on one simulated machine. */
#include "driver.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTEXT 548995072
#define FIRST   (3328 << 10) /* cuInit of the first process */

static int to_child[2], from_child[2];

static void tell(const int *pipe)
{
	CHECK(write(pipe[1], "x", 1) == 1);
}

static void await(const int *pipe)
{
	char byte;

	CHECK(read(pipe[0], &byte, 1) == 1);
}

/* A child with a context and `mib` MiB, up to a word from us. */
static pid_t start_child(unsigned mib)
{
	CUdeviceptr p;
	pid_t child;

	CHECK(pipe(to_child) == 0 && pipe(from_child) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child)
		return child;
	context_open(NULL);
	OK(cu.cuMemAlloc_v2(&p, (size_t)mib << 20));
	tell(from_child);
	await(to_child);
	_exit(0);
}

TEST(sim_processes_see_each_other)
{
	struct nvml_process_v2 items[8];
	unsigned int count = 8;
	CUcontext context;
	size_t free, total;
	pid_t child;

	machine_share();
	child = start_child(100);
	await(from_child);
	machine_open(NULL);
	CHECK_INT(used(), FIRST + CONTEXT + (100 << 20));
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	OK(cu.cuCtxSetCurrent(context));
	CHECK_INT(used(), FIRST + 2LL * CONTEXT + (100 << 20));
	OK(cu.cuMemGetInfo_v2(&free, &total));
	CHECK_INT(total - free, used());
	CHECK_INT(nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, items), NVML_SUCCESS);
	CHECK_INT(count, 2);
	CHECK_INT(items[0].pid, child);
	CHECK_INT(items[0].used, (518 + 100) << 20);
	CHECK_INT(items[1].pid, getpid());
	tell(to_child);
	waitpid(child, NULL, 0);
	CHECK_INT(used(), FIRST + CONTEXT);
}

TEST(sim_a_killed_process_gives_all_back)
{
	pid_t child;

	machine_share();
	child = start_child(1000);
	await(from_child);
	nvml_open();
	CHECK_INT(used(), FIRST + CONTEXT + (1000 << 20));
	kill(child, SIGKILL);
	/* Not yet reaped: a zombie has no memory either. */
	for (int i = 0; i < 1000 && used(); i++)
		usleep(1000);
	CHECK_INT(used(), 0);
	waitpid(child, NULL, 0);
}

TEST(sim_exec_gives_all_back)
{
	pid_t child;

	machine_share();
	CHECK(pipe(to_child) == 0 && pipe(from_child) == 0);
	child = fork();
	if (child == 0) {
		context_open(NULL);
		dup2(to_child[0], 0);
		dup2(from_child[1], 1);
		execlp("cat", "cat", (char *)NULL);
		_exit(1);
	}
	nvml_open();
	tell(to_child);
	await(from_child); /* cat is running, under the same pid */
	CHECK_INT(used(), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST(sim_a_device_does_not_follow_a_fork)
{
	CUdeviceptr p;
	int status;

	context_open(NULL);
	if (fork() == 0) {
		if (cu.cuInit(0) != CUDA_ERROR_NOT_INITIALIZED || cu.cuMemAlloc_v2(&p, 1) != CUDA_ERROR_NOT_INITIALIZED)
			_exit(1);
		_exit(0);
	}
	wait(&status);
	CHECK_INT(status, 0);
	OK(cu.cuMemAlloc_v2(&p, 1));
}

TEST(sim_a_child_may_start_what_its_parent_did_not)
{
	int status;

	machine_share();
	driver_open(NULL);
	if (fork() == 0) {
		CUcontext context;

		OK(cu.cuInit(0));
		OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
		_exit(0);
	}
	wait(&status);
	CHECK_INT(status, 0);
}

/* Memory that was exported is there until the last process lets go. */
TEST(sim_exported_memory_outlives_its_maker)
{
	CUmemAllocationProp prop = { .type = 1, .requestedHandleTypes = 1, .location = { 1, 0 } };
	CUmemAccessDesc access = { { 1, 0 }, 3 };
	CUmemGenericAllocationHandle handle;
	unsigned char byte = 0;
	char path[64];
	CUdeviceptr at;
	uint64_t before;
	pid_t child;
	int fd = -1;

	machine_share();
	CHECK(pipe(to_child) == 0 && pipe(from_child) == 0);
	child = fork();
	if (child == 0) {
		context_open(NULL);
		OK(cu.cuMemCreate(&handle, 20 << 20, &prop, 0));
		OK(cu.cuMemAddressReserve(&at, 20 << 20, 0, 0, 0));
		OK(cu.cuMemMap(at, 20 << 20, 0, handle, 0));
		OK(cu.cuMemSetAccess(at, 20 << 20, &access, 1));
		OK(cu.cuMemsetD8_v2(at + 12345, 77, 1));
		OK(cu.cuMemExportToShareableHandle(&fd, handle, 1, 0));
		CHECK(write(from_child[1], &fd, sizeof(fd)) == sizeof(fd));
		await(to_child);
		_exit(0);
	}
	CHECK(read(from_child[0], &fd, sizeof(fd)) == sizeof(fd));
	context_open(NULL);
	before = used();
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)child, fd);
	fd = open(path, O_RDWR);
	CHECK(fd >= 0);
	OK(cu.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, 1));
	CHECK_INT(used(), before);
	tell(to_child);
	waitpid(child, NULL, 0);
	CHECK_INT(used(), before - CONTEXT);
	OK(cu.cuMemAddressReserve(&at, 20 << 20, 0, 0, 0));
	OK(cu.cuMemMap(at, 20 << 20, 0, handle, 0));
	OK(cu.cuMemSetAccess(at, 20 << 20, &access, 1));
	OK(cu.cuMemcpyDtoH_v2(&byte, at + 12345, 1));
	CHECK_INT(byte, 77);
	OK(cu.cuMemUnmap(at, 20 << 20));
	CHECK_INT(used(), before - CONTEXT);
	OK(cu.cuMemRelease(handle));
	CHECK_INT(used(), before - CONTEXT - (20 << 20));
}

TEST(sim_ipc_maps_the_same_memory)
{
	CUipcMemHandle handle;
	unsigned value = 0;
	CUdeviceptr p;
	pid_t child;

	machine_share();
	CHECK(pipe(to_child) == 0 && pipe(from_child) == 0);
	child = fork();
	if (child == 0) {
		context_open(NULL);
		OK(cu.cuMemAlloc_v2(&p, 1000));
		OK(cu.cuMemAlloc_v2(&p, 1000));
		OK(cu.cuMemsetD32_v2(p, 0xfaceb, 250));
		OK(cu.cuIpcGetMemHandle(&handle, p));
		CHECK(write(from_child[1], &handle, sizeof(handle)) == sizeof(handle));
		await(to_child);
		_exit(0);
	}
	CHECK(read(from_child[0], &handle, sizeof(handle)) == sizeof(handle));
	context_open(NULL);
	OK(cu.cuIpcOpenMemHandle_v2(&p, handle, 1));
	OK(cu.cuMemcpyDtoH_v2(&value, p + 996, 4));
	CHECK_INT(value, 0xfaceb);
	OK(cu.cuIpcCloseMemHandle(p));
	CHECK_INT(cu.cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
	tell(to_child);
	waitpid(child, NULL, 0);
}

TEST(sim_visible_devices_are_numbered_anew)
{
	nvml_device third;
	CUcontext context;
	char uuid[64], bus[16];
	CUuuid id;
	int count;

	setenv("TARE_SIM_DEVICES", "4", 1);
	setenv("CUDA_VISIBLE_DEVICES", "2,GPU-7a5e0200-5eed-4200-8000-000000000001,9,0", 1);
	machine_open(NULL);
	OK(cu.cuDeviceGetCount(&count));
	CHECK_INT(count, 2);
	OK(cu.cuDeviceGetUuid_v2(&id, 0));
	CHECK_INT((unsigned char)id.bytes[15], 2);
	OK(cu.cuDeviceGetPCIBusId(bus, sizeof(bus), 1));
	CHECK_STR(bus, "0000:01:00.0");
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	CHECK_INT(nvml.nvmlDeviceGetHandleByIndex_v2(2, &third), NVML_SUCCESS);
	CHECK_INT(used(), 0);
	nvml.device = third;
	CHECK_INT(used(), FIRST + CONTEXT);
	CHECK_INT(nvml.nvmlDeviceGetUUID(third, uuid, sizeof(uuid)), NVML_SUCCESS);
	CHECK_STR(uuid, "GPU-7a5e0200-5eed-4200-8000-000000000002");
}

TEST(sim_has_up_to_64_devices)
{
	CUcontext first, last;
	nvml_device device;
	char uuid[64];
	int count, can;

	setenv("TARE_SIM_DEVICES", "64", 1);
	machine_open(NULL);
	OK(cu.cuDeviceGetCount(&count));
	CHECK_INT(count, 64);
	OK(cu.cuDevicePrimaryCtxRetain(&first, 0));
	OK(cu.cuDevicePrimaryCtxRetain(&last, 63));
	OK(cu.cuDeviceCanAccessPeer(&can, 63, 0));
	CHECK_INT(can, 1);
	OK(cu.cuCtxSetCurrent(first));
	OK(cu.cuCtxEnablePeerAccess(last, 0));
	CHECK_INT(cu.cuCtxEnablePeerAccess(last, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	OK(cu.cuCtxDisablePeerAccess(last));
	CHECK_INT(nvml.nvmlDeviceGetHandleByIndex_v2(63, &device), NVML_SUCCESS);
	CHECK_INT(nvml.nvmlDeviceGetUUID(device, uuid, sizeof(uuid)), NVML_SUCCESS);
	CHECK_STR(uuid, "GPU-7a5e0200-5eed-4200-8000-00000000003f");
	nvml.device = device;
	CHECK_INT(used(), FIRST + CONTEXT);
}
