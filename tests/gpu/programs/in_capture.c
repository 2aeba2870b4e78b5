/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which driver calls a recorder may make while a stream is being captured: each is made inside a
 * capture of every mode, and the capture must end well. Then what they cost, and whether a shared
 * handle can be told again on the other side.
 *   cc -O2 -o in_capture in_capture.c -lcuda && ./in_capture
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OK(CALL)                                                                                                       \
	do {                                                                                                               \
		CUresult err_ = (CALL);                                                                                        \
		if (err_ != CUDA_SUCCESS) {                                                                                    \
			printf("%s: %d\n", #CALL, (int)err_);                                                                      \
			exit(1);                                                                                                   \
		}                                                                                                              \
	} while (0)

static CUdevice device;
static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static CUmemoryPool pool;
static CUgraph graph;
static CUevent event;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static CUresult pool_reserved(void)
{
	cuuint64_t v;
	return cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &v);
}
static CUresult pool_used(void)
{
	cuuint64_t v;
	return cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v);
}
static CUresult graph_reserved(void)
{
	cuuint64_t v;
	return cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &v);
}
static CUresult current(void)
{
	CUcontext c;
	return cuCtxGetCurrent(&c);
}
static CUresult current_device(void)
{
	CUdevice d;
	return cuCtxGetDevice(&d);
}
static CUresult mem_info(void)
{
	size_t free_bytes, total;
	return cuMemGetInfo(&free_bytes, &total);
}
static CUresult device_pool(void)
{
	CUmemoryPool p;
	return cuDeviceGetMemPool(&p, device);
}
static CUresult default_pool(void)
{
	CUmemoryPool p;
	return cuDeviceGetDefaultMemPool(&p, device);
}
static CUresult pool_of_pointer(void)
{
	CUmemoryPool p;
	return cuPointerGetAttribute(&p, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory);
}
static CUresult range_of_pointer(void)
{
	CUdeviceptr base;
	size_t size;
	return cuMemGetAddressRange(&base, &size, memory);
}
static CUresult capture_info(void)
{
	CUstreamCaptureStatus status;
	cuuint64_t id;
	return cuStreamGetCaptureInfo(stream, &status, &id, NULL, NULL, NULL, NULL);
}
static CUresult is_capturing(void)
{
	CUstreamCaptureStatus status;
	return cuStreamIsCapturing(stream, &status);
}
static CUresult stream_context(void)
{
	CUcontext c;
	return cuStreamGetCtx(stream, &c);
}
static CUresult graph_nodes(void)
{
	size_t nr = 0;
	return cuGraphGetNodes(graph, NULL, &nr);
}
static CUresult primary_state(void)
{
	unsigned int flags;
	int active;
	return cuDevicePrimaryCtxGetState(device, &flags, &active);
}
static CUresult alloc_sync(void)
{
	CUdeviceptr p;
	CUresult err = cuMemAlloc(&p, 4 << 20);
	return err; /* left: freeing is another question */
}
static CUresult query_event(void)
{
	CUresult err = cuEventQuery(event);
	return err == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : err;
}

static const struct {
	const char *name;
	CUresult (*call)(void);
} queries[] = {
	{ "cuMemPoolGetAttribute(RESERVED)", pool_reserved },
	{ "cuMemPoolGetAttribute(USED)", pool_used },
	{ "cuDeviceGetGraphMemAttribute", graph_reserved },
	{ "cuCtxGetCurrent", current },
	{ "cuCtxGetDevice", current_device },
	{ "cuMemGetInfo", mem_info },
	{ "cuDeviceGetMemPool", device_pool },
	{ "cuDeviceGetDefaultMemPool", default_pool },
	{ "cuPointerGetAttribute(MEMPOOL)", pool_of_pointer },
	{ "cuMemGetAddressRange", range_of_pointer },
	{ "cuStreamGetCaptureInfo", capture_info },
	{ "cuStreamIsCapturing", is_capturing },
	{ "cuStreamGetCtx", stream_context },
	{ "cuGraphGetNodes (another graph)", graph_nodes },
	{ "cuDevicePrimaryCtxGetState", primary_state },
	{ "cuMemAlloc", alloc_sync },
	{ "cuEventQuery", query_event },
};

static const char *const mode_names[] = { "global", "thread-local", "relaxed" };

static void in_captures(void)
{
	printf("%-34s %-13s %8s %12s %8s\n", "call", "mode", "answers", "capture ends", "ns");
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		for (int mode = 0; mode < 3; mode++) {
			CUgraph captured = NULL;
			CUresult answer, end;
			double begin, ns;

			OK(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
			OK(cuMemsetD8Async(memory, 1, 100, stream));
			answer = queries[i].call();
			end = cuStreamEndCapture(stream, &captured);
			if (captured)
				cuGraphDestroy(captured);
			begin = now_ns();
			for (int k = 0; k < 200 && queries[i].call != alloc_sync; k++)
				queries[i].call();
			ns = (now_ns() - begin) / 200;
			printf("%-34s %-13s %8d %12d %8.0f\n", queries[i].name, mode_names[mode], (int)answer, (int)end, ns);
		}
	}
}

/* Is anything of a shared handle the same on both sides? */
static void shared_handle(void)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		                         .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		                         .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device } };
	CUmemAccessDesc access = { .location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemGenericAllocationHandle handle[3];
	CUdeviceptr at[3];

	OK(cuMemCreate(&handle[0], 4 << 20, &prop, 0));
	OK(cuMemCreate(&handle[1], 4 << 20, &prop, 0));
	for (int i = 0; i < 3; i++) {
		unsigned long long id = 0;
		struct stat st;
		int fd = -1;

		OK(cuMemExportToShareableHandle(&fd, handle[i ? i - 1 : 0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
		fstat(fd, &st);
		if (i == 2)
			OK(cuMemImportFromShareableHandle(&handle[2], (void *)(long)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
		OK(cuMemAddressReserve(&at[i], 4 << 20, 0, 0, 0));
		OK(cuMemMap(at[i], 4 << 20, 0, handle[i], 0));
		OK(cuMemSetAccess(at[i], 4 << 20, &access, 1));
		OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, at[i]));
		printf("handle %d: value %llx export fd dev %lx ino %lu rdev %lx, buffer id %llu\n", i,
		       (unsigned long long)handle[i], (long)st.st_dev, (unsigned long)st.st_ino, (long)st.st_rdev, id);
	}
	printf("(0 and 2 are made and imported separately; 2 is an import of 1)\n");
}

int main(void)
{
	CUcontext retained;
	double begin;
	size_t nr = 2000;
	CUgraphNode nodes[2000];

	setvbuf(stdout, NULL, _IOLBF, 0);
	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&retained, device));
	context = retained;
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(cuEventRecord(event, NULL));
	OK(cuDeviceGetDefaultMemPool(&pool, device));
	OK(cuMemAllocAsync(&memory, 1 << 20, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (int i = 0; i < 2000; i++)
		OK(cuMemsetD8Async(memory, (unsigned char)i, 100, stream));
	OK(cuStreamEndCapture(stream, &graph));
	begin = now_ns();
	OK(cuGraphGetNodes(graph, nodes, &nr));
	printf("cuGraphGetNodes of %zu: %.0f ns\n", nr, now_ns() - begin);
	begin = now_ns();
	for (size_t i = 0; i < nr; i++) {
		CUgraphNodeType type;
		OK(cuGraphNodeGetType(nodes[i], &type));
	}
	printf("cuGraphNodeGetType: %.1f ns each\n", (now_ns() - begin) / (double)nr);
	in_captures();
	shared_handle();
	return 0;
}
