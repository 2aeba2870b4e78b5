/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cuda_private.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULARITY (2ull << 20)

struct fake_world fake;
pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static int memory_fd = -1;
static uint64_t memory_end;

struct physical {
	uint64_t bytes, offset;
	unsigned refs;
	bool is_released;
};
static struct mapping {
	uint64_t address, bytes;
	struct physical *physical;
	bool is_accessible;
} * maps;
static size_t maps_nr;

static struct fake_context {
	int dummy;
} the_context;
static CUcontext current = (CUcontext)&the_context;

void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.total = 8ull << 30;
	if (memory_fd < 0)
		memory_fd = memfd_create("fake_cuda", 0);
}

CUresult fake_enter(void)
{
	__atomic_add_fetch(&fake.calls, 1, __ATOMIC_SEQ_CST);
	if (fake.is_lost)
		return 719; /* CUDA_ERROR_LAUNCH_FAILED */
	return fake.fail_at && fake.calls == fake.fail_at ? fake.fail_with : CUDA_SUCCESS;
}

/* ---- driver, context ---- */
CUresult cuInit(unsigned int flags)
{
	ENTER();
	return flags ? 1 : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	ENTER();
	*version = 13000;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_SOMETHING";
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = current;
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	ENTER();
	current = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	*context = current;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	ENTER();
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	ENTER();
	fake_run(0);
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	ENTER();
	*bytes = fake.total;
	return device ? 101 : CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	ENTER();
	*total = fake.total;
	*free_bytes = fake.total - fake.used;
	return CUDA_SUCCESS;
}

/* ---- virtual memory ---- */
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, int option)
{
	ENTER();
	*granularity = GRANULARITY;
	return prop->type == CU_MEM_ALLOCATION_TYPE_PINNED && !option ? CUDA_SUCCESS : 1;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags)
{
	char *at;

	ENTER();
	if (!size || size % GRANULARITY || alignment || wish || flags)
		return 1;
	at = mmap(NULL, size + GRANULARITY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*address = ((CUdeviceptr)(uintptr_t)at + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
	fake.reservations++;
	return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	size_t i;

	ENTER_FREE();
	for (i = 0; i < maps_nr; i++)
		if (maps[i].address - address < size)
			return 1;
	munmap((void *)(uintptr_t)address, size);
	fake.reservations--;
	return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
	struct physical *made;

	ENTER();
	fake.creates++;
	if (!size || size % GRANULARITY || flags || prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return 1;
	if (fake.used + size > fake.total)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made = calloc(1, sizeof(*made));
	made->bytes = size;
	made->offset = memory_end;
	memory_end += size;
	if (ftruncate(memory_fd, (off_t)memory_end))
		return CUDA_ERROR_OUT_OF_MEMORY;
	fake.used += size;
	fake.high = fake.used > fake.high ? fake.used : fake.high;
	fake.handles++;
	*handle = (uintptr_t)made;
	return CUDA_SUCCESS;
}

static void drop_physical(struct physical *physical)
{
	if (physical->refs || !physical->is_released)
		return;
	fake.used -= physical->bytes;
	free(physical);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct physical *physical = (void *)(uintptr_t)handle;

	ENTER_FREE();
	physical->is_released = true;
	fake.handles--;
	drop_physical(physical);
	return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
	struct physical *physical = (void *)(uintptr_t)handle;
	size_t i;

	ENTER();
	fake.creates++;
	if (offset || size != physical->bytes) /* as measured on an H200 */
		return 801;
	if (flags || address % GRANULARITY)
		return 1;
	for (i = 0; i < maps_nr; i++)
		if (address < maps[i].address + maps[i].bytes && maps[i].address < address + size)
			return 1;
	maps = realloc(maps, (maps_nr + 1) * sizeof(*maps));
	maps[maps_nr++] = (struct mapping){ address, size, physical, false };
	physical->refs++;
	fake.maps++;
	return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	size_t i;

	ENTER_FREE();
	for (i = 0; i < maps_nr; i++)
		if (maps[i].address == address && maps[i].bytes == size)
			break;
	if (i == maps_nr)
		return 1;
	mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	maps[i].physical->refs--;
	drop_physical(maps[i].physical);
	maps[i] = maps[--maps_nr];
	fake.maps--;
	return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count)
{
	uint64_t done = 0;
	size_t i;

	ENTER();
	if (count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
		return 1;
	for (i = 0; i < maps_nr; i++) {
		if (maps[i].address - address >= size)
			continue;
		mmap((void *)(uintptr_t)maps[i].address, maps[i].bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		     memory_fd, (off_t)maps[i].physical->offset);
		done += maps[i].bytes;
	}
	return done == size ? CUDA_SUCCESS : 1;
}
