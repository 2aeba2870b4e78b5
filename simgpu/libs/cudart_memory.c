/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated CUDA runtime: memory, copies and fills. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/cudart.h"

enum copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

CUDART(cudaMalloc, void **pointer, size_t size)
{
	int failed = cudart_context();

	SIM_CALLED("");
	if (failed)
		return failed;
	if (!pointer)
		return cudart_result(CUDART_INVALID_VALUE);
	*pointer = NULL;
	return size ? cudart_result(SIM_DRIVER("cuMemAlloc_v2", pointer, size)) : 0;
}

CUDART(cudaFree, void *pointer)
{
	int failed = cudart_context();

	SIM_CALLED("");
	if (failed || !pointer)
		return failed;
	return cudart_result(SIM_DRIVER("cuMemFree_v2", pointer));
}

CUDART(cudaMallocHost, void **pointer, size_t size)
{
	CUDART_RUN("cuMemHostAlloc", pointer, size, 0);
}

CUDART(cudaFreeHost, void *pointer)
{
	int failed = cudart_context();

	return failed || !pointer ? failed : cudart_result(SIM_DRIVER("cuMemFreeHost", pointer));
}

CUDART(cudaMallocPitch, void **pointer, size_t *pitch, size_t width, size_t height)
{
	CUDART_RUN("cuMemAllocPitch_v2", pointer, pitch, width, height, 16);
}

struct extent {
	size_t width, height, depth;
};
struct pitched {
	void *pointer;
	size_t pitch, xsize, ysize;
};

CUDART(cudaMalloc3D, struct pitched *pitched, struct extent extent)
{
	size_t rows = extent.height * (extent.depth ? extent.depth : 1);

	if (!pitched)
		return cudart_result(CUDART_INVALID_VALUE);
	pitched->xsize = extent.width;
	pitched->ysize = extent.height;
	return cudaMallocPitch(&pitched->pointer, &pitched->pitch, extent.width, rows);
}

/* The driver looks at the addresses; what only the runtime refuses is a direction that is none. */
static int copy(void *to, const void *from, size_t size, unsigned int kind, bool is_async, long stream)
{
	int failed = cudart_context();

	if (failed)
		return failed;
	if (kind > BY_ADDRESS)
		return cudart_result(CUDART_INVALID_COPY_DIRECTION);
	if (!size)
		return 0;
	return cudart_result(is_async ? SIM_DRIVER("cuMemcpyAsync", to, from, size, stream)
	                              : SIM_DRIVER("cuMemcpy", to, from, size));
}

CUDART(cudaMemcpy, void *to, const void *from, size_t size, unsigned int kind)
{
	SIM_CALLED("");
	return copy(to, from, size, kind, false, 0);
}

CUDART(cudaMemcpyAsync, void *to, const void *from, size_t size, unsigned int kind, long stream)
{
	SIM_CALLED("");
	return copy(to, from, size, kind, true, stream);
}

CUDART(cudaMemcpy_ptds, void *to, const void *from, size_t size, unsigned int kind)
{
	return copy(to, from, size, kind, false, 0);
}

CUDART(cudaMemcpyAsync_ptsz, void *to, const void *from, size_t size, unsigned int kind, long stream)
{
	return copy(to, from, size, kind, true, stream ? stream : 2);
}

static int peer(void *to, int to_device, const void *from, int from_device, size_t size, bool is_async, long stream)
{
	int failed = cudart_context();
	void *there, *here;

	if (failed)
		return failed;
	there = cudart_primary(to_device, &failed);
	if (!there)
		return cudart_result(failed);
	here = cudart_primary(from_device, &failed);
	if (!here)
		return cudart_result(failed);
	return cudart_result(is_async ? SIM_DRIVER("cuMemcpyPeerAsync", to, there, from, here, size, stream)
	                              : SIM_DRIVER("cuMemcpyPeer", to, there, from, here, size));
}

CUDART(cudaMemcpyPeer, void *to, int to_device, const void *from, int from_device, size_t size)
{
	return peer(to, to_device, from, from_device, size, false, 0);
}

CUDART(cudaMemcpyPeerAsync, void *to, int to_device, const void *from, int from_device, size_t size, long stream)
{
	return peer(to, to_device, from, from_device, size, true, stream);
}

/* Row by row: the driver's record of a plane asks for the kind of each side, which addresses tell. */
static int copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height,
                     unsigned int kind, bool is_async, long stream)
{
	size_t row;
	int failed = 0;

	if (to_pitch == width && from_pitch == width)
		return copy(to, from, width * height, kind, is_async, stream);
	for (row = 0; row < height && !failed; row++)
		failed = copy(to + row * to_pitch, from + row * from_pitch, width, kind, is_async, stream);
	return failed;
}

CUDART(cudaMemcpy2D, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
       unsigned int kind)
{
	return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, false, 0);
}

CUDART(cudaMemcpy2DAsync, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
       unsigned int kind, long stream)
{
	return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, true, stream);
}

static int fill(void *at, int value, size_t size, bool is_async, long stream)
{
	int failed = cudart_context();

	if (failed || !size)
		return failed;
	return cudart_result(is_async ? SIM_DRIVER("cuMemsetD8Async", at, value & 0xff, size, stream)
	                              : SIM_DRIVER("cuMemsetD8_v2", at, value & 0xff, size));
}

CUDART(cudaMemset, void *at, int value, size_t size)
{
	return fill(at, value, size, false, 0);
}

CUDART(cudaMemsetAsync, void *at, int value, size_t size, long stream)
{
	return fill(at, value, size, true, stream);
}

CUDART(cudaMemset2D, void *at, size_t pitch, int value, size_t width, size_t height)
{
	CUDART_RUN("cuMemsetD2D8_v2", at, pitch, value & 0xff, width, height);
}

CUDART(cudaMemset2DAsync, void *at, size_t pitch, int value, size_t width, size_t height, long stream)
{
	size_t row;
	int failed = 0;

	for (row = 0; row < height && !failed; row++)
		failed = fill((char *)at + row * pitch, value, width, true, stream);
	return failed;
}

struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	long reserved[8];
};

CUDART(cudaPointerGetAttributes, struct pointer_attributes *out, const void *pointer)
{
	enum { MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, IS_MANAGED = 8, ORDINAL = 9 };
	enum { UNREGISTERED, HOST, DEVICE, MANAGED };
	unsigned int type = 0, managed = 0;
	int failed = cudart_context(), device = cudart_device();

	if (failed)
		return failed;
	if (!out)
		return cudart_result(CUDART_INVALID_VALUE);
	memset(out, 0, SIM_VERSION >= 13 ? sizeof(*out) : offsetof(struct pointer_attributes, reserved));
	if (SIM_DRIVER("cuPointerGetAttribute", &type, MEMORY_TYPE, pointer)) {
		out->device = -2; /* memory that nobody told the driver of */
		out->host_pointer = (void *)pointer;
		return 0;
	}
	SIM_DRIVER("cuPointerGetAttribute", &managed, IS_MANAGED, pointer);
	SIM_DRIVER("cuPointerGetAttribute", &device, ORDINAL, pointer);
	SIM_DRIVER("cuPointerGetAttribute", &out->device_pointer, DEVICE_POINTER, pointer);
	SIM_DRIVER("cuPointerGetAttribute", &out->host_pointer, HOST_POINTER, pointer);
	out->device = device;
	out->type = managed ? MANAGED : type == 1 ? HOST : DEVICE;
	return 0;
}

/* What has no capture and no order of its own: the calling thread's stream makes no difference. */
CUDART(cudaMemcpy2D_ptds, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
       unsigned int kind)
{
	return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, false, 0);
}

CUDART(cudaMemcpy2DAsync_ptsz, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
       size_t height, unsigned int kind, long stream)
{
	return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, true, stream ? stream : 2);
}

CUDART(cudaMemset_ptds, void *at, int value, size_t size)
{
	return fill(at, value, size, false, 0);
}

CUDART(cudaMemsetAsync_ptsz, void *at, int value, size_t size, long stream)
{
	return fill(at, value, size, true, stream ? stream : 2);
}

/* A handle is 64 bytes that travel by value. */
struct ipc_handle {
	char bytes[64];
};

CUDART(cudaIpcOpenMemHandle, void **pointer, struct ipc_handle handle, unsigned int flags)
{
	int failed = cudart_context();
	int (*open)(void **, struct ipc_handle, unsigned int);

	if (failed)
		return failed;
	open = (int (*)(void **, struct ipc_handle, unsigned int))sim_lib_driver("cuIpcOpenMemHandle_v2");
	return cudart_result(open ? open(pointer, handle, flags) : CUDART_NOT_SUPPORTED);
}

CUDART(cudaIpcOpenEventHandle, void **event, struct ipc_handle handle)
{
	int failed = cudart_context();
	int (*open)(void **, struct ipc_handle);

	if (failed)
		return failed;
	open = (int (*)(void **, struct ipc_handle))sim_lib_driver("cuIpcOpenEventHandle");
	return cudart_result(open ? open(event, handle) : CUDART_NOT_SUPPORTED);
}
