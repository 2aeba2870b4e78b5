/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of another process or another library: the process that made it has it in its books, so
 * here it is only mapped.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim.h"
#include "sim_answer.h"

struct ipc_handle {
	int32_t pid, fd;
	uint64_t offset, size;
};
_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUipcMemHandle), "the handle has 64 bytes");

CUresult sim_body_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	struct sim_range *range = sim_range_at(dptr);
	struct ipc_handle handle;

	if (!pHandle || !range || range->kind != SIM_RANGE_HEAP || !sim_backing_is_shareable(range->offset))
		return CUDA_ERROR_INVALID_VALUE;
	handle.pid = (int32_t)getpid();
	handle.fd = sim_backing_fd();
	handle.size = range->size;
	handle.offset = range->offset;
	memset(pHandle, 0, sizeof(*pHandle));
	memcpy(pHandle, &handle, sizeof(handle));
	sim_answer_share(dptr);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
	struct sim_context *context;
	struct ipc_handle from;
	CUresult result = sim_current(&context);
	char path[64];
	int fd;

	(void)Flags;
	if (result != CUDA_SUCCESS)
		return result;
	memcpy(&from, &handle, sizeof(from));
	if (!pdptr || !from.size)
		return CUDA_ERROR_INVALID_VALUE;
	if (from.pid == (int32_t)getpid())
		return CUDA_ERROR_INVALID_CONTEXT; /* as the driver: not in the process that made it */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)from.pid, (int)from.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_ipc_open(SIM_RANGE_IPC, fd, from.offset, from.size, pdptr);
	close(fd);
	return result;
}

CUresult sim_body_cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
	return sim_body_cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

CUresult sim_body_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
	struct sim_range *range = sim_range_exactly(dptr);

	if (!range || range->kind != SIM_RANGE_IPC)
		return CUDA_ERROR_INVALID_VALUE;
	sim_ipc_close(range);
	return CUDA_SUCCESS;
}

/* ---- external memory ---- */
struct sim_external {
	struct sim_object object;
	int fd;
	uint64_t size;
};

CUresult sim_body_cuImportExternalMemory(CUexternalMemory *extMem_out,
                                         const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc)
{
	struct sim_context *context;
	struct sim_external *external;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!extMem_out || !memHandleDesc || memHandleDesc->type != 1 || !memHandleDesc->size)
		return CUDA_ERROR_INVALID_VALUE;
	external = sim_object_new(SIM_EXTERNAL, NULL, sizeof(*external));
	if (!external)
		return CUDA_ERROR_OUT_OF_MEMORY;
	external->fd = memHandleDesc->handle.fd; /* the driver owns it from now on */
	external->size = memHandleDesc->size;
	*extMem_out = (CUexternalMemory)external;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuExternalMemoryGetMappedBuffer(CUdeviceptr *devPtr, CUexternalMemory extMem,
                                                  const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc)
{
	struct sim_external *external = sim_object_get(extMem, SIM_EXTERNAL);

	if (!devPtr || !extMem || !bufferDesc)
		return CUDA_ERROR_INVALID_VALUE;
	if (!external)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!bufferDesc->size || bufferDesc->offset > external->size ||
	    bufferDesc->size > external->size - bufferDesc->offset)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_ipc_open(SIM_RANGE_EXTERNAL, external->fd, bufferDesc->offset, bufferDesc->size, devPtr);
}

CUresult sim_body_cuDestroyExternalMemory(CUexternalMemory extMem)
{
	struct sim_external *external = sim_object_get(extMem, SIM_EXTERNAL);

	if (!extMem)
		return CUDA_ERROR_INVALID_VALUE;
	if (!external)
		return CUDA_ERROR_INVALID_HANDLE;
	close(external->fd);
	sim_object_delete(external);
	return CUDA_SUCCESS;
}

/* ---- what is not simulated: its arguments are looked at all the same ---- */
static CUresult unsupported(bool has_arguments)
{
	return has_arguments ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *mipmap, CUexternalMemory extMem,
                                                          const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc)
{
	return unsupported(mipmap && extMem && mipmapDesc);
}

CUresult sim_body_cuImportExternalSemaphore(CUexternalSemaphore *extSem_out,
                                            const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc)
{
	return unsupported(extSem_out && semHandleDesc);
}

CUresult sim_body_cuDestroyExternalSemaphore(CUexternalSemaphore extSem)
{
	return unsupported(extSem);
}

/* ---- events of another process ---- */
/* Another process's event is always ready: that there is one is all that is known of it here. */
struct ipc_event {
	uint64_t mark;
	int32_t pid;
	uint32_t flags;
};
#define EVENT_MARK 0x746e657665657261ull

CUresult sim_body_cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
	struct ipc_event handle = { EVENT_MARK, (int32_t)getpid(), 0 };

	if (!pHandle)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_object_get(event, SIM_EVENT))
		return CUDA_ERROR_INVALID_HANDLE;
	handle.flags = sim_event_flags(event);
	if (!(handle.flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_HANDLE;
	memset(pHandle, 0, sizeof(*pHandle));
	memcpy(pHandle, &handle, sizeof(handle));
	return CUDA_SUCCESS;
}

CUresult sim_body_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
	struct ipc_event from;

	memcpy(&from, &handle, sizeof(from));
	if (!phEvent || from.mark != EVENT_MARK)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_body_cuEventCreate(phEvent, from.flags);
}
