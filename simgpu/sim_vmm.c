/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory management: physical memory has a handle and is counted from its creation until
 * its handle and its last mapping are gone; addresses are only addresses.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim.h"
#include "sim_process.h"

struct sim_physical {
	struct sim_object object;
	int device, fd;
	uint64_t size, offset;
	unsigned handles, mappings; /* references */
	bool has_file;              /* fd is its own */
	bool is_imported;           /* not in the books of this process */
	uint64_t share;             /* other processes may hold it too; 0: they do not */
	CUmemAllocationProp prop;
};

int sim_physical_file(const void *physical, uint64_t *offset)
{
	const struct sim_physical *memory = physical;

	*offset += memory->offset;
	return memory->fd;
}

bool sim_physical_is_shared(const void *physical)
{
	const struct sim_physical *memory = physical;

	return memory->share || memory->is_imported;
}

struct reservation {
	struct reservation *next;
	uint64_t start, size;
};
static struct reservation *reservations;

/* ---- physical memory ---- */
static bool is_valid(const CUmemAllocationProp *prop, size_t size)
{
	return prop && prop->type == 1 && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       sim_is_device(prop->location.id) && size && size % sim.profile.vmm_granularity == 0;
}

/* A file of its own only where another process may get it: programs make thousands of these. */
static bool back(struct sim_physical *memory, uint64_t size, bool is_exportable)
{
	memory->size = size;
	if (!is_exportable) {
		memory->fd = sim_backing_fd();
		return memory->fd >= 0 && sim_backing_extend(size, &memory->offset);
	}
	memory->fd = sim_process_high_fd(sim_process_memfd_unique());
	if (memory->fd < 0)
		return false;
	memory->has_file = true;
	if (ftruncate(memory->fd, (off_t)size) == 0)
		return true;
	close(memory->fd);
	return false;
}

CUresult sim_body_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                              unsigned long long flags)
{
	struct sim_physical *made;

	if (!handle || flags || !is_valid(prop, size))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_take(prop->location.id, size) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made = sim_object_new(SIM_PHYSICAL, NULL, sizeof(*made));
	if (!made || !back(made, size, prop->requestedHandleTypes != 0)) {
		sim_object_delete(made);
		sim_give(prop->location.id, size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	made->device = prop->location.id;
	made->handles = 1;
	made->prop = *prop;
	*handle = (uintptr_t)made;
	return CUDA_SUCCESS;
}

static struct sim_physical *physical(CUmemGenericAllocationHandle handle)
{
	return sim_object_get((const void *)(uintptr_t)handle, SIM_PHYSICAL);
}

static void drop(struct sim_physical *memory)
{
	if (memory->handles || memory->mappings)
		return;
	if (memory->share)
		sim_share_drop(sim.shared, sim.slot, memory->share);
	else if (!memory->is_imported)
		sim_give(memory->device, memory->size);
	if (memory->has_file)
		close(memory->fd);
	else
		sim_backing_punch(memory->offset, memory->size);
	sim_object_delete(memory);
}

CUresult sim_body_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct sim_physical *memory = physical(handle);

	if (!memory || !memory->handles)
		return CUDA_ERROR_INVALID_VALUE;
	memory->handles--;
	drop(memory);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
	struct sim_range *range = sim_range_at((uint64_t)(uintptr_t)addr);
	struct sim_physical *memory;

	if (!handle || !range || range->kind != SIM_RANGE_MAPPED)
		return CUDA_ERROR_INVALID_VALUE;
	memory = range->owner;
	memory->handles++;
	*handle = (uintptr_t)memory;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
	struct sim_physical *memory = physical(handle);

	if (!prop || !memory)
		return CUDA_ERROR_INVALID_VALUE;
	*prop = memory->prop;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                                CUmemAllocationGranularity_flags option)
{
	if (!granularity || !prop || option < 0 || option > 1)
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = sim.profile.vmm_granularity;
	return CUDA_SUCCESS;
}

/* ---- to other processes ---- */
/* From now on the memory is on the device for as long as any process holds it. */
static void share(struct sim_physical *memory)
{
	uint64_t id = sim_process_file_id(memory->fd);

	if (memory->share || memory->is_imported || !id)
		return;
	if (sim_share_make(sim.shared, sim.slot, id, sim.devices[memory->device].physical, memory->size))
		memory->share = id;
}

CUresult sim_body_cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                               CUmemAllocationHandleType handleType, unsigned long long flags)
{
	struct sim_physical *memory = physical(handle);
	int fd;

	if (!shareableHandle || !memory || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !memory->has_file)
		return CUDA_ERROR_INVALID_VALUE;
	fd = fcntl(memory->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	share(memory);
	*(int *)shareableHandle = fd;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                                 CUmemAllocationHandleType shHandleType)
{
	struct sim_physical *made;
	off_t size;
	int fd;

	if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	fd = fcntl((int)(intptr_t)osHandle, F_DUPFD_CLOEXEC, 0);
	size = fd < 0 || !sim_process_is_memory(fd) ? -1 : lseek(fd, 0, SEEK_END);
	if (size <= 0) {
		if (fd >= 0)
			close(fd);
		return CUDA_ERROR_INVALID_VALUE;
	}
	made = sim_object_new(SIM_PHYSICAL, NULL, sizeof(*made));
	if (!made) {
		close(fd);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	made->fd = sim_process_high_fd(fd);
	made->size = (uint64_t)size;
	made->handles = 1;
	made->is_imported = made->has_file = true;
	made->share = sim_process_file_id(made->fd);
	if (!sim_share_hold(sim.shared, sim.slot, made->share))
		made->share = 0; /* of another machine: it has the books */
	made->prop.type = 1;
	made->prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	*handle = (uintptr_t)made;
	return CUDA_SUCCESS;
}

/* ---- addresses ---- */
CUresult sim_body_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                      unsigned long long flags)
{
	struct reservation *made;

	(void)addr; /* a wish */
	if (!ptr || !size || size % sim.profile.vmm_granularity || flags || alignment & (alignment - 1) ||
	    alignment > sim.profile.vmm_granularity)
		return CUDA_ERROR_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made->start = sim_backing_reserve(size);
	made->size = size;
	if (!made->start) {
		free(made);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	made->next = reservations;
	reservations = made;
	*ptr = made->start;
	return CUDA_SUCCESS;
}

static bool is_reserved(CUdeviceptr ptr, size_t size)
{
	const struct reservation *at;

	for (at = reservations; at; at = at->next)
		if (ptr >= at->start && size <= at->size && ptr - at->start <= at->size - size)
			return true;
	return false;
}

CUresult sim_body_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	struct reservation **link, *gone;

	for (link = &reservations; *link; link = &(*link)->next) {
		if ((*link)->start != ptr || (*link)->size != size)
			continue;
		gone = *link;
		*link = gone->next;
		munmap((void *)(uintptr_t)ptr, size);
		free(gone);
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                           unsigned long long flags)
{
	struct sim_physical *memory = physical(handle);
	struct sim_range *range;
	void *at;

	if (!memory || flags || offset || !size || size > memory->size || !is_reserved(ptr, size) ||
	    ptr % sim.profile.vmm_granularity || size % sim.profile.vmm_granularity)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_range_at(ptr) || sim_range_at(ptr + size - 1))
		return CUDA_ERROR_INVALID_VALUE;
	at = mmap((void *)(uintptr_t)ptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memory->fd,
	          (off_t)memory->offset);
	range = at == MAP_FAILED ? NULL : sim_range_add(SIM_RANGE_MAPPED, ptr, size);
	if (!range)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range->owner = memory;
	range->device = memory->device;
	memory->mappings++;
	return CUDA_SUCCESS;
}

/* Whole mappings only, as the driver has it. */
CUresult sim_body_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	uint64_t at = ptr;

	if (!size || !is_reserved(ptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	while (at < ptr + size) {
		struct sim_range *range = sim_range_exactly(at);

		if (!range || range->kind != SIM_RANGE_MAPPED || range->size > ptr + size - at)
			return CUDA_ERROR_INVALID_VALUE;
		at += range->size;
	}
	for (at = ptr; at < ptr + size;) {
		struct sim_range *range = sim_range_exactly(at);
		struct sim_physical *memory = range->owner;

		at += range->size;
		mmap((void *)(uintptr_t)range->start, range->size, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
		sim_range_remove(range);
		memory->mappings--;
		drop(memory);
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	size_t i;

	if (!desc || !count || !sim_range_at(ptr) || !size || !sim_range_at(ptr + size - 1))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && !sim_is_device(desc[i].location.id))
			return CUDA_ERROR_INVALID_DEVICE;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
	if (!flags || !location || !sim_range_at(ptr))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = 3; /* read and write */
	return CUDA_SUCCESS;
}

/* ---- what this GPU does not have: arrays of tiles, and memory of several GPUs at one address ---- */
/* Where a CUarrayMapInfo, of which nothing else is needed, has its array. */
#define MAP_INFO_ARRAY 8

CUresult sim_body_cuMemMapArrayAsync(CUarrayMapInfo *mapInfoList, unsigned int count, CUstream hStream)
{
	const void *array;

	(void)hStream;
	if (!mapInfoList || !count)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&array, (const char *)mapInfoList + MAP_INFO_ARRAY, sizeof(array));
	return array ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuMulticastCreate(CUmemGenericAllocationHandle *mcHandle, const CUmulticastObjectProp *prop)
{
	(void)mcHandle;
	(void)prop;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_body_cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev)
{
	(void)mcHandle;
	(void)dev;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_body_cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                                     CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                                     unsigned long long flags)
{
	(void)mcHandle;
	(void)mcOffset;
	(void)memHandle;
	(void)memOffset;
	(void)size;
	(void)flags;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_body_cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr,
                                      size_t size, unsigned long long flags)
{
	return sim_body_cuMulticastBindMem(mcHandle, mcOffset, memptr, 0, size, flags);
}

CUresult sim_body_cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size)
{
	(void)mcOffset;
	(void)size;
	return sim_body_cuMulticastAddDevice(mcHandle, dev);
}
