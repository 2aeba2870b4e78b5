/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated CUDA runtime's state: the driver's start, primary contexts, the current device, the last result. */
#include "simgpu/libs/cudart.h"

#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *primary[CUDART_DEVICES];
static bool is_ready;
static pid_t ready_in; /* the process: a child of fork begins anew, and is refused as by the real driver */
static int ready_result;

static __thread int last_result;
static __thread int current; /* device */

/* As measured: that something is not done yet is no error. */
int cudart_result(int result)
{
	if (result && result != CUDART_NOT_READY)
		last_result = result;
	return result;
}

static int start(void)
{
	int version;

	if (SIM_DRIVER("cuDriverGetVersion", &version))
		return CUDART_INSUFFICIENT_DRIVER;
	return SIM_DRIVER("cuInit", 0);
}

int cudart_init(void)
{
	if (__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE) && ready_in == getpid())
		return cudart_result(ready_result);
	pthread_mutex_lock(&lock);
	if (!is_ready || ready_in != getpid()) {
		ready_result = start();
		ready_in = getpid();
		__atomic_store_n(&is_ready, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return cudart_result(ready_result);
}

void *cudart_primary(int device, int *result)
{
	void *context = NULL;
	int handle = 0;

	*result = CUDART_INVALID_DEVICE;
	if (device < 0 || device >= CUDART_DEVICES)
		return NULL;
	pthread_mutex_lock(&lock);
	*result = 0;
	if (!primary[device]) {
		*result = SIM_DRIVER("cuDeviceGet", &handle, device);
		if (!*result)
			*result = SIM_DRIVER("cuDevicePrimaryCtxRetain", &primary[device], handle);
		if (*result)
			primary[device] = NULL;
	}
	context = primary[device];
	pthread_mutex_unlock(&lock);
	return context;
}

static int work_on(int device)
{
	int result;
	void *context = cudart_primary(device, &result);

	if (!result)
		result = SIM_DRIVER("cuCtxSetCurrent", context);
	return cudart_result(result);
}

static bool has_context(void)
{
	void *context = NULL;

	return !SIM_DRIVER("cuCtxGetCurrent", &context) && context;
}

int cudart_context(void)
{
	int failed = cudart_init();

	if (failed || has_context())
		return failed;
	return work_on(current);
}

int cudart_device(void)
{
	int device = 0;

	return has_context() && !SIM_DRIVER("cuCtxGetDevice", &device) ? device : current;
}

static int device_count(void)
{
	int count = 0;

	return SIM_DRIVER("cuDeviceGetCount", &count) ? 0 : count;
}

CUDART(cudaGetDeviceCount, int *count)
{
	int failed = cudart_init();

	SIM_CALLED("");
	if (!count)
		return cudart_result(CUDART_INVALID_VALUE);
	*count = failed ? 0 : device_count();
	return failed ? failed : cudart_result(*count ? 0 : CUDART_NO_DEVICE);
}

CUDART(cudaGetDevice, int *device)
{
	int failed = cudart_init();

	if (failed)
		return failed;
	if (!device)
		return cudart_result(CUDART_INVALID_VALUE);
	*device = cudart_device();
	return 0;
}

/* In CUDA 11 the context is made at the first call that needs one, from 12 on here. */
CUDART(cudaSetDevice, int device)
{
	int failed = cudart_init();

	SIM_CALLED("");
	if (failed)
		return failed;
	if (device < 0 || device >= device_count())
		return cudart_result(CUDART_INVALID_DEVICE);
	if (SIM_VERSION >= 12 || has_context())
		failed = work_on(device);
	if (!failed)
		current = device;
	return failed;
}

CUDART(cudaInitDevice, int device, unsigned int flags, unsigned int set)
{
	int before = cudart_device(), failed = cudart_init();

	(void)flags, (void)set;
	if (!failed)
		failed = work_on(device);
	if (!failed && before != device)
		work_on(before);
	return failed;
}

CUDART(cudaDeviceReset, void)
{
	int device = cudart_device(), failed = cudart_init();

	if (failed)
		return failed;
	pthread_mutex_lock(&lock);
	failed = SIM_DRIVER("cuDevicePrimaryCtxReset_v2", device);
	primary[device] = NULL;
	pthread_mutex_unlock(&lock);
	SIM_DRIVER("cuCtxSetCurrent", NULL);
	return cudart_result(failed);
}

CUDART(cudaThreadExit, void)
{
	return cudaDeviceReset();
}

CUDART(cudaGetLastError, void)
{
	int result = last_result;

	last_result = 0;
	return result;
}

CUDART(cudaPeekAtLastError, void)
{
	return last_result;
}

CUDART(cudaDeviceEnablePeerAccess, int device, unsigned int flags)
{
	int failed = cudart_context();
	void *peer;

	if (failed)
		return failed;
	peer = cudart_primary(device, &failed);
	return cudart_result(peer ? SIM_DRIVER("cuCtxEnablePeerAccess", peer, flags) : failed);
}

CUDART(cudaDeviceDisablePeerAccess, int device)
{
	int failed = cudart_context();

	if (failed)
		return failed;
	if (device < 0 || device >= CUDART_DEVICES)
		return cudart_result(CUDART_INVALID_DEVICE);
	if (!primary[device])
		return cudart_result(CUDART_PEER_ACCESS_NOT_ENABLED);
	return cudart_result(SIM_DRIVER("cuCtxDisablePeerAccess", primary[device]));
}
