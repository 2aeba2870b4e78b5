/* SPDX-License-Identifier: Apache-2.0 */
/* What contexts, code, streams, events and graphs take. */
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long long listed(void)
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

void contexts(void)
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

void heap(void)
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

void code(void)
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

void limits(void)
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
void streams(void)
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

void events(void)
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

/* ARGUMENT: KIND,NODES */
void graphs(void)
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

static char words[256], *rest_of_words;

static const char *next_word(void)
{
	return strtok_r(NULL, ",", &rest_of_words);
}

/* The first word of ARGUMENT ends the section's name. */
static void begin_variant(const char *kind)
{
	static char name[64];

	snprintf(words, sizeof(words), "%s", argument);
	snprintf(name, sizeof(name), "%s_%s", kind, strtok_r(words, ",", &rest_of_words));
	section = name;
	begin();
}

/* ARGUMENT: VARIANT,KERNEL,KERNEL… of an image that has only these */
void modules(void)
{
	const char *word;
	CUmodule more;
	CUfunction f;
	int i;

	begin_variant("modules");
	FACT("load", tare_cu.cuModuleLoad(&module, image));
	while ((word = next_word())) {
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
void libraries(void)
{
	CUlibrary library;
	CUfunction f;
	CUkernel kernel;
	CUmodule taken;

	begin_variant("libraries");
	FACT("load", tare_cu.cuLibraryLoadFromFile(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	FACT("kernel", tare_cu.cuLibraryGetKernel(&kernel, library, next_word()));
	FACT("function", tare_cu.cuKernelGetFunction(&f, kernel));
	say("same_handle", (void *)f == (void *)kernel);
	FACT("launch", launch((CUfunction)kernel));
	FACT("module", tare_cu.cuLibraryGetModule(&taken, library));
	FACT("unload", tare_cu.cuLibraryUnload(library));
}

void heap_first(void)
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

void stack_again(void)
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
