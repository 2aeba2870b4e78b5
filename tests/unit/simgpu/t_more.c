/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's younger parts: resources, tensor maps, logs, occupancy, batches, events, and bad input. */
#include "driver.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
						  ".visible .entry k(.param .u64 a, .param .u32 b, .param .u64 c)\n"
						  "{\nret;\n}\n";
static CUfunction function;
static CUstream stream;

static void begin(void)
{
	CUmodule module;

	context_open(NULL);
	OK(cu.cuModuleLoadData(&module, ptx));
	OK(cu.cuModuleGetFunction(&function, module, "k"));
	OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

TEST(multiprocessors_are_split)
{
	CUdevResource all, parts[4], rest;
	CUdevResourceDesc description;
	unsigned groups = 0;
	CUcontext context;
	CUgreenCtx green;

	begin();
	OK(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
	CHECK_INT(all.sm.smCount, 132);
	CHECK_INT(cu.cuDeviceGetDevResource(0, &all, 7), CUDA_ERROR_INVALID_RESOURCE_TYPE);
	OK(cu.cuDevSmResourceSplitByCount(NULL, &groups, &all, NULL, 0, 20));
	CHECK_INT(groups, 5); /* of 24 each */
	groups = 2;
	OK(cu.cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, 20));
	CHECK(groups == 2 && parts[1].sm.smCount == 24 && rest.sm.smCount == 84);
	CHECK_INT(cu.cuDevSmResourceSplitByCount(parts, &groups, &all, NULL, 0, 500),
	          CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
	OK(cu.cuDevResourceGenerateDesc(&description, parts, 2));
	OK(cu.cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	OK(cu.cuGreenCtxGetDevResource(green, &rest, CU_DEV_RESOURCE_TYPE_SM));
	CHECK_INT(rest.sm.smCount, 48);
	OK(cu.cuCtxFromGreenCtx(&context, green));
	OK(cu.cuCtxGetDevResource(context, &rest, CU_DEV_RESOURCE_TYPE_SM));
	OK(cu.cuGreenCtxDestroy(green));
	CHECK_INT(cu.cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(kernels_tell_their_parameters_and_occupancy)
{
	CUlaunchAttribute cluster = { .id = 4, .value.clusterDim = { 4, 1, 1 } };
	CUlaunchConfig config = { 1, 1, 1, 256, 1, 1, 0, NULL, &cluster, 1 };
	size_t offset, size, shared;
	CUfunction listed;
	CUmodule module;
	int count;

	begin();
	OK(cu.cuFuncGetParamInfo(function, 1, &offset, &size));
	CHECK(offset == 8 && size == 4);
	OK(cu.cuFuncGetParamInfo(function, 2, &offset, NULL));
	CHECK_INT(offset, 16);
	CHECK_INT(cu.cuFuncGetParamInfo(function, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuFuncGetModule(&module, function));
	OK(cu.cuModuleEnumerateFunctions(&listed, 1, module));
	CHECK(listed == function);
	OK(cu.cuOccupancyMaxPotentialClusterSize(&count, function, &config));
	CHECK_INT(count, 8);
	OK(cu.cuOccupancyMaxActiveClusters(&count, function, &config));
	CHECK_INT(count, 132 * 8 / 4);
	config.blockDimX = 2048;
	CHECK_INT(cu.cuOccupancyMaxActiveClusters(&count, function, &config), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuOccupancyAvailableDynamicSMemPerBlock(&shared, function, 2, 256));
	CHECK_INT(shared, 233472 / 2 - 1024);
	CHECK_INT(cu.cuOccupancyAvailableDynamicSMemPerBlock(&shared, function, 0, 256), CUDA_ERROR_INVALID_VALUE);
}

TEST(tensor_maps_keep_the_rules)
{
	CUtensorMap map;
	cuuint64_t dim[2] = { 64, 64 }, strides[1] = { 128 };
	cuuint32_t box[2] = { 64, 64 }, steps[2] = { 1, 1 };
	CUdeviceptr p;
	void *at;

	begin();
	OK(cu.cuMemAlloc_v2(&p, 64 * 128));
	at = (void *)(uintptr_t)p;
#define TILED(where, rank, swizzle)                                                                                    \
	cu.cuTensorMapEncodeTiled(&map, 6, rank, where, dim, strides, box, steps, 0, swizzle, 0, 0)
	OK(TILED(at, 2, 3));
	CHECK_INT(TILED(at, 6, 3), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(TILED((char *)at + 8, 2, 3), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(TILED(at, 2, 1), CUDA_ERROR_INVALID_VALUE); /* 128 bytes are too many for it */
	strides[0] = 120;
	CHECK_INT(TILED(at, 2, 3), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuTensorMapReplaceAddress(&map, at));
	CHECK_INT(cu.cuTensorMapReplaceAddress(&map, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void listen(void *data, CUlogLevel level, char *message, size_t length)
{
	(void)data;
	(void)level;
	(void)message;
	(void)length;
}

TEST(the_log_is_empty)
{
	CUlogsCallbackHandle handle;
	CUlogIterator at = 9;
	size_t size = 16;
	char text[16] = "x";

	begin();
	OK(cu.cuLogsRegisterCallback(listen, NULL, &handle));
	OK(cu.cuLogsUnregisterCallback(handle));
	CHECK_INT(cu.cuLogsUnregisterCallback(handle), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuLogsCurrent(&at, 0));
	OK(cu.cuLogsDumpToMemory(&at, text, &size, 0));
	CHECK(size == 0 && text[0] == 0);
	OK(cu.cuLogsDumpToFile(NULL, "/dev/null", 0));
	CHECK_INT(cu.cuLogsDumpToFile(NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(batches_copy_and_name_what_is_wrong)
{
	CUmemcpyAttributes about = { .srcAccessOrder = 1 };
	CUdeviceptr to[2], from[2], p, q;
	size_t sizes[2] = { 4, 4 }, first = 0, failed = 0;
	CUDA_MEMCPY3D_BATCH_OP op = {
		.src = { .type = 1 }, .dst = { .type = 1 }, .extent = { 4, 2, 1 }, .srcAccessOrder = 1
	};
	unsigned out = 0;

	begin();
	OK(cu.cuMemAlloc_v2(&p, 64));
	OK(cu.cuMemAlloc_v2(&q, 64));
	OK(cu.cuMemsetD32_v2(p, 7, 16));
	OK(cu.cuMemsetD32_v2(q, 0, 16));
	to[0] = q;
	to[1] = q + 8;
	from[0] = from[1] = p;
	OK(cu.cuMemcpyBatchAsync(to, from, sizes, 2, &about, &first, 1, &failed, stream));
	OK(cu.cuMemcpyDtoH_v2(&out, q + 8, 4));
	CHECK_INT(out, 7);
	sizes[1] = 0;
	CHECK_INT(cu.cuMemcpyBatchAsync(to, from, sizes, 2, &about, &first, 1, &failed, stream), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(failed, 1);
	CHECK_INT(cu.cuMemcpyBatchAsync_v2(to, from, sizes, 2, &about, &first, 1, NULL), CUDA_ERROR_INVALID_VALUE);
	op.src.op.ptr.ptr = p;
	op.dst.op.ptr.ptr = q + 32;
	OK(cu.cuMemcpy3DBatchAsync(1, &op, &failed, 0, stream));
	OK(cu.cuMemcpyDtoH_v2(&out, q + 36, 4));
	CHECK_INT(out, 7);
}

/* The clock of events is the host's, and moves. */
TEST(events_have_times)
{
	CUevent events[3], untimed;
	float early, late;
	int i;

	begin();
	for (i = 0; i < 3; i++)
		OK(cu.cuEventCreate(&events[i], 0));
	CHECK_INT(cu.cuEventElapsedTime(&early, events[0], events[1]), CUDA_ERROR_INVALID_HANDLE);
	OK(cu.cuEventRecord(events[0], stream));
	OK(cu.cuEventRecord(events[1], stream));
	nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	OK(cu.cuEventRecord(events[2], stream));
	OK(cu.cuEventElapsedTime(&early, events[0], events[1]));
	OK(cu.cuEventElapsedTime_v2(&late, events[0], events[2]));
	CHECK(early > 0);
	CHECK(late >= 20 && late > early);
	OK(cu.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
	OK(cu.cuEventRecord(untimed, stream));
	CHECK_INT(cu.cuEventElapsedTime(&late, events[0], untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST(events_cross_processes)
{
	CUipcEventHandle handle;
	CUevent event;

	begin();
	CHECK_INT(cu.cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuEventCreate(&event, 0));
	CHECK_INT(cu.cuIpcGetEventHandle(&handle, event), CUDA_ERROR_INVALID_HANDLE);
	OK(cu.cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	OK(cu.cuIpcGetEventHandle(&handle, event));
	OK(cu.cuIpcOpenEventHandle(&event, handle));
	OK(cu.cuEventSynchronize(event));
	handle.reserved[0] ^= 1;
	CHECK_INT(cu.cuIpcOpenEventHandle(&event, handle), CUDA_ERROR_INVALID_VALUE);
}

TEST(what_the_device_has_not_is_refused)
{
	CUmemLocation here = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	CUmemAccessDesc none = { here, 0 };
	CUmemoryPool pool, same;
	unsigned mask, flag;
	CUdeviceptr p;
	char luid[8];
	size_t size;
	int fd, value;

	begin();
	OK(cu.cuMemAlloc_v2(&p, 1 << 21));
	CHECK_INT(cu.cuMemGetHandleForAddressRange(&fd, p, 4096, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
	CHECK_INT(cu.cuMemGetHandleForAddressRange(&fd, p + 1, 4096, 1, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(cu.cuMulticastGetGranularity(&size, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(cu.cuDeviceGetLuid(luid, &mask, 0), CUDA_ERROR_NOT_SUPPORTED);
	OK(cu.cuDeviceGetAttribute(&value, 132, 0));
	CHECK_INT(value, 0); /* multicast */
	OK(cu.cuDeviceGetExecAffinitySupport(&value, 0, 0));
	OK(cu.cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 1, 0));
	CHECK_INT(cu.cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 3, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK_INT(cu.cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 1, 1), CUDA_ERROR_INVALID_DEVICE);
	OK(cu.cuMemGetDefaultMemPool(&pool, &here, 1));
	OK(cu.cuDeviceGetDefaultMemPool(&same, 0));
	CHECK(pool == same);
	CHECK_INT(cu.cuMemPoolSetAccess(pool, &none, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cu.cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
	CHECK_INT(flag, 1);
	OK(cu.cuCtxSetFlags(4));
	OK(cu.cuCtxGetFlags(&flag));
	CHECK_INT(flag, 4);
	CHECK_INT(cu.cuCtxSetFlags(1 << 20), CUDA_ERROR_INVALID_VALUE);
}
