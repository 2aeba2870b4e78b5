/* SPDX-License-Identifier: Apache-2.0 */
/* What calls answer that cannot be done, and what is seen of a second process. */
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void resolve(const char *fact, const char *name, int version, cuuint64_t flags, void *same)
{
	int status = -1;
	void *found = (void *)1;
	CUresult result = tare_cu.cuGetProcAddress_v2(name, &found, version, flags, &status);

	printf("errors.resolve_%s_result %d\nerrors.resolve_%s_status %d\n", fact, result, fact, status);
	printf("errors.resolve_%s_same %d\n", fact, found == same ? 1 : found ? 2 : 0);
}

static void child_of_fork(void)
{
	CUdeviceptr p;
	int count = -1, version;

	fflush(stdout);
	if (fork() == 0) {
		RESULT("child_init", tare_cu.cuInit(0));
		RESULT("child_count", tare_cu.cuDeviceGetCount(&count));
		RESULT("child_alloc", tare_cu.cuMemAlloc_v2(&p, 1));
		RESULT("child_version", tare_cu.cuDriverGetVersion(&version));
		_exit(0);
	}
	wait(NULL);
}

void errors(void)
{
	CUdeviceptr p = 0, base = 0;
	size_t size = 0, free, total;
	const char *text = NULL;
	CUfunction f;
	CUmodule none;
	CUcontext c;
	CUdevice dev;
	CUevent event;
	float ms;
	int value;
	char byte[16];

	RESULT("before_count", tare_cu.cuDeviceGetCount(&value));
	RESULT("before_alloc", tare_cu.cuMemAlloc_v2(&p, 1));
	RESULT("before_current", tare_cu.cuCtxGetCurrent(&c));
	RESULT("before_free", tare_cu.cuMemFree_v2(0));
	RESULT("before_limit", tare_cu.cuCtxGetLimit(&size, 0));
	RESULT("before_version", tare_cu.cuDriverGetVersion(&value));
	say("version", value);
	RESULT("init_1", tare_cu.cuInit(1));
	MUST(tare_cu.cuInit(0));
	RESULT("no_context_alloc", tare_cu.cuMemAlloc_v2(&p, 1));
	RESULT("no_context_alloc_0", tare_cu.cuMemAlloc_v2(&p, 0));
	RESULT("no_context_free", tare_cu.cuMemFree_v2(1));
	RESULT("no_context_free_0", tare_cu.cuMemFree_v2(0));
	RESULT("no_context_info", tare_cu.cuMemGetInfo_v2(&free, &total));
	RESULT("no_context_device", tare_cu.cuCtxGetDevice(&dev));
	RESULT("no_context_sync", tare_cu.cuCtxSynchronize());
	RESULT("no_context_event", tare_cu.cuEventCreate(&event, 0));
	RESULT("no_context_module", tare_cu.cuModuleLoadData(&none, "x"));
	RESULT("no_context_pop", tare_cu.cuCtxPopCurrent_v2(&c));
	RESULT("device_99", tare_cu.cuDeviceGet(&dev, 99));
	RESULT("device_minus_1", tare_cu.cuDeviceGet(&dev, -1));
	RESULT("name_99", tare_cu.cuDeviceGetName(byte, 16, 99));
	RESULT("primary_99", tare_cu.cuDevicePrimaryCtxRetain(&c, 99));
	RESULT("release_unused", tare_cu.cuDevicePrimaryCtxRelease_v2(0));
	begin();
	RESULT("alloc_0", tare_cu.cuMemAlloc_v2(&p, 0));
	RESULT("alloc_null", tare_cu.cuMemAlloc_v2(NULL, 1));
	RESULT("alloc_huge", tare_cu.cuMemAlloc_v2(&p, (size_t)1 << 40));
	RESULT("alloc_max", tare_cu.cuMemAlloc_v2(&p, SIZE_MAX));
	tare_cu.cuMemGetInfo_v2(&free, &total);
	RESULT("alloc_all_free", tare_cu.cuMemAlloc_v2(&p, free));
	say("alloc_all_free_left_kib", (long long)(total - used()) / 1024);
	tare_cu.cuMemFree_v2(p);
	RESULT("alloc_all_and_more", tare_cu.cuMemAlloc_v2(&p, free + (64 << 20)));
	RESULT("free_0", tare_cu.cuMemFree_v2(0));
	RESULT("free_unknown", tare_cu.cuMemFree_v2(0x1234560000));
	MUST(tare_cu.cuMemAlloc_v2(&p, 1000));
	RESULT("free_inside", tare_cu.cuMemFree_v2(p + 256));
	RESULT("range", tare_cu.cuMemGetAddressRange_v2(&base, &size, p + 100));
	say("range_bytes", (long long)size);
	RESULT("range_unknown", tare_cu.cuMemGetAddressRange_v2(&base, &size, 0x1234560000));
	RESULT("free", tare_cu.cuMemFree_v2(p));
	RESULT("free_twice", tare_cu.cuMemFree_v2(p));
	RESULT("pointer_unknown", tare_cu.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1234560000));
	RESULT("copy_unknown", tare_cu.cuMemcpyHtoD_v2(0x1234560000, byte, 16));
	RESULT("copy_0", tare_cu.cuMemcpyHtoD_v2(0, byte, 0));
	RESULT("set_unknown", tare_cu.cuMemsetD8_v2(0x1234560000, 0, 16));
	MUST(tare_cu.cuMemAlloc_v2(&p, 4096));
	RESULT("set_unaligned", tare_cu.cuMemsetD32_v2(p + 1, 0, 4));
	RESULT("copy_beyond", tare_cu.cuMemcpyHtoD_v2(p + 4090, byte, 16));
	RESULT("pitch_element", tare_cu.cuMemAllocPitch_v2(&p, &size, 100, 100, 3));
	RESULT("module_null", tare_cu.cuModuleLoadData(&none, NULL));
	RESULT("module_garbage", tare_cu.cuModuleLoadData(&none, "garbage"));
	RESULT("module_no_file", tare_cu.cuModuleLoad(&none, "/nonexistent"));
	function("k0");
	RESULT("function_unknown", tare_cu.cuModuleGetFunction(&f, module, "nothing"));
	RESULT("global_unknown", tare_cu.cuModuleGetGlobal_v2(&p, &size, module, "nothing"));
	f = function("k0");
	RESULT("launch_0", tare_cu.cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	RESULT("launch_2000", tare_cu.cuLaunchKernel(f, 1, 1, 1, 2000, 1, 1, 0, NULL, NULL, NULL));
	MUST(tare_cu.cuEventCreate(&event, 0));
	RESULT("elapsed_unrecorded", tare_cu.cuEventElapsedTime(&ms, event, event));
	RESULT("event_flags", tare_cu.cuEventCreate(&event, 64));
	RESULT("error_name_12345", tare_cu.cuGetErrorName(12345, &text));
	RESULT("prefetch_plain", tare_cu.cuMemPrefetchAsync(p, 1, 0, NULL));
	resolve("plain", "cuMemAlloc", 13000, 0, (void *)tare_cu.cuMemAlloc_v2);
	resolve("old", "cuMemAlloc", 3010, 0, (void *)tare_cu.cuMemAlloc_v2);
	resolve("version_0", "cuMemAlloc", 0, 0, (void *)tare_cu.cuMemAlloc_v2);
	resolve("suffix", "cuMemAlloc_v2", 13000, 0, (void *)tare_cu.cuMemAlloc_v2);
	resolve("unknown", "cuNothing", 13000, 0, NULL);
	resolve("too_old", "cuMemAllocAsync", 11010, 0, NULL);
	resolve("newer", "cuMemAlloc", 14000, 0, (void *)tare_cu.cuMemAlloc_v2);
	resolve("flag_1", "cuLaunchKernel", 13000, 1, (void *)tare_cu.cuLaunchKernel);
	resolve("flag_2", "cuLaunchKernel", 13000, 2, (void *)tare_cu.cuLaunchKernel_ptsz);
	resolve("flag_2_old", "cuLaunchKernel", 6000, 2, (void *)tare_cu.cuLaunchKernel);
	resolve("flag_2_none", "cuMemAlloc", 13000, 2, (void *)tare_cu.cuMemAlloc_v2);
	resolve("flag_3", "cuMemAlloc", 13000, 3, (void *)tare_cu.cuMemAlloc_v2);
	resolve("prefetch_new", "cuMemPrefetchAsync", 13000, 0, (void *)tare_cu.cuMemPrefetchAsync_v2);
	resolve("itself", "cuGetProcAddress", 13000, 0, (void *)tare_cu.cuGetProcAddress_v2);
	RESULT("resolve_v1_unknown", tare_cu.cuGetProcAddress("cuNothing", (void **)&f, 13000, 0));
	child_of_fork();
}

void second_process(void)
{
	int go[2], done[2];
	char byte;

	if (pipe(go) || pipe(done))
		exit(2);
	if (fork() == 0) {
		load();
		begin();
		if (write(done[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	load();
	begin();
	if (read(done[0], &byte, 1) != 1)
		exit(2);
	say("both", (long long)used() / 1024);
	say("listed", listed());
	grown();
	if (write(go[1], "x", 1) != 1)
		exit(2);
	wait(NULL);
	say("child_gone", grown());
}
