/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory works: what is copied in comes out, handles that are gone are refused, and many threads may
 * do all of it at once. Built twice: against the library, and with its sources under the sanitizers.
 */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

TEST(sim_copies_and_fills)
{
	CUdeviceptr p, q, m;
	unsigned out[1000];
	CUstream stream;
	size_t pitch;
	int i;

	context_open(NULL);
	OK(cu.cuStreamCreate(&stream, 1));
	OK(cu.cuMemAlloc_v2(&p, 4000));
	OK(cu.cuMemAlloc_v2(&q, 10 << 20));
	OK(cu.cuMemAllocManaged(&m, 5 << 20, 1));
	OK(cu.cuMemsetD32_v2(p, 0xfaceb, 1000));
	OK(cu.cuMemcpyDtoDAsync_v2(q + 100, p, 4000, stream));
	OK(cu.cuMemcpy(m + 8, q + 100, 4000));
	OK(cu.cuMemcpyDtoH_v2(out, m + 8, 4000));
	for (i = 0; i < 1000; i++)
		CHECK_INT(out[i], 0xfaceb);
	OK(cu.cuMemsetD16Async(p, 0x1234, 2000, stream));
	OK(cu.cuMemcpyDtoHAsync_v2(out, p, 4000, stream));
	CHECK_INT(out[999], 0x12341234);
	OK(cu.cuMemFree_v2(p));
	OK(cu.cuMemAllocPitch_v2(&p, &pitch, 100, 10, 4));
	CHECK_INT(pitch, 512);
	OK(cu.cuMemsetD2D8_v2(p, pitch, 7, 100, 10));
	memset(out, 0, sizeof(out));
	{
		CUDA_MEMCPY2D copy = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
			                   .srcDevice = p,
			                   .srcPitch = pitch,
			                   .dstMemoryType = CU_MEMORYTYPE_HOST,
			                   .dstHost = out,
			                   .dstPitch = 100,
			                   .WidthInBytes = 100,
			                   .Height = 10 };

		OK(cu.cuMemcpy2D_v2(&copy));
	}
	CHECK_INT(((unsigned char *)out)[999], 7);
	CHECK_INT(((unsigned char *)out)[1000], 0);
}

TEST(sim_says_what_a_pointer_is)
{
	CUdeviceptr p, base;
	unsigned type;
	size_t size;
	void *host;

	context_open(NULL);
	OK(cu.cuMemAlloc_v2(&p, 1000));
	OK(cu.cuMemGetAddressRange_v2(&base, &size, p + 999));
	CHECK(base == p && size == 1000);
	OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	CHECK_INT(type, CU_MEMORYTYPE_DEVICE);
	OK(cu.cuMemHostAlloc(&host, 100, 0));
	OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)host));
	CHECK_INT(type, CU_MEMORYTYPE_HOST);
	OK(cu.cuMemFreeHost(host));
	CHECK_INT(cu.cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

/* As tests/gpu/mapping.sh measured: what maps it is in steps of 2 MiB, each for 1 GiB, after what the context has room for. */
TEST(sim_pinned_memory_takes_what_maps_it)
{
	enum { NR = 16 };
	const uint64_t tables = UINT64_C(2) << 20;
	void *blocks[NR], *own;
	uint64_t before;
	int i;

	context_open(NULL);
	before = used();
	for (i = 0; i < NR; i++) {
		OK(cu.cuMemHostAlloc(&blocks[i], (size_t)64 << 20, 0));
		CHECK_INT(used() - before, i < 12 ? 0 : tables);
	}
	while (i--) {
		OK(cu.cuMemFreeHost(blocks[i]));
		CHECK_INT(used() - before, i <= 12 ? 0 : tables);
	}
	OK(cu.cuMemHostAlloc(&blocks[0], (size_t)4096 << 20, 0));
	CHECK_INT(used() - before, 4 * tables);
	OK(cu.cuMemFreeHost(blocks[0]));
	CHECK_INT(used(), before);
	own = mmap(NULL, (size_t)2304 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(own != MAP_FAILED);
	OK(cu.cuMemHostRegister_v2(own, (size_t)2304 << 20, 0));
	CHECK_INT(used() - before, 2 * tables);
	OK(cu.cuMemHostUnregister(own));
	CHECK_INT(used(), before);
	munmap(own, (size_t)2304 << 20);
}

TEST(sim_refuses_handles_that_are_gone)
{
	CUcontext context, current;
	CUstream stream;
	CUevent event;
	CUmodule module;
	CUdeviceptr p;

	context_open(NULL);
	OK(cu.cuStreamCreate(&stream, 0));
	OK(cu.cuStreamDestroy_v2(stream));
	CHECK_INT(cu.cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
	CHECK_INT(cu.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
	OK(cu.cuEventCreate(&event, 0));
	OK(cu.cuEventDestroy_v2(event));
	CHECK_INT(cu.cuEventRecord(event, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cu.cuModuleLoadData(&module, "any image"));
	OK(cu.cuModuleUnload(module));
	CHECK_INT(cu.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
	OK(cu.cuCtxCreate_v2(&context, 0, 0));
	OK(cu.cuMemAlloc_v2(&p, 1 << 20));
	OK(cu.cuCtxDestroy_v2(context));
	CHECK_INT(cu.cuCtxDestroy_v2(context), CUDA_ERROR_INVALID_CONTEXT);
	OK(cu.cuCtxGetCurrent(&current));
	CHECK(current != context);
	CHECK_INT(cu.cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
}

TEST(sim_a_pool_may_keep_everything)
{
	CUmemPoolProps properties = { .allocType = 1, .location = { .type = 1, .id = 0 } };
	uint64_t everything = UINT64_MAX, reserved = 0;
	CUmemoryPool pool;
	CUstream stream;
	CUdeviceptr p;

	context_open(NULL);
	OK(cu.cuStreamCreate(&stream, 1));
	OK(cu.cuMemPoolCreate(&pool, &properties));
	OK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything));
	OK(cu.cuMemAllocFromPoolAsync(&p, 100 << 20, pool, stream));
	OK(cu.cuMemFreeAsync(p, stream));
	OK(cu.cuStreamSynchronize(stream));
	OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
	CHECK_INT((int64_t)reserved, 128 << 20);
	OK(cu.cuMemPoolTrimTo(pool, 0));
	OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
	CHECK_INT((int64_t)reserved, 0);
}

/* Everything a context may hold goes with it. */
TEST(sim_a_context_takes_all_with_it)
{
	static const char image[] = "tare-sim-module\nkernel k code=3000000 local=4096 printf=1 malloc=1\n"
								"global g 5000000\n";
	CUDA_ARRAY_DESCRIPTOR about = { 1000, 1000, CU_AD_FORMAT_FLOAT, 4 };
	CUlinkState link;
	CUcontext context;
	CUfunction f;
	CUmodule module;
	CUarray array;
	CUdeviceptr p;
	CUstream stream;
	uint64_t before;
	size_t size;
	void *host;

	machine_open(NULL);
	before = used();
	OK(cu.cuCtxCreate_v2(&context, 0, 0));
	for (int i = 0; i < 20; i++) {
		OK(cu.cuStreamCreate(&stream, 0));
		OK(cu.cuMemAlloc_v2(&p, 100000));
		OK(cu.cuMemAlloc_v2(&p, 3 << 20));
	}
	OK(cu.cuMemAllocManaged(&p, 3 << 20, 1));
	OK(cu.cuMemsetD8_v2(p, 1, 100));
	OK(cu.cuMemHostAlloc(&host, 100, 0));
	OK(cu.cuArrayCreate_v2(&array, &about));
	OK(cu.cuModuleLoadData(&module, image));
	OK(cu.cuModuleGetFunction(&f, module, "k"));
	OK(cu.cuModuleGetGlobal_v2(&p, &size, module, "g"));
	CHECK_INT(size, 5000000);
	OK(cu.cuMemsetD8_v2(p, 1, size));
	CHECK_INT(cu.cuModuleGetGlobal_v2(&p, &size, module, "h"), CUDA_ERROR_NOT_FOUND);
	OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cu.cuLinkCreate_v2(0, NULL, NULL, &link));
	OK(cu.cuLinkAddData_v2(link, 1, (void *)image, sizeof(image), NULL, 0, NULL, NULL));
	OK(cu.cuCtxDestroy_v2(context));
	CHECK_INT(used(), before);
}

TEST(sim_a_library_serves_several_contexts)
{
	static const char image[] = "tare-sim-module\nkernel k code=1000000\nkernel l code=1000000\n";
	CUcontext first = context_open(NULL), second;
	CUfunction f, g;
	CUlibrary library;
	CUkernel kernel;
	CUmodule module;

	OK(cu.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	OK(cu.cuLibraryGetKernel(&kernel, library, "k"));
	GROWS(cu.cuKernelGetFunction(&f, kernel), 2);
	GROWS(cu.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
	OK(cu.cuCtxCreate_v2(&second, 0, 0));
	GROWS(cu.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 2);
	OK(cu.cuLibraryGetModule(&module, library));
	GROWS(cu.cuModuleGetFunction(&g, module, "l"), 0);
	GROWS(cu.cuLibraryUnload(library), -4);
	CHECK_INT(cu.cuKernelGetFunction(&f, kernel), CUDA_ERROR_INVALID_HANDLE);
	OK(cu.cuCtxDestroy_v2(second));
	OK(cu.cuCtxSetCurrent(first));
	CHECK_INT(cu.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* ---- many threads ---- */
#define THREADS 8
#define ROUNDS  300

static CUcontext shared_context;

/* No CHECK here: it would end the thread's process without a word of which thread. */
static void *hammer(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number * 7919 + 1;
	CUdeviceptr p[16] = { 0 };
	long errors = 0;

	errors += cu.cuCtxSetCurrent(shared_context) != 0;
	for (int i = 0; i < ROUNDS; i++) {
		unsigned k = rand_r(&seed) % 16, value = rand_r(&seed), back = 0;
		size_t size = (rand_r(&seed) % 4 ? 4096 : 3 << 20) + rand_r(&seed) % 4096;
		CUstream stream;
		CUevent event;

		if (p[k])
			errors += cu.cuMemFree_v2(p[k]) != 0;
		if (i % 3)
			errors += cu.cuMemAlloc_v2(&p[k], size) != 0;
		else
			errors += cu.cuMemAllocAsync(&p[k], size, NULL) != 0;
		errors += cu.cuMemcpyHtoD_v2(p[k] + size - 4, &value, 4) != 0;
		errors += cu.cuMemcpyDtoH_v2(&back, p[k] + size - 4, 4) != 0;
		errors += back != value;
		errors += cu.cuStreamCreate(&stream, 1) != 0;
		errors += cu.cuEventCreate(&event, 0) != 0;
		errors += cu.cuEventRecord(event, stream) != 0;
		errors += cu.cuEventDestroy_v2(event) != 0;
		errors += cu.cuStreamDestroy_v2(stream) != 0;
	}
	for (int i = 0; i < 16; i++)
		errors += p[i] && cu.cuMemFree_v2(p[i]) != 0;
	return (void *)errors;
}

TEST(sim_threads_keep_the_books)
{
	pthread_t threads[THREADS];
	uint64_t before, streams;
	void *errors;
	long i;

	shared_context = context_open(NULL);
	before = used();
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, hammer, (void *)i) == 0);
	for (i = 0; i < THREADS; i++) {
		CHECK(pthread_join(threads[i], &errors) == 0);
		CHECK_INT((intptr_t)errors, 0);
	}
	OK(cu.cuCtxSynchronize());
	/* Only streams stay: at most so many as there were at once. */
	streams = used() - before;
	CHECK(streams <= 4 << 20 && streams % (2 << 20) == 0);
}

TEST(foreign_file_is_no_pool)
{
	CUmemoryPool pool;

	context_open(NULL);
	CHECK_INT(cu.cuMemPoolImportFromShareableHandle(&pool, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
	          CUDA_ERROR_INVALID_VALUE);
}
