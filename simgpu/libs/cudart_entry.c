/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated CUDA runtime: the driver's functions, for programs that ask the runtime for them. */
#include <string.h>

#include "simgpu/libs/cudart.h"

enum { FOUND = 0, NOT_FOUND = 1 };

static int entry(const char *name, void **function, int version, uint64_t flags, int *status)
{
	int failed = cudart_init(), how = NOT_FOUND, result;

	if (!name || !function)
		return cudart_result(CUDART_INVALID_VALUE);
	*function = NULL;
	if (failed) {
		if (status)
			*status = NOT_FOUND;
		return failed;
	}
	result = SIM_DRIVER("cuGetProcAddress_v2", name, function, version, flags, &how);
	if (!*function)
		sim_lib_called(name, "is not in the simulated driver");
	if (status)
		*status = how;
	return status && (result == 0 || result == 500) ? 0 : cudart_result(result);
}

enum { OWN_VERSION = SIM_VERSION == 11 ? 11080 : SIM_VERSION == 12 ? 12080 : 13000 };

CUDART(cudaGetDriverEntryPoint, const char *name, void **function, unsigned long long flags, int *status)
{
	return entry(name, function, OWN_VERSION, flags, SIM_VERSION == 11 ? NULL : status);
}

CUDART(cudaGetDriverEntryPoint_ptsz, const char *name, void **function, unsigned long long flags, int *status)
{
	enum { PER_THREAD = 2 };

	return entry(name, function, OWN_VERSION, flags | PER_THREAD, SIM_VERSION == 11 ? NULL : status);
}

CUDART(cudaGetDriverEntryPointByVersion, const char *name, void **function, unsigned int version,
       unsigned long long flags, int *status)
{
	return entry(name, function, (int)version, flags, status);
}

CUDART(cudaGetDriverEntryPointByVersion_ptsz, const char *name, void **function, unsigned int version,
       unsigned long long flags, int *status)
{
	return cudaGetDriverEntryPointByVersion(name, function, version, flags | 2, status);
}

/* Private tables: there are none. */
CUDART(cudaGetExportTable, const void **table, const void *id)
{
	(void)id;
	if (table)
		*table = NULL;
	return cudart_result(CUDART_NOT_SUPPORTED);
}
