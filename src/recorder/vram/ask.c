/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver what only the limit of --vram needs to know. */
#include "recorder/vram/limits.h"

#include "recorder/cuda/context.h"
#include "recorder/cuda/handles.h"
#include "recorder/cuda/real.h"
#include "recorder/recorder.h"

enum {
	ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	POOL_RESERVED_NOW = 5,
	POOL_USED_NOW = 7,
};

/* Functions that no hook needs. Each thread that comes first finds the same. */
#define ASKED(X)                                                                                                       \
	X(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice dev))                                                         \
	X(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice dev))                                                  \
	X(cuMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void *value))                                          \
	X(cuStreamIsCapturing, (CUstream stream, int *status))                                                             \
	X(cuStreamIsCapturing_ptsz, (CUstream stream, int *status))

#define X(symbol, params) CUresult(*symbol) params;
static struct {
	ASKED(X)
	bool is_resolved;
} driver;
#undef X

static void resolve(void)
{
	if (likely(__atomic_load_n(&driver.is_resolved, __ATOMIC_ACQUIRE)))
		return;
#define X(symbol, params) *(void **)&driver.symbol = tare_real_symbol(#symbol);
	ASKED(X)
#undef X
	__atomic_store_n(&driver.is_resolved, true, __ATOMIC_RELEASE);
}

uint64_t tare_ask_pool_growth(CUmemoryPool pool, int device, uint64_t bytes)
{
	uint64_t reserved = 0, used = 0, step = TARE_CUDA_POOL_STEP;

	resolve();
	if (!driver.cuMemPoolGetAttribute)
		return 0;
	if (!pool && (!driver.cuDeviceGetMemPool || driver.cuDeviceGetMemPool(&pool, device) != CUDA_SUCCESS))
		return 0;
	/* Used first: what is freed in between can only make this look like more than it is. */
	if (driver.cuMemPoolGetAttribute(pool, POOL_USED_NOW, &used) != CUDA_SUCCESS ||
	    driver.cuMemPoolGetAttribute(pool, POOL_RESERVED_NOW, &reserved) != CUDA_SUCCESS)
		return 0;
	bytes = (bytes + 511) / 512 * 512;
	return used + bytes > reserved ? (used + bytes - reserved + step - 1) / step * step : 0;
}

int tare_ask_pool_device(CUmemoryPool pool)
{
	int device, count = 0;
	CUmemoryPool own;

	resolve();
	if (tare_driver.cuDeviceGetCount)
		tare_driver.cuDeviceGetCount(&count);
	for (device = 0; device < count; device++)
		if ((driver.cuDeviceGetDefaultMemPool && driver.cuDeviceGetDefaultMemPool(&own, device) == CUDA_SUCCESS &&
		     own == pool) ||
		    (driver.cuDeviceGetMemPool && driver.cuDeviceGetMemPool(&own, device) == CUDA_SUCCESS && own == pool))
			return device;
	return tare_context_device(tare_context_current());
}

bool tare_ask_is_capturing(CUstream stream, bool ptsz)
{
	int status = 0;

	resolve();
	if (ptsz ? !driver.cuStreamIsCapturing_ptsz : !driver.cuStreamIsCapturing)
		return false;
	return (ptsz ? driver.cuStreamIsCapturing_ptsz : driver.cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS &&
	       status != 0;
}

static int attribute(int device, CUdevice_attribute which)
{
	int value = 0;

	if (device >= 0 && tare_driver.cuDeviceGetAttribute)
		tare_driver.cuDeviceGetAttribute(&value, which, device);
	return value;
}

bool tare_ask_moves_managed(int device)
{
	return attribute(device, ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0;
}

uint64_t tare_ask_threads(int device)
{
	return (uint64_t)attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
	       (uint64_t)attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
}

uint64_t tare_ask_stack(const void *function, int device)
{
	const void *owner;
	uint32_t name;
	enum tare_function_kind kind = tare_function_find(function, &name, &owner);
	int local = 0;

	if (kind == TARE_FUNCTION_KERNEL && tare_driver.cuKernelGetAttribute)
		tare_driver.cuKernelGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, (CUkernel)function, device);
	else if (kind == TARE_FUNCTION_FUNCTION && tare_driver.cuFuncGetAttribute)
		tare_driver.cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, (CUfunction)function);
	return local > 0 ? (uint64_t)local : 0;
}
