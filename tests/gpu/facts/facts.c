/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver does with device memory, one fact a line: "section.fact value". The same program
 * runs on the real driver and on the simulated one, and run.sh puts the two answers side by side.
 *
 *     facts SECTION IMAGE [ARGUMENT]
 *
 * Longer than 600 lines: one program that is copied to a machine with a GPU and needs nothing of ours, a function a section.
 *
 * A value is the change of NVML's figure in KiB unless its name says otherwise (_result, _bytes).
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/driver.h"
#include "simgpu/nvml_abi.h"

static struct {
#define NVML_API(field, symbol, parameters) int(*symbol) parameters;
	NVML_API_MAP(NVML_API)
#undef NVML_API
	nvml_device device;
} nvml;

static const char *section, *image, *argument;
static CUcontext context;
static CUmodule module;

static void say(const char *fact, long long value)
{
	printf("%s.%s %lld\n", section, fact, value);
	fflush(stdout);
}

static void sayn(const char *fact, int n, long long value)
{
	printf("%s.%s_%d %lld\n", section, fact, n, value);
	fflush(stdout);
}

static uint64_t used(void)
{
	struct nvml_memory_v2 memory = { .version = NVML_MEMORY_V2 };

	return nvml.nvmlDeviceGetMemoryInfo_v2(nvml.device, &memory) ? 0 : memory.used;
}

static long long grown(void)
{
	static uint64_t last;
	uint64_t now = used();
	long long by = (long long)(now - last) / 1024;

	last = now;
	return by;
}

/* A fact: the change that a call makes; a failure is shown as its negated result, below -1e9. */
#define FACT(name, call)                                                                                               \
	do {                                                                                                               \
		CUresult fact_result;                                                                                          \
                                                                                                                       \
		grown();                                                                                                       \
		fact_result = call;                                                                                            \
		say(name, fact_result ? -1000000000LL - fact_result : grown());                                                \
	} while (0)
#define RESULT(name, call) say(name "_result", call)

static void must(CUresult result, const char *what)
{
	if (!result)
		return;
	printf("%s.FAILED %s %d\n", section, what, result);
	exit(1);
}
#define MUST(call) must(call, #call)

static void load(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	char error[256];

	if (!tare_driver_load(NULL, error, sizeof(error)) || !library) {
		fprintf(stderr, "facts: %s\n", library ? error : dlerror());
		exit(2);
	}
#define NVML_API(field, symbol, parameters) *(void **)&nvml.symbol = dlsym(library, #symbol);
	NVML_API_MAP(NVML_API)
#undef NVML_API
	nvml.nvmlInit_v2();
	nvml.nvmlDeviceGetHandleByIndex_v2(0, &nvml.device);
}

static void begin(void)
{
	MUST(tare_cu.cuInit(0));
	MUST(tare_cu.cuDevicePrimaryCtxRetain(&context, 0));
	MUST(tare_cu.cuCtxSetCurrent(context));
	grown();
}

static CUfunction function(const char *name)
{
	CUfunction found = NULL;

	if (!module)
		MUST(tare_cu.cuModuleLoad(&module, image));
	MUST(tare_cu.cuModuleGetFunction(&found, module, name));
	return found;
}

static CUresult launch(CUfunction f)
{
	static int *out, n;
	static char block[4096];
	void *params[] = { &out, &n, block };
	CUresult result = tare_cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);

	return result ? result : tare_cu.cuCtxSynchronize();
}

static CUresult launch_with(CUfunction f, void *parameter)
{
	void *params[] = { parameter, parameter };
	CUresult result = tare_cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);

	return result ? result : tare_cu.cuCtxSynchronize();
}

/* ---- sections ---- */
static long long listed(void)
{
	struct nvml_process_v2 items[64];
	unsigned int i, count = 64;

	if (nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, items))
		return -1;
	for (i = 0; i < count; i++)
		if (items[i].pid == (uint32_t)getpid() || count == 1)
			return (long long)items[i].used / 1024;
	return 0;
}

static void contexts(void)
{
	CUcontext a, b, current = NULL;
	CUdeviceptr p;
	CUdevice dev = -1;
	size_t free, total;

	grown();
	FACT("init", tare_cu.cuInit(0));
	say("listed_after_init", listed());
	FACT("primary", tare_cu.cuDevicePrimaryCtxRetain(&context, 0));
	say("listed_after_primary", listed());
	FACT("primary_again", tare_cu.cuDevicePrimaryCtxRetain(&a, 0));
	FACT("second", tare_cu.cuCtxCreate_v2(&a, 0, 0));
	FACT("third", tare_cu.cuCtxCreate_v2(&b, 0, 0));
	say("listed_after_third", listed());
	FACT("alloc_in_third", tare_cu.cuMemAlloc_v2(&p, 10 << 20));
	FACT("third_destroyed", tare_cu.cuCtxDestroy_v2(b));
	RESULT("current_after_destroy", tare_cu.cuCtxGetCurrent(&current));
	say("current_is_second", current == a);
	FACT("second_destroyed", tare_cu.cuCtxDestroy_v2(a));
	RESULT("no_context_alloc", tare_cu.cuMemAlloc_v2(&p, 1));
	MUST(tare_cu.cuCtxSetCurrent(context));
	tare_cu.cuMemGetInfo_v2(&free, &total);
	say("cuda_total_bytes", (long long)total);
	say("cuda_free_bytes", (long long)free);
	say("used_bytes", (long long)used());
	RESULT("destroy_primary", tare_cu.cuCtxDestroy_v2(context));
	FACT("alloc", tare_cu.cuMemAlloc_v2(&p, 10 << 20));
	FACT("release_1", tare_cu.cuDevicePrimaryCtxRelease_v2(0));
	FACT("release_2", tare_cu.cuDevicePrimaryCtxRelease_v2(0));
	RESULT("release_3", tare_cu.cuDevicePrimaryCtxRelease_v2(0));
	say("listed_after_release", listed());
	RESULT("released_current", tare_cu.cuCtxGetCurrent(&current));
	say("released_current_same", current == context);
	RESULT("released_alloc", tare_cu.cuMemAlloc_v2(&p, 1));
	RESULT("released_device", tare_cu.cuCtxGetDevice(&dev));
	RESULT("released_info", tare_cu.cuMemGetInfo_v2(&free, &total));
	RESULT("released_set", tare_cu.cuCtxSetCurrent(context));
	FACT("primary_anew", tare_cu.cuDevicePrimaryCtxRetain(&a, 0));
	say("primary_anew_same", a == context);
	MUST(tare_cu.cuCtxSetCurrent(a));
	FACT("alloc_anew", tare_cu.cuMemAlloc_v2(&p, 10 << 20));
	FACT("reset", tare_cu.cuDevicePrimaryCtxReset_v2(0));
	RESULT("reset_alloc", tare_cu.cuMemAlloc_v2(&p, 1));
	RESULT("reset_release", tare_cu.cuDevicePrimaryCtxRelease_v2(0));
	RESULT("reset_release_again", tare_cu.cuDevicePrimaryCtxRelease_v2(0));
}

static void heap(void)
{
	static const int kib[] = { 1024, 1025, 1280, 1536, 2047, 2048, 2049, 3072, 4096, 4097, 6145 };
	CUdeviceptr p, q, r[512];
	size_t i, pitch = 0;

	begin();
	FACT("one_byte", tare_cu.cuMemAlloc_v2(&p, 1));
	FACT("one_byte_freed", tare_cu.cuMemFree_v2(p));
	FACT("one_byte_again", tare_cu.cuMemAlloc_v2(&p, 1));
	MUST(tare_cu.cuMemAlloc_v2(&q, 1));
	say("step_of_1_bytes", (long long)(q - p));
	MUST(tare_cu.cuMemAlloc_v2(&p, 513));
	MUST(tare_cu.cuMemAlloc_v2(&q, 1));
	say("step_of_513_bytes", (long long)(q - p));
	for (i = 0; i < sizeof(kib) / sizeof(kib[0]); i++) {
		grown();
		MUST(tare_cu.cuMemAlloc_v2(&p, (size_t)kib[i] << 10));
		sayn("alloc_kib", kib[i], grown());
		MUST(tare_cu.cuMemAlloc_v2(&q, 256 << 10));
		sayn("then_256", kib[i], grown());
		MUST(tare_cu.cuMemFree_v2(p));
		sayn("freed", kib[i], grown());
		MUST(tare_cu.cuMemFree_v2(q));
		sayn("freed_256", kib[i], grown());
	}
	for (i = 0; i < 512; i++)
		MUST(tare_cu.cuMemAlloc_v2(&r[i], 40000));
	say("512_of_40000", grown());
	for (i = 0; i < 512; i += 2)
		MUST(tare_cu.cuMemFree_v2(r[i]));
	say("every_second_freed", grown());
	for (i = 0; i < 512; i += 2)
		MUST(tare_cu.cuMemAlloc_v2(&r[i], 40000));
	say("and_again", grown());
	for (i = 0; i < 512; i += 2)
		MUST(tare_cu.cuMemFree_v2(r[i]));
	FACT("1000000_into_holes", tare_cu.cuMemAlloc_v2(&p, 1000000));
	for (i = 1; i < 512; i += 2)
		MUST(tare_cu.cuMemFree_v2(r[i]));
	say("all_freed", grown());
	FACT("pitch_100_x_100", tare_cu.cuMemAllocPitch_v2(&p, &pitch, 100, 100, 4));
	say("pitch_of_100_bytes", (long long)pitch);
	tare_cu.cuMemAllocPitch_v2(&p, &pitch, 513, 4, 4);
	say("pitch_of_513_bytes", (long long)pitch);
	tare_cu.cuMemAllocPitch_v2(&p, &pitch, 40000, 4, 16);
	say("pitch_of_40000_bytes", (long long)pitch);
	FACT("pitch_10000_x_1000", tare_cu.cuMemAllocPitch_v2(&p, &pitch, 10000, 1000, 4));
	MUST(tare_cu.cuMemAlloc_v2(&p, 3 << 20));
	MUST(tare_cu.cuMemAlloc_v2(&q, 3 << 20));
	say("aligned_3m", p % (2 << 20) == 0 && q % (2 << 20) == 0);
}

static void code(void)
{
	static const char *const names[] = { "k0",      "kparam",   "kprintf", "kmalloc", "kstack2",
		                                 "kstack3", "kstack32", "kstack2", "ktable" };
	CUcontext second;
	CUfunction f;
	CUdeviceptr p;
	CUmodule other;
	size_t i, bytes = 0;
	int local = 0;

	begin();
	FACT("load", tare_cu.cuModuleLoad(&module, image));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		grown();
		f = function(names[i]);
		sayn(names[i], 0, grown());
		tare_cu.cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
		sayn("local_bytes", (int)i, local);
		sayn("attribute", (int)i, grown());
		MUST(launch(f));
		sayn("launch", (int)i, grown());
	}
	FACT("global", tare_cu.cuModuleGetGlobal_v2(&p, &bytes, module, "table"));
	FACT("load_again", tare_cu.cuModuleLoad(&other, image));
	FACT("function_again", tare_cu.cuModuleGetFunction(&f, other, "k0"));
	FACT("launch_again", launch(f));
	FACT("unload_again", tare_cu.cuModuleUnload(other));
	FACT("unload", tare_cu.cuModuleUnload(module));
	FACT("second_context", tare_cu.cuCtxCreate_v2(&second, 0, 0));
	FACT("second_load", tare_cu.cuModuleLoad(&module, image));
	MUST(tare_cu.cuModuleGetFunction(&f, module, "k0"));
	FACT("second_launch", launch(f));
	FACT("second_destroy", tare_cu.cuCtxDestroy_v2(second));
}

static void limits(void)
{
	static const int stacks[] = { 0, 512, 1024, 1025, 1040, 1536, 2000, 2048, 4096, 1024, 65536, 1024 };
	size_t i, value = 0;
	CUfunction f;

	begin();
	for (i = 0; i <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE; i++)
		sayn("default_bytes", (int)i, tare_cu.cuCtxGetLimit(&value, (int)i) ? -1 : (long long)value);
	f = function("k0");
	FACT("launch", launch(f));
	for (i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		grown();
		MUST(tare_cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)stacks[i]));
		printf("limits.stack_%zu_%d %lld\n", i, stacks[i], grown());
		tare_cu.cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE);
		printf("limits.stack_%zu_%d_bytes %zu\n", i, stacks[i], value);
		MUST(launch(f));
		printf("limits.launch_%zu_%d %lld\n", i, stacks[i], grown());
	}
	FACT("printf_before_use", tare_cu.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 64 << 20));
	FACT("kprintf", launch(function("kprintf")));
	RESULT("printf_after_use", tare_cu.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 128 << 20));
	FACT("heap_before_use", tare_cu.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 256 << 20));
	FACT("kmalloc", launch(function("kmalloc")));
	RESULT("heap_after_use", tare_cu.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 512 << 20));
	RESULT("limit_99", tare_cu.cuCtxSetLimit(99, 1));
	RESULT("limit_4", tare_cu.cuCtxSetLimit(4, 4096));
}

/* ARGUMENT: "FLAGS,PRIORITY" or "mixed", as PyTorch makes its own. */
static void streams(void)
{
	CUstream made[200];
	int i, flags = 0, priority = 0;
	begin();
	if (strcmp(argument, "mixed") != 0)
		sscanf(argument, "%d,%d", &flags, &priority);
	for (i = 0; i < 136; i++) {
		long long by;

		if (strcmp(argument, "mixed") == 0) {
			flags = 1;
			priority = -(i % 4);
		}
		MUST(tare_cu.cuStreamCreateWithPriority(&made[i], (unsigned)flags, priority));
		by = grown();
		if (by)
			printf("streams_%s.create_%d %lld\n", argument, i + 1, by);
	}
	for (i = 0; i < 136; i++)
		MUST(tare_cu.cuStreamDestroy_v2(made[i]));
	printf("streams_%s.all_destroyed %lld\n", argument, grown());
	for (i = 0; i < 136; i++)
		MUST(tare_cu.cuStreamCreateWithPriority(&made[i], (unsigned)flags, priority));
	printf("streams_%s.all_again %lld\n", argument, grown());
}

static void events(void)
{
	CUevent event;
	int i;

	begin();
	for (i = 0; i < 20000; i++)
		MUST(tare_cu.cuEventCreate(&event, 0));
	say("20000_timing", grown());
	for (i = 0; i < 20000; i++)
		MUST(tare_cu.cuEventCreate(&event, 2));
	say("20000_without", grown());
	for (i = 0; i < 100; i++)
		MUST(tare_cu.cuEventCreate(&event, 6));
	say("100_ipc", grown());
	FACT("record", tare_cu.cuEventRecord(event, NULL));
}

static void array(const char *name, size_t w, size_t h, size_t d, int channels, unsigned levels)
{
	CUDA_ARRAY3D_DESCRIPTOR about = { w, h, d, CU_AD_FORMAT_FLOAT, (unsigned)channels, 0 };
	CUmipmappedArray mips;
	CUarray one;
	CUresult result;

	grown();
	result = levels ? tare_cu.cuMipmappedArrayCreate(&mips, &about, levels) : tare_cu.cuArray3DCreate_v2(&one, &about);
	say(name, result ? -1000000000LL - result : grown());
	if (!result)
		result = levels ? tare_cu.cuMipmappedArrayDestroy(mips) : tare_cu.cuArrayDestroy(one);
	printf("arrays.%s_destroyed %lld\n", name, result ? -1000000000LL - result : grown());
}

static void arrays(void)
{
	CUDA_ARRAY_DESCRIPTOR about = { 64, 64, CU_AD_FORMAT_UNSIGNED_INT8, 1 };
	CUarray small[300];
	int i;

	begin();
	array("1d_1000", 1000, 0, 0, 1, 0);
	array("2d_64", 64, 64, 0, 1, 0);
	array("2d_1000", 1000, 1000, 0, 1, 0);
	array("2d_1024_4", 1024, 1024, 0, 4, 0);
	array("2d_4097", 4097, 4097, 0, 1, 0);
	array("3d_100", 100, 100, 100, 1, 0);
	array("3d_256", 256, 256, 256, 1, 0);
	array("mips_1024", 1024, 1024, 0, 1, 11);
	for (i = 0; i < 300; i++)
		MUST(tare_cu.cuArrayCreate_v2(&small[i], &about));
	say("300_of_64x64_bytes", grown());
}

static void host(void)
{
	void *p = NULL, *own = aligned_alloc(4096, 64 << 20);
	CUdeviceptr d = 0;
	unsigned flags = 0;

	begin();
	FACT("alloc_256m", tare_cu.cuMemHostAlloc(&p, 256 << 20, 0));
	RESULT("device_pointer", tare_cu.cuMemHostGetDevicePointer_v2(&d, p, 0));
	say("same_pointer", d == (uintptr_t)p);
	tare_cu.cuMemHostGetFlags(&flags, p);
	say("flags", flags);
	FACT("free_256m", tare_cu.cuMemFreeHost(p));
	FACT("alloc_1", tare_cu.cuMemHostAlloc(&p, 1, 0));
	memset(own, 0, 64 << 20);
	FACT("register_64m", tare_cu.cuMemHostRegister_v2(own, 64 << 20, 0));
	RESULT("register_twice", tare_cu.cuMemHostRegister_v2(own, 64 << 20, 0));
	FACT("unregister", tare_cu.cuMemHostUnregister(own));
	RESULT("unregister_twice", tare_cu.cuMemHostUnregister(own));
	RESULT("free_unknown", tare_cu.cuMemFreeHost(own));
}

static void managed(void)
{
	CUdeviceptr p, q;
	static char from[4 << 20];

	begin();
	function("kptr");
	MUST(launch(function("k0")));
	FACT("alloc_16m", tare_cu.cuMemAllocManaged(&p, 16 << 20, 1));
	FACT("alloc_1", tare_cu.cuMemAllocManaged(&q, 1, 1));
	FACT("kernel_1_byte", launch_with(function("kptr"), &p));
	FACT("memset_4m", tare_cu.cuMemsetD8_v2(p + (4 << 20), 1, 4 << 20));
	FACT("copy_4m", tare_cu.cuMemcpyHtoD_v2(p + (8 << 20), from, 4 << 20));
	if (tare_cu.cuMemPrefetchAsync)
		FACT("prefetch_16m", tare_cu.cuMemPrefetchAsync(p, 16 << 20, 0, NULL));
	MUST(tare_cu.cuCtxSynchronize());
	say("synchronised", grown());
	FACT("prefetch_back", tare_cu.cuMemPrefetchAsync(p, 16 << 20, -1, NULL));
	MUST(tare_cu.cuCtxSynchronize());
	say("synchronised_back", grown());
	MUST(tare_cu.cuMemPrefetchAsync(p, 16 << 20, 0, NULL));
	MUST(tare_cu.cuCtxSynchronize());
	say("there_again", grown());
	FACT("free_16m", tare_cu.cuMemFree_v2(p));
	FACT("free_1", tare_cu.cuMemFree_v2(q));
}

static void pool_state(const char *when, CUmemoryPool pool)
{
	cuuint64_t value[4] = { 0 };
	int i;

	for (i = 0; i < 4; i++)
		tare_cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT + i, &value[i]);
	printf("pools.%s_reserved_bytes %llu\npools.%s_used_bytes %llu\n", when, (unsigned long long)value[0], when,
	       (unsigned long long)value[2]);
}

static void pools(void)
{
	static const int mib[] = { 100, 32, 33, 64, 65, 200, 1 };
	CUmemPoolProps props = { .allocType = 1, .location = { 1, 0 } };
	cuuint64_t threshold = 1ull << 40;
	CUmemoryPool pool;
	CUdeviceptr p, q, r[64];
	CUstream stream;
	size_t i;

	begin();
	MUST(tare_cu.cuStreamCreate(&stream, 1));
	MUST(tare_cu.cuDeviceGetDefaultMemPool(&pool, 0));
	grown();
	FACT("first_1_byte", tare_cu.cuMemAllocAsync(&p, 1, stream));
	pool_state("first_1_byte", pool);
	MUST(tare_cu.cuMemAllocAsync(&q, 1, stream));
	say("step_bytes", (long long)(q - p));
	FACT("free_both", tare_cu.cuMemFreeAsync(p, stream) + tare_cu.cuMemFreeAsync(q, stream));
	FACT("synchronised", tare_cu.cuStreamSynchronize(stream));
	pool_state("empty", pool);
	for (i = 0; i < sizeof(mib) / sizeof(mib[0]); i++) {
		grown();
		MUST(tare_cu.cuMemAllocAsync(&p, (size_t)mib[i] << 20, stream));
		sayn("alloc_mib", mib[i], grown());
		MUST(tare_cu.cuStreamSynchronize(stream));
		sayn("sync_mib", mib[i], grown());
		MUST(tare_cu.cuMemFreeAsync(p, stream));
		sayn("free_mib", mib[i], grown());
		MUST(tare_cu.cuStreamSynchronize(stream));
		sayn("freed_mib", mib[i], grown());
	}
	for (i = 0; i < 64; i++)
		MUST(tare_cu.cuMemAllocAsync(&r[i], 5 << 20, stream));
	say("64_of_5m", grown());
	pool_state("64_of_5m", pool);
	for (i = 0; i < 60; i++)
		MUST(tare_cu.cuMemFreeAsync(r[i], stream));
	say("60_freed", grown());
	FACT("60_synchronised", tare_cu.cuStreamSynchronize(stream));
	pool_state("60_synchronised", pool);
	for (i = 60; i < 64; i++)
		MUST(tare_cu.cuMemFreeAsync(r[i], stream));
	FACT("64_synchronised", tare_cu.cuCtxSynchronize());
	MUST(tare_cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	FACT("kept_alloc", tare_cu.cuMemAllocAsync(&p, 100 << 20, stream));
	FACT("kept_free", tare_cu.cuMemFreeAsync(p, stream));
	FACT("kept_sync", tare_cu.cuStreamSynchronize(stream));
	FACT("kept_200m_alloc", tare_cu.cuMemAllocAsync(&p, 200 << 20, stream));
	pool_state("kept", pool);
	FACT("kept_200m_free", tare_cu.cuMemFreeAsync(p, stream));
	FACT("trim_to_50m", tare_cu.cuMemPoolTrimTo(pool, 50 << 20));
	MUST(tare_cu.cuStreamSynchronize(stream));
	FACT("trim_to_50m_after_sync", tare_cu.cuMemPoolTrimTo(pool, 50 << 20));
	FACT("trim_to_0", tare_cu.cuMemPoolTrimTo(pool, 0));
	FACT("own_pool", tare_cu.cuMemPoolCreate(&pool, &props));
	FACT("own_alloc_10m", tare_cu.cuMemAllocFromPoolAsync(&p, 10 << 20, pool, stream));
	FACT("own_free", tare_cu.cuMemFreeAsync(p, stream));
	FACT("own_destroy", tare_cu.cuMemPoolDestroy(pool));
	MUST(tare_cu.cuMemAllocAsync(&p, 10 << 20, stream));
	grown();
	FACT("free_by_plain", tare_cu.cuMemFree_v2(p));
	MUST(tare_cu.cuMemAlloc_v2(&p, 10 << 20));
	FACT("plain_freed_async", tare_cu.cuMemFreeAsync(p, stream));
	FACT("plain_sync", tare_cu.cuStreamSynchronize(stream));
}

static void vmm(void)
{
	CUmemAllocationProp prop = { .type = 1, .location = { 1, 0 } };
	CUmemAccessDesc access = { { 1, 0 }, 3 };
	CUmemGenericAllocationHandle a, b;
	size_t least = 0, best = 0;
	CUdeviceptr at, alias;

	begin();
	tare_cu.cuMemGetAllocationGranularity(&least, &prop, 0);
	tare_cu.cuMemGetAllocationGranularity(&best, &prop, 1);
	say("granularity_bytes", (long long)least);
	say("recommended_bytes", (long long)best);
	RESULT("create_1m", tare_cu.cuMemCreate(&a, 1 << 20, &prop, 0));
	FACT("create_20m", tare_cu.cuMemCreate(&a, 20 << 20, &prop, 0));
	FACT("create_2m", tare_cu.cuMemCreate(&b, 2 << 20, &prop, 0));
	FACT("reserve_1g", tare_cu.cuMemAddressReserve(&at, 1 << 30, 0, 0, 0));
	FACT("reserve_alias", tare_cu.cuMemAddressReserve(&alias, 1 << 30, 0, 0, 0));
	FACT("map", tare_cu.cuMemMap(at, 20 << 20, 0, a, 0));
	RESULT("map_over", tare_cu.cuMemMap(at, 2 << 20, 0, b, 0));
	FACT("access", tare_cu.cuMemSetAccess(at, 20 << 20, &access, 1));
	FACT("map_alias", tare_cu.cuMemMap(alias, 20 << 20, 0, a, 0));
	FACT("access_alias", tare_cu.cuMemSetAccess(alias, 20 << 20, &access, 1));
	MUST(tare_cu.cuMemsetD8_v2(at, 7, 1));
	FACT("release", tare_cu.cuMemRelease(a));
	RESULT("unmap_part", tare_cu.cuMemUnmap(at, 2 << 20));
	FACT("unmap", tare_cu.cuMemUnmap(at, 20 << 20));
	FACT("unmap_alias", tare_cu.cuMemUnmap(alias, 20 << 20));
	FACT("release_2m", tare_cu.cuMemRelease(b));
	FACT("address_free", tare_cu.cuMemAddressFree(at, 1 << 30));
}

/* ARGUMENT: KIND,NODES */
static void graphs(void)
{
	CUDA_KERNEL_NODE_PARAMS_v2 params = {
		.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1
	};
	CUDA_MEM_ALLOC_NODE_PARAMS memory = { .poolProps = { .allocType = 1, .location = { 1, 0 } },
		                                  .bytesize = 256 << 20 };
	CUDA_MEMSET_NODE_PARAMS set = { .elementSize = 1, .width = 16, .height = 1 };
	static char block[4096];
	static int *out;
	void *arguments[] = { block, &out };
	char kind[32];
	CUgraphNode node, last = NULL;
	CUgraphExec exec, second;
	CUgraph graph;
	CUdeviceptr p;
	int i, nodes = 0;
	char name[64];

	if (sscanf(argument, "%31[a-z0-9],%d", kind, &nodes) != 2)
		exit(2);
	snprintf(name, sizeof(name), "graphs_%s_%d", kind, nodes);
	section = name;
	begin();
	MUST(launch(function("k0")));
	params.func = function(strcmp(kind, "memset") == 0 || strcmp(kind, "memory") == 0 ? "k0" : kind);
	params.kernelParams = arguments;
	MUST(tare_cu.cuMemAlloc_v2(&p, 1024));
	set.dst = p;
	MUST(tare_cu.cuGraphCreate(&graph, 0));
	for (i = 0; i < nodes; i++, last = node) {
		if (strcmp(kind, "memory") == 0)
			MUST(tare_cu.cuGraphAddMemAllocNode(&node, graph, &last, i > 0, &memory));
		else if (strcmp(kind, "memset") == 0)
			MUST(tare_cu.cuGraphAddMemsetNode(&node, graph, &last, i > 0, &set, context));
		else
			MUST(tare_cu.cuGraphAddKernelNode_v2(&node, graph, &last, i > 0, &params));
		if (strcmp(kind, "memory") == 0) {
			last = node;
			MUST(tare_cu.cuGraphAddMemFreeNode(&node, graph, &last, 1, memory.dptr));
		}
	}
	FACT("instantiate", tare_cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	FACT("upload", tare_cu.cuGraphUpload(exec, NULL));
	FACT("launch", tare_cu.cuGraphLaunch(exec, NULL));
	FACT("sync", tare_cu.cuCtxSynchronize());
	if (strcmp(kind, "memory") != 0) {
		FACT("second_instantiate", tare_cu.cuGraphInstantiateWithFlags(&second, graph, 0));
		FACT("second_launch", tare_cu.cuGraphLaunch(second, NULL));
		FACT("second_destroy", tare_cu.cuGraphExecDestroy(second));
		FACT("third_instantiate", tare_cu.cuGraphInstantiateWithFlags(&second, graph, 0));
	}
	FACT("destroy", tare_cu.cuGraphExecDestroy(exec));
	FACT("trim", tare_cu.cuDeviceGraphMemTrim(0));
}

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

static void errors(void)
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

static void second_process(void)
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

/* ARGUMENT: VARIANT,KERNEL,KERNEL… of an image that has only these */
static void modules(void)
{
	char words[256], *rest, *word, name[64];
	CUmodule more;
	CUfunction f;
	int i;

	snprintf(words, sizeof(words), "%s", argument);
	word = strtok_r(words, ",", &rest);
	snprintf(name, sizeof(name), "modules_%s", word);
	section = name;
	begin();
	FACT("load", tare_cu.cuModuleLoad(&module, image));
	while ((word = strtok_r(NULL, ",", &rest))) {
		FACT("function", tare_cu.cuModuleGetFunction(&f, module, word));
		FACT("launch", launch(f));
		FACT("again", launch(f));
	}
	FACT("load_2", tare_cu.cuModuleLoad(&more, image));
	FACT("unload_2", tare_cu.cuModuleUnload(more));
	for (i = 0; i < 100; i++)
		MUST(tare_cu.cuModuleLoad(&more, image));
	say("load_100", grown());
	FACT("unload", tare_cu.cuModuleUnload(module));
	FACT("load_after", tare_cu.cuModuleLoad(&module, image));
}

/* ARGUMENT: VARIANT,KERNEL */
static void libraries(void)
{
	char words[256], *rest, *word, name[64];
	CUlibrary library;
	CUfunction f;
	CUkernel kernel;
	CUmodule taken;

	snprintf(words, sizeof(words), "%s", argument);
	word = strtok_r(words, ",", &rest);
	snprintf(name, sizeof(name), "libraries_%s", word);
	section = name;
	begin();
	FACT("load", tare_cu.cuLibraryLoadFromFile(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	FACT("kernel", tare_cu.cuLibraryGetKernel(&kernel, library, strtok_r(NULL, ",", &rest)));
	FACT("function", tare_cu.cuKernelGetFunction(&f, kernel));
	say("same_handle", (void *)f == (void *)kernel);
	FACT("launch", launch((CUfunction)kernel));
	FACT("module", tare_cu.cuLibraryGetModule(&taken, library));
	FACT("unload", tare_cu.cuLibraryUnload(library));
}

/* ARGUMENT: MIB,kernel|set|prefetch */
static void touches(void)
{
	unsigned long long mib = 0, at;
	char how[16], name[64];
	CUdeviceptr p, q;
	CUfunction f;
	int round;

	if (sscanf(argument, "%llu,%15s", &mib, how) != 2)
		exit(2);
	snprintf(name, sizeof(name), "touches_%llu_%s", mib, how);
	section = name;
	begin();
	f = function("kptr");
	MUST(launch(function("k0")));
	grown();
	for (round = 0; round < 2; round++) {
		MUST(tare_cu.cuMemAllocManaged(&p, mib << 20, 1));
		sayn("alloc", round, grown());
		for (at = 0; at < mib << 20; at += 2 << 20) {
			CUdeviceptr here = p + at;
			long long by;

			if (strcmp(how, "kernel") == 0)
				MUST(launch_with(f, &here));
			else if (strcmp(how, "set") == 0)
				MUST(tare_cu.cuMemsetD8_v2(here, 1, 1));
			else
				MUST(tare_cu.cuMemPrefetchAsync(here, 2 << 20, 0, NULL));
			MUST(tare_cu.cuCtxSynchronize());
			by = grown();
			if (by)
				printf("%s.round_%d_touch_%llu %lld\n", section, round, at >> 20, by);
		}
		*(volatile char *)(uintptr_t)p = 1;
		sayn("host_touch", round, grown());
		MUST(tare_cu.cuMemPrefetchAsync(p, mib << 20, -1, NULL));
		MUST(tare_cu.cuCtxSynchronize());
		sayn("back", round, grown());
		MUST(tare_cu.cuMemAlloc_v2(&q, 512 << 20));
		sayn("plain_512m", round, grown());
		MUST(tare_cu.cuMemFree_v2(q));
		sayn("plain_freed", round, grown());
		MUST(tare_cu.cuMemFree_v2(p));
		sayn("freed", round, grown());
	}
}

static void heap_first(void)
{
	CUDA_ARRAY_DESCRIPTOR about = { 64, 64, CU_AD_FORMAT_UNSIGNED_INT8, 1 };
	CUdeviceptr p, q;
	CUarray one;
	size_t pitch;

	begin();
	FACT("3072", tare_cu.cuMemAlloc_v2(&p, 3 << 20));
	FACT("then_512", tare_cu.cuMemAlloc_v2(&q, 512 << 10));
	FACT("then_1536", tare_cu.cuMemAlloc_v2(&q, 1536 << 10));
	FACT("then_1024", tare_cu.cuMemAlloc_v2(&q, 1024 << 10));
	FACT("then_1025", tare_cu.cuMemAlloc_v2(&q, 1025 << 10));
	FACT("then_512_b", tare_cu.cuMemAlloc_v2(&q, 512 << 10));
	FACT("then_400", tare_cu.cuMemAlloc_v2(&q, 400 << 10));
	FACT("then_1900", tare_cu.cuMemAlloc_v2(&q, 1900 << 10));
	FACT("then_100", tare_cu.cuMemAlloc_v2(&q, 100 << 10));
	FACT("small_array", tare_cu.cuArrayCreate_v2(&one, &about));
	FACT("small_array_gone", tare_cu.cuArrayDestroy(one));
	FACT("pitch_600_x_512", tare_cu.cuMemAllocPitch_v2(&q, &pitch, 600, 512, 4));
	FACT("2048", tare_cu.cuMemAlloc_v2(&q, 2048 << 10));
	FACT("2047", tare_cu.cuMemAlloc_v2(&q, 2047 << 10));
}

static void stack_again(void)
{
	CUfunction f;

	begin();
	f = function("kstack32");
	FACT("launch", launch(f));
	FACT("limit_2048", tare_cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
	FACT("launch_again", launch(f));
	FACT("limit_1024", tare_cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
	FACT("launch_small", launch(function("k0")));
	FACT("launch_again_2", launch(f));
	FACT("unload", tare_cu.cuModuleUnload(module));
}

static const struct {
	const char *name;
	void (*run)(void);
} sections[] = {
	{ "modules", modules },
	{ "libraries", libraries },
	{ "touches", touches },
	{ "heap_first", heap_first },
	{ "stack_again", stack_again },
	{ "contexts", contexts },
	{ "heap", heap },
	{ "code", code },
	{ "limits", limits },
	{ "streams", streams },
	{ "events", events },
	{ "arrays", arrays },
	{ "host", host },
	{ "managed", managed },
	{ "pools", pools },
	{ "vmm", vmm },
	{ "graphs", graphs },
	{ "errors", errors },
	{ "second", second_process },
};

int main(int argc, char **argv)
{
	size_t i;

	section = argc > 1 ? argv[1] : "";
	image = argc > 2 ? argv[2] : "";
	argument = argc > 3 ? argv[3] : "0,0";
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strcmp(sections[i].name, section) != 0)
			continue;
		if (strcmp(section, "second") != 0)
			load();
		sections[i].run();
		return 0;
	}
	fprintf(stderr, "facts: no section \"%s\"\n", section);
	return 2;
}
