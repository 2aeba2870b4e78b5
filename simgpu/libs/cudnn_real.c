/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cuDNN: the program's own libcudnn_graph, which knows plans without a device, and the card told to it. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simgpu/libs/cudnn.h"

static struct cudnn_real real;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Whether the library answers for the card: that is asked when there is a device, which may be long after its version was. */
enum state { NO_LIBRARY, NO_DEVICE, REFUSES, ANSWERS };
static enum state state;
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

/*
 * The properties as the library's own serialisation of a card has them, asked of the simulated driver. False: it was not
 * started yet.
 */
static bool describe(char *text, size_t size)
{
	static const struct {
		const char *name;
		int attribute;
	} numbers[] = {
		{ "regsPerBlock", 12 },
		{ "multiProcessorCount", 16 },
		{ "warpSize", 10 },
		{ "maxSharedMemoryPerBlock", 8 },
		{ "maxSharedMemoryPerBlockOptin", 97 },
		{ "reservedSharedMemoryPerBlock", 111 },
		{ "maxRegistersPerSM", 82 },
		{ "maxCtasPerSM", 106 },
		{ "maxThreadsPerBlock", 1 },
		{ "maxThreadsPerSM", 39 },
		{ "pciDeviceId", 34 },
		{ "isTccDriver", 35 },
		{ "supportCoopLaunch", 95 },
		{ "smClockRateKHz", 13 },
		{ "memClockRateKHz", 36 },
		{ "l2CacheSize", 38 },
	};
	int values[sizeof(numbers) / sizeof(numbers[0])] = { 0 }, device = 0, major = 0, minor = 0, driver = 0;
	int size_of[6] = { 0 };
	size_t total = 0, n = 0, i;
	char name[256] = "";

	SIM_DRIVER("cuCtxGetDevice", &device);
	if (SIM_DRIVER("cuDeviceGetName", name, sizeof(name), device))
		return false;
	for (i = 0; i < 6; i++) /* the most threads of a block, then blocks of a grid, in each direction */
		SIM_DRIVER("cuDeviceGetAttribute", &size_of[i], 2 + i, device);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		SIM_DRIVER("cuDeviceGetAttribute", &values[i], numbers[i].attribute, device);
	SIM_DRIVER("cuDeviceGetAttribute", &major, 75, device);
	SIM_DRIVER("cuDeviceGetAttribute", &minor, 76, device);
	SIM_DRIVER("cuDeviceTotalMem_v2", &total, device);
	SIM_DRIVER("cuDriverGetVersion", &driver);
	n = (size_t)snprintf(text, size, "{\"maxGridSize\":[%d,%d,%d],\"maxBlockSize\":[%d,%d,%d],", size_of[3], size_of[4],
	                     size_of[5], size_of[0], size_of[1], size_of[2]);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "\"%s\":%d,", numbers[i].name, values[i]);
	if (n < size)
		snprintf(text + n, size - n,
		         "\"totalGlobalMem\":%zu,\"cudaDeviceId\":0,\"deviceVer\":%d,\"driverVer\":%d,\"deviceName\":\"%s\"}",
		         total, major * 100 + minor * 10, driver, name);
	return true;
}

/* Where to look from the folder of a library that the program has loaded, and what is there. */
struct search {
	const char *place;
	char *found;
};

static int look_beside(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	char *path;

	(void)size;
	if (!slash || strstr(info->dlpi_name, "/simgpu/"))
		return 0;
	if (asprintf(&path, "%.*s%s/libcudnn_graph.so.9", (int)(slash - info->dlpi_name), info->dlpi_name, search->place) <
	    0)
		return 0;
	if (access(path, R_OK) == 0) {
		search->found = path;
		return 1;
	}
	free(path);
	return 0;
}

/*
 * NVIDIA's package beside any library comes before what lies in the folder of one: on a machine with a GPU that may be the
 * system's folder, which has a cuDNN of its own and the C library, and a program with packages does not run on that cuDNN.
 */
static char *find_library(void)
{
	static const char *const places[] = { "/../../nvidia/cudnn/lib", "/../nvidia/cudnn/lib", "/nvidia/cudnn/lib", "" };
	struct search search = { 0 };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !search.found; i++) {
		search.place = places[i];
		dl_iterate_phdr(look_beside, &search);
	}
	return search.found;
}

static void *open_library(void)
{
	const char *set = getenv("TARE_SIM_CUDNN");
	char *path;
	void *library;

	if (set)
		return *set ? dlopen(set, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
	path = find_library();
	library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
	free(path);
	return library;
}

static bool find_functions(void *library)
{
	const struct {
		void *place;
		const char *name;
	} wanted[] = {
		{ &real.create, "cudnnBackendCreateDescriptor" }, { &real.destroy, "cudnnBackendDestroyDescriptor" },
		{ &real.finalize, "cudnnBackendFinalize" },       { &real.set, "cudnnBackendSetAttribute" },
		{ &real.get, "cudnnBackendGetAttribute" },        { &real.version, "cudnnGetVersion" },
	};
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *function = dlsym(library, wanted[i].name);

		if (!function)
			return false;
		memcpy(wanted[i].place, &function, sizeof(function));
	}
	return true;
}

static void find(void)
{
	enum { DEVICELESS_SINCE = 90800 };
	void *library = open_library();

	if (!library || !find_functions(library)) {
		real.version = NULL;
		return;
	}
	state = real.version() < DEVICELESS_SINCE ? REFUSES : NO_DEVICE;
}

size_t cudnn_real_version(void)
{
	pthread_once(&once, find);
	return real.version ? real.version() : 0;
}

static void ask(void)
{
	enum { JSON = 2702 };
	static char text[4096];
	bool answers;

	if (!describe(text, sizeof(text)))
		return;
	answers = !real.create(CUDNN_DEVICE, &real.device) &&
	          !real.set(real.device, JSON, CUDNN_CHAR, (int64_t)strlen(text), text) && !real.finalize(real.device);
	__atomic_store_n(&state, answers ? ANSWERS : REFUSES, __ATOMIC_RELEASE);
	sim_lib_called("libcudnn_graph", answers ? "answers without a device" : "refuses the card");
}

const struct cudnn_real *cudnn_real(void)
{
	pthread_once(&once, find);
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == NO_DEVICE) {
		pthread_mutex_lock(&asking);
		if (state == NO_DEVICE)
			ask();
		pthread_mutex_unlock(&asking);
	}
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == ANSWERS ? &real : NULL;
}
