/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of other processes: they have the books, here their allocations are only mapped. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"
#include "sim_answer.h"
#include "sim_process.h"

struct import {
	struct sim_object object;
	int fd; /* the memory of the process that made the pool */
};

struct pointer {
	uint64_t offset, size;
};

CUresult sim_body_cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                                   CUmemAllocationHandleType handleType, unsigned long long flags)
{
	int fd;

	if (!handle_out || !sim_pool_is(pool) || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	fd = fcntl(sim_backing_fd(), F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	*(int *)handle_out = fd;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                     CUmemAllocationHandleType handleType, unsigned long long flags)
{
	struct import *made;
	int fd;

	if (!pool_out || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	fd = fcntl((int)(intptr_t)handle, F_DUPFD_CLOEXEC, 0);
	made = fd < 0 || !sim_process_is_memory(fd) ? NULL : sim_object_new(SIM_POOL_IMPORT, NULL, sizeof(*made));
	if (!made) {
		if (fd >= 0)
			close(fd);
		return CUDA_ERROR_INVALID_VALUE;
	}
	made->fd = sim_process_high_fd(fd);
	*pool_out = (CUmemoryPool)made;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
	struct sim_range *range = sim_range_exactly(ptr);
	struct pointer pointer;

	if (!shareData_out || !range || range->kind != SIM_RANGE_POOL || !sim_backing_is_shareable(range->offset))
		return CUDA_ERROR_INVALID_VALUE;
	pointer.offset = range->offset;
	pointer.size = range->size;
	memset(shareData_out, 0, sizeof(*shareData_out));
	memcpy(shareData_out, &pointer, sizeof(pointer));
	sim_answer_share(ptr);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData)
{
	struct import *import = sim_object_get(pool, SIM_POOL_IMPORT);
	struct pointer pointer;
	CUresult result;

	if (!ptr_out || !import || !shareData)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&pointer, shareData, sizeof(pointer));
	if (!pointer.size)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_ipc_open(SIM_RANGE_POOL_IMPORT, import->fd, pointer.offset, pointer.size, ptr_out);
	if (result == CUDA_SUCCESS)
		sim_range_exactly(*ptr_out)->owner = import;
	return result;
}
