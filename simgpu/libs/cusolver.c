/* SPDX-License-Identifier: Apache-2.0 */
/* What cuSOLVER does beyond its table: a handle holds device memory of its own and a cuBLAS handle. */
#include "simgpu/libs/cusolver.h"

#include "simgpu/libs/version.h"

/* cuSOLVER of CUDA 11.8 and 12 (one soname), and of 13. */
#if SIM_VERSION == 11
static const struct sim_version version = { 11, 6, 1 };
#else
static const struct sim_version version = { 12, 0, 4 };
#endif

/* An H100 with cuSOLVER 12.0: 32 MiB, and what a cuBLAS handle of its own holds. */
static const size_t own_memory[] = { 32 << 20, 64 << 20, 128 << 10, 1 << 10 };

SIM_EXPORT int cusolverDnCreate(struct sim_handle **handle);
int cusolverDnCreate(struct sim_handle **handle)
{
	size_t i;

	SIM_CALLED("makes");
	if (!handle)
		return CUSOLVER_STATUS_INVALID_VALUE;
	*handle = sim_handle_new();
	if (!*handle)
		return CUSOLVER_STATUS_ALLOC_FAILED;
	for (i = 0; i < sizeof(own_memory) / sizeof(own_memory[0]); i++)
		if (!sim_handle_take(*handle, own_memory[i])) {
			sim_handle_end(*handle);
			*handle = NULL;
			return CUSOLVER_STATUS_ALLOC_FAILED;
		}
	return CUSOLVER_STATUS_SUCCESS;
}

SIM_EXPORT int cusolverGetVersion(int *out);
int cusolverGetVersion(int *out)
{
	SIM_CALLED("version");
	if (!out)
		return CUSOLVER_STATUS_INVALID_VALUE;
	*out = version.major * 1000 + version.minor * 100 + version.patch;
	return CUSOLVER_STATUS_SUCCESS;
}

SIM_EXPORT int cusolverGetProperty(int property, int *value);
int cusolverGetProperty(int property, int *value)
{
	SIM_CALLED("version");
	return sim_version_property(&version, property, value) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}
