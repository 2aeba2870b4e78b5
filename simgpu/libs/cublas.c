/* SPDX-License-Identifier: Apache-2.0 */
/* What cuBLAS does beyond its table: a handle holds device memory of its own. */
#include "simgpu/libs/lib.h"

enum { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7 };

/*
 * An H100 and an H200 with cuBLAS 13.1: three allocations of 67,240,960 bytes in all for each handle, from its
 * making to its end (docs/measurements/simulated.md).
 */
static const size_t own_memory[] = { 64 << 20, 128 << 10, 1 << 10 };

/* Together with PyTorch's kernels it fills one step of code more than those do alone, in trainings on both cards. */
const size_t sim_lib_code = 400 << 10;

SIM_EXPORT int cublasCreate_v2(struct sim_handle **handle);
int cublasCreate_v2(struct sim_handle **handle)
{
	size_t i;

	SIM_CALLED("makes");
	if (!handle)
		return INVALID_VALUE;
	*handle = sim_handle_new();
	if (!*handle)
		return ALLOC_FAILED;
	for (i = 0; i < sizeof(own_memory) / sizeof(own_memory[0]); i++)
		if (!sim_handle_take(*handle, own_memory[i])) {
			sim_handle_end(*handle);
			*handle = NULL;
			return ALLOC_FAILED;
		}
	return SUCCESS;
}
