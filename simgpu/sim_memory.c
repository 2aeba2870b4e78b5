/* SPDX-License-Identifier: Apache-2.0 */
/* Device and host allocations, arrays, and what the driver says of a pointer. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim.h"

/* ---- device memory ---- */
CUresult sim_body_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	struct sim_context *context;
	struct sim_range *range;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!dptr || !bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_stream_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	result = sim_heap_alloc(context, bytesize, &range);
	if (result == CUDA_SUCCESS)
		*dptr = range->start;
	return result;
}

CUresult sim_body_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                     unsigned int ElementSizeBytes)
{
	uint64_t pitch = sim_round_up(WidthInBytes, sim.profile.pitch_align);
	CUresult result;

	if (!pPitch || !WidthInBytes || !Height || pitch < WidthInBytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
		return CUDA_ERROR_INVALID_VALUE;
	if (Height > UINT64_MAX / pitch)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = sim_body_cuMemAlloc_v2(dptr, pitch * Height);
	if (result == CUDA_SUCCESS)
		*pPitch = pitch;
	return result;
}

CUresult sim_body_cuMemFree_v2(CUdeviceptr dptr)
{
	struct sim_range *range = sim_range_exactly(dptr);

	if (!dptr)
		return CUDA_SUCCESS;
	if (range && range->kind == SIM_RANGE_HEAP && !sim_pool_has_freed(range))
		sim_heap_free(range);
	else if (range && range->kind == SIM_RANGE_MANAGED)
		sim_managed_free(range);
	else if (range && range->kind == SIM_RANGE_POOL)
		sim_pool_free(range);
	else if (range && range->kind == SIM_RANGE_GRAPH)
		return sim_graph_memory_free(range);
	else
		return CUDA_ERROR_INVALID_VALUE;
	sim_pending_finish();
	return CUDA_SUCCESS;
}

/* ---- host memory: of the device it takes what maps it ---- */
static CUresult alloc_host(void **pp, size_t bytesize, unsigned flags)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);
	struct sim_range *range;
	uint64_t span;
	void *at;

	if (result != CUDA_SUCCESS)
		return result;
	if (!pp || !bytesize || flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	span = sim_round_up(bytesize, 4096);
	if (span < bytesize)
		return CUDA_ERROR_OUT_OF_MEMORY;
	at = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range = sim_range_add(SIM_RANGE_HOST, (uint64_t)(uintptr_t)at, bytesize);
	if (!range || sim_host_map(context, (uint64_t)(uintptr_t)at, bytesize) != CUDA_SUCCESS) {
		if (range)
			sim_range_remove(range);
		munmap(at, span);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	range->context = context;
	range->device = context->device;
	range->span = span;
	range->flags = flags | CU_MEMHOSTALLOC_DEVICEMAP; /* addresses are unified */
	*pp = at;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
	return alloc_host(pp, bytesize, 0);
}

CUresult sim_body_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
	return alloc_host(pp, bytesize, Flags);
}

CUresult sim_body_cuMemFreeHost(void *p)
{
	struct sim_range *range = sim_range_exactly((uint64_t)(uintptr_t)p);

	if (!p)
		return CUDA_SUCCESS;
	if (!range || range->kind != SIM_RANGE_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	sim_host_free(range);
	sim_pending_finish();
	return CUDA_SUCCESS;
}

void sim_host_leave(struct sim_range *range)
{
	sim_host_unmap(range->context, range->start, range->size);
	sim_range_remove(range);
}

void sim_host_free(struct sim_range *range)
{
	munmap((void *)(uintptr_t)range->start, range->span);
	sim_host_leave(range);
}

CUresult sim_body_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
	uint64_t start = (uint64_t)(uintptr_t)p;
	struct sim_context *context;
	struct sim_range *range;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!p || !bytesize || start + bytesize < start)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_range_at(start) || sim_range_at(start + bytesize - 1))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	range = sim_range_add(SIM_RANGE_REGISTERED, start, bytesize);
	if (!range)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = sim_host_map(context, start, bytesize);
	if (result != CUDA_SUCCESS) {
		sim_range_remove(range);
		return result;
	}
	range->context = context;
	range->device = context->device;
	range->flags = Flags;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemHostUnregister(void *p)
{
	struct sim_range *range = sim_range_exactly((uint64_t)(uintptr_t)p);

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	if (!range || range->kind != SIM_RANGE_REGISTERED)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	sim_host_leave(range);
	sim_pending_finish();
	return CUDA_SUCCESS;
}

static struct sim_range *host_range(const void *p)
{
	struct sim_range *range = sim_range_at((uint64_t)(uintptr_t)p);

	return range && (range->kind == SIM_RANGE_HOST || range->kind == SIM_RANGE_REGISTERED) ? range : NULL;
}

CUresult sim_body_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
	if (!pdptr || Flags || !host_range(p))
		return CUDA_ERROR_INVALID_VALUE;
	*pdptr = (CUdeviceptr)(uintptr_t)p;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
	struct sim_range *range = host_range(p);

	if (!pFlags || !range)
		return CUDA_ERROR_INVALID_VALUE;
	*pFlags = range->flags;
	return CUDA_SUCCESS;
}

/* ---- pointers ---- */
CUresult sim_body_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
	struct sim_range *range = sim_range_at(dptr);

	if (!range)
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = range->start;
	if (psize)
		*psize = range->size;
	return CUDA_SUCCESS;
}

static bool is_host(const struct sim_range *range)
{
	return range->kind == SIM_RANGE_HOST || range->kind == SIM_RANGE_REGISTERED;
}

static CUresult pointer_attribute(void *data, CUpointer_attribute attribute, const struct sim_range *range,
                                  CUdeviceptr ptr)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = (CUcontext)range->context;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = is_host(range) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!is_host(range) && range->kind != SIM_RANGE_MANAGED)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)data = (void *)(uintptr_t)ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)data = range->id;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)data = range->kind == SIM_RANGE_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = range->device;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = range->start;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = range->size;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned *)data = 1;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*(unsigned *)data = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(unsigned *)data = range->kind == SIM_RANGE_HEAP;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*(unsigned *)data = range->kind == SIM_RANGE_MAPPED ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*(unsigned *)data = 3; /* read and write */
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		*(size_t *)data = range->size;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		*(CUdeviceptr *)data = range->start;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		*(unsigned long long *)data = range->id;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(void **)data = range->kind == SIM_RANGE_POOL || range->kind == SIM_RANGE_POOL_IMPORT ? range->owner : NULL;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CUresult sim_body_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct sim_range *range = sim_range_at(ptr);

	if (!data || !range)
		return CUDA_ERROR_INVALID_VALUE;
	return pointer_attribute(data, attribute, range, ptr);
}

/* Of a pointer that is none of ours, every attribute is 0 of 8 bytes at most, and that is no error. */
CUresult sim_body_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                         CUdeviceptr ptr)
{
	struct sim_range *range = sim_range_at(ptr);
	unsigned i;

	if (!attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < numAttributes; i++) {
		bool is_word =
			attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE || attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
			attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL || attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED ||
			attributes[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
			attributes[i] == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE ||
			(attributes[i] >= CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES &&
		     attributes[i] <= CU_POINTER_ATTRIBUTE_ACCESS_FLAGS);

		if (!range || pointer_attribute(data[i], attributes[i], range, ptr) != CUDA_SUCCESS)
			memset(data[i], 0, is_word ? 4 : 8);
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	(void)attribute;
	return value && sim_range_at(ptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
