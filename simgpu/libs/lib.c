/* SPDX-License-Identifier: Apache-2.0 */
/* What every simulated library has in it (lib.h): the way to the driver, handles, nodes of captured graphs. */
#include "simgpu/libs/lib.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *driver;
static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

static void open_driver(void)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
}

void *sim_lib_driver(const char *name)
{
	pthread_once(&driver_once, open_driver);
	return driver ? dlsym(driver, name) : NULL;
}

/*
 * Libraries reach the device through the runtime, which starts the driver, and for which a thread without a context is
 * on the first device with its primary context.
 */
static void have_context(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static void *primary;
	void *current = NULL;

	if (SIM_DRIVER("cuCtxGetCurrent", &current) && SIM_DRIVER("cuInit", 0))
		return;
	if (current)
		return;
	pthread_mutex_lock(&lock);
	if (!primary && SIM_DRIVER("cuDevicePrimaryCtxRetain", &primary, 0))
		primary = NULL;
	if (primary)
		SIM_DRIVER("cuCtxSetCurrent", primary);
	pthread_mutex_unlock(&lock);
}

struct sim_handle *sim_handle_new(void)
{
	have_context();
	return calloc(1, sizeof(struct sim_handle));
}

enum { RELAXED = 2 }; /* CU_STREAM_CAPTURE_MODE_RELAXED: what a library does for itself disturbs no capture */

static int exchange_mode(int mode)
{
	SIM_DRIVER("cuThreadExchangeStreamCaptureMode", &mode);
	return mode;
}

bool sim_handle_take(struct sim_handle *handle, size_t bytes)
{
	int mode = exchange_mode(RELAXED), failed;
	uint64_t *place = handle->taken;

	while (*place)
		place++;
	failed = SIM_DRIVER("cuMemAlloc_v2", place, bytes);
	if (failed)
		*place = 0;
	exchange_mode(mode);
	return !failed;
}

void sim_handle_end(struct sim_handle *handle)
{
	int i;

	if (!handle)
		return;
	for (i = 0; i < 8; i++)
		if (handle->taken[i])
			SIM_DRIVER("cuMemFree_v2", handle->taken[i]);
	free(handle->more);
	free(handle);
}

__attribute__((weak)) const size_t sim_lib_code = 16;

/* A kernel with so much code, on the current device; 0: it cannot be loaded. */
static long load_kernel(size_t bytes)
{
	int mode = exchange_mode(RELAXED);
	long module = 0, function = 0;
	char image[96];

	snprintf(image, sizeof(image), "tare-sim-module\nkernel library code=%zu params=0\n", bytes);
	if (SIM_DRIVER("cuModuleLoadData", &module, image) ||
	    SIM_DRIVER("cuModuleGetFunction", &function, module, "library"))
		function = 0;
	exchange_mode(mode);
	return function;
}

void sim_lib_load(size_t bytes)
{
	load_kernel(bytes);
}

/* A kernel that stands for whatever a library would launch: one for each device. */
static long node_function(void)
{
	enum { DEVICES = 64 };
	static long functions[DEVICES];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int device = 0;
	long function;

	if (SIM_DRIVER("cuCtxGetDevice", &device) || device < 0 || device >= DEVICES)
		return 0;
	function = __atomic_load_n(&functions[device], __ATOMIC_ACQUIRE);
	if (function)
		return function;
	pthread_mutex_lock(&lock);
	if (!functions[device])
		__atomic_store_n(&functions[device], load_kernel(sim_lib_code), __ATOMIC_RELEASE);
	function = functions[device];
	pthread_mutex_unlock(&lock);
	return function;
}

void sim_lib_node(long stream)
{
	long function = node_function();

	if (function)
		SIM_DRIVER("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0);
}

void sim_lib_write(int fd, const char *line, size_t length)
{
	ssize_t written = write(fd, line, length);

	(void)written; /* a log that cannot be written is none */
}

void sim_lib_called(const char *name, const char *kind)
{
	const char *file = getenv("TARE_SIM_CALLS");
	char line[256];
	int fd, length;

	if (!file || !*file)
		return;
	length = snprintf(line, sizeof(line), "%d %s %s\n", (int)getpid(), name, kind);
	fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	sim_lib_write(fd, line, length > 0 ? (size_t)length : 0);
	close(fd);
}
