/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated CUDA runtime: code. nvcc's start-up code registers each kernel and global by a host address; the code
 * itself is loaded when a kernel of it is launched first on a device, as a module of the simulated driver that has
 * that one kernel. What it takes there is code.def's.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/cudart.h"

/* A kernel or a global; with what the driver made of it on each device. */
struct symbol {
	const void *host;
	const char *name;
	size_t bytes; /* of a global */
	void **made;  /* by device: CUfunction, or the address of the global; NULL: none anywhere */
	struct symbol *next;
};

enum { BUCKETS = 1 << 16 };
static struct symbol *kernels[BUCKETS], *globals[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What the code of a library takes (code.def), and on which devices a kernel of it was loaded. */
static struct rule {
	const char *file;
	size_t library, kernel;
	int asserts;
	uint64_t loaded;
} rules[] = {
#define CODE(file, library, kernel, asserts) { file, library, kernel, asserts, 0 },
#include "simgpu/libs/code.def"
};

static size_t bucket(const void *host)
{
	return ((uintptr_t)host >> 3) * 2654435761u >> 16 & (BUCKETS - 1);
}

static struct symbol *find(struct symbol **table, const void *host)
{
	struct symbol *symbol = __atomic_load_n(&table[bucket(host)], __ATOMIC_ACQUIRE);

	while (symbol && symbol->host != host)
		symbol = symbol->next;
	return symbol;
}

/* Under the lock. */
static void **made_of(struct symbol *symbol)
{
	if (!symbol->made)
		__atomic_store_n(&symbol->made, calloc(CUDART_DEVICES, sizeof(void *)), __ATOMIC_RELEASE);
	return symbol->made;
}

static void add(struct symbol **table, const void *host, const char *name, size_t bytes)
{
	struct symbol *symbol = calloc(1, sizeof(*symbol)), **first = &table[bucket(host)];

	if (!symbol)
		return;
	*symbol = (struct symbol){ host, name, bytes, NULL, NULL };
	pthread_mutex_lock(&lock);
	symbol->next = *first;
	__atomic_store_n(first, symbol, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

SIM_EXPORT void **__cudaRegisterFatBinary(void *binary);
void **__cudaRegisterFatBinary(void *binary)
{
	(void)binary;
	SIM_CALLED("");
	return calloc(1, sizeof(void *)); /* a handle: all else is by the host's addresses */
}

/* The symbols of a library that goes stay: the address is a new one's only when that registers it again. */
SIM_EXPORT void __cudaUnregisterFatBinary(void **module);
void __cudaUnregisterFatBinary(void **module)
{
	(void)module;
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **module);
void __cudaRegisterFatBinaryEnd(void **module)
{
	(void)module;
}

SIM_EXPORT char __cudaInitModule(void **module);
char __cudaInitModule(void **module)
{
	(void)module;
	return 1;
}

SIM_EXPORT void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit,
                                       void *tid, void *bid, void *block, void *grid, int *warp);
void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *warp)
{
	(void)module, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	add(kernels, host, name, 0);
}

SIM_EXPORT void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int external, size_t bytes,
                                  int constant, int global);
void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global)
{
	(void)module, (void)device, (void)external, (void)constant, (void)global;
	add(globals, host, name, bytes);
}

SIM_EXPORT void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name, int external,
                                         size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name, int external, size_t bytes,
                              int constant, int global)
{
	(void)module, (void)device, (void)name, (void)external, (void)constant, (void)global;
	*host = calloc(1, bytes ? bytes : 1);
}

SIM_EXPORT void __cudaRegisterHostVar(void **module, const char *name, void *host, size_t bytes);
void __cudaRegisterHostVar(void **module, const char *name, void *host, size_t bytes)
{
	(void)module, (void)name, (void)host, (void)bytes;
}

/* A kernel's name as the simulated driver takes it: templates have names of a kilobyte. */
enum { LABEL_BYTES = 256 };
static void label(char *out, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;
	const char *c;

	for (c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	if (strlen(name) < LABEL_BYTES)
		strcpy(out, name);
	else
		snprintf(out, LABEL_BYTES, "%.*s~%016llx", LABEL_BYTES - 32, name, (unsigned long long)hash);
}

static struct rule *rule_of(const struct symbol *kernel)
{
	Dl_info where = { 0 };
	const char *file = "", *slash;
	size_t i = 0;

	if (dladdr(kernel->host, &where) && where.dli_fname) {
		slash = strrchr(where.dli_fname, '/');
		file = slash ? slash + 1 : where.dli_fname;
	}
	while (strncmp(file, rules[i].file, strlen(rules[i].file)) != 0)
		i++;
	return &rules[i];
}

/* Under the lock: a module of the simulated driver, in its own words (docs/SIMGPU.md), that is this kernel alone. */
static void *load(const struct symbol *kernel, int device)
{
	struct rule *rule = rule_of(kernel);
	bool is_first = !(rule->loaded >> device & 1);
	char name[LABEL_BYTES], *image = NULL;
	void *library = NULL, *function = NULL;
	int mode = 2; /* relaxed: loading disturbs no capture */

	label(name, kernel->name);
	if (asprintf(&image, "tare-sim-module\nkernel %s code=%zu params=0%s\n", name,
	             rule->kernel + (is_first ? rule->library : 0), rule->asserts ? " assert=1" : "") < 0)
		return NULL;
	SIM_DRIVER("cuThreadExchangeStreamCaptureMode", &mode);
	if (SIM_DRIVER("cuLibraryLoadData", &library, image, NULL, NULL, 0, NULL, NULL, 0) ||
	    SIM_DRIVER("cuLibraryGetKernel", &function, library, name))
		function = NULL;
	else
		rule->loaded |= 1ull << device;
	SIM_DRIVER("cuThreadExchangeStreamCaptureMode", &mode);
	free(image);
	return function;
}

void *cudart_function(const void *host_function, bool *is_new)
{
	struct symbol *kernel = find(kernels, host_function);
	int device = cudart_device();
	void *function, **made;

	*is_new = false;
	if (!kernel || device < 0 || device >= CUDART_DEVICES)
		return NULL;
	made = __atomic_load_n(&kernel->made, __ATOMIC_ACQUIRE);
	function = made ? __atomic_load_n(&made[device], __ATOMIC_ACQUIRE) : NULL;
	if (function)
		return function;
	pthread_mutex_lock(&lock);
	made = made_of(kernel);
	if (made && !made[device]) {
		function = load(kernel, device);
		__atomic_store_n(&made[device], function, __ATOMIC_RELEASE);
		*is_new = true;
	}
	function = made ? made[device] : NULL;
	pthread_mutex_unlock(&lock);
	return function;
}

CUDART(cudaGetFuncBySymbol, void **function, const void *host)
{
	int failed = cudart_context();
	bool is_new;

	if (failed)
		return failed;
	*function = cudart_function(host, &is_new);
	return cudart_result(*function ? 0 : CUDART_INVALID_FUNCTION);
}

CUDART(cudaGetKernel, void **kernel, const void *host)
{
	return cudaGetFuncBySymbol(kernel, host);
}

/* What __cudaLaunchKernel is given back: the program's own address serves. */
CUDART(__cudaGetKernel, const void **kernel, const void *host)
{
	*kernel = host;
	return 0;
}

CUDART(cudaFuncGetName, const char **name, const void *host)
{
	struct symbol *kernel = find(kernels, host);

	if (!kernel)
		return cudart_result(CUDART_INVALID_FUNCTION);
	*name = kernel->name;
	return 0;
}

CUDART(cudaGetSymbolAddress, void **address, const void *host)
{
	struct symbol *global = find(globals, host);
	int failed = cudart_context(), device;
	size_t bytes;
	void **made;

	if (failed)
		return failed;
	if (!global)
		return cudart_result(CUDART_INVALID_SYMBOL);
	device = cudart_device();
	bytes = global->bytes ? global->bytes : 1;
	pthread_mutex_lock(&lock);
	made = made_of(global);
	if (!made)
		failed = CUDART_NO_MEMORY;
	else if (!made[device]) {
		failed = SIM_DRIVER("cuMemAlloc_v2", &made[device], bytes);
		if (!failed)
			SIM_DRIVER("cuMemsetD8_v2", made[device], 0, bytes);
	}
	*address = made ? made[device] : NULL;
	pthread_mutex_unlock(&lock);
	return cudart_result(failed);
}

CUDART(cudaGetSymbolSize, size_t *bytes, const void *host)
{
	struct symbol *global = find(globals, host);

	if (!global)
		return cudart_result(CUDART_INVALID_SYMBOL);
	*bytes = global->bytes;
	return 0;
}

static int copy_symbol(const void *host, size_t offset, const void *from, void *to, size_t size, bool is_async,
                       long stream)
{
	void *address = NULL;
	int failed = cudaGetSymbolAddress(&address, host);

	if (failed)
		return failed;
	address = (char *)address + offset;
	to = to ? to : address;
	from = from ? from : address;
	return cudart_result(is_async ? SIM_DRIVER("cuMemcpyAsync", to, from, size, stream)
	                              : SIM_DRIVER("cuMemcpy", to, from, size));
}

CUDART(cudaMemcpyToSymbol, const void *symbol, const void *from, size_t size, size_t offset, int kind)
{
	(void)kind;
	return copy_symbol(symbol, offset, from, NULL, size, false, 0);
}

CUDART(cudaMemcpyToSymbolAsync, const void *symbol, const void *from, size_t size, size_t offset, int kind, long stream)
{
	(void)kind;
	return copy_symbol(symbol, offset, from, NULL, size, true, stream);
}

CUDART(cudaMemcpyFromSymbol, void *to, const void *symbol, size_t size, size_t offset, int kind)
{
	(void)kind;
	return copy_symbol(symbol, offset, NULL, to, size, false, 0);
}

CUDART(cudaMemcpyFromSymbolAsync, void *to, const void *symbol, size_t size, size_t offset, int kind, long stream)
{
	(void)kind;
	return copy_symbol(symbol, offset, NULL, to, size, true, stream);
}
