/* SPDX-License-Identifier: Apache-2.0 */
/* What a handle says of the function or the kernel that it stands for. */
#include <stdlib.h>
#include <string.h>

#include "sim_image.h"

CUresult sim_function_from(const void *handle, struct sim_function **function)
{
	*function = sim_object_get(handle, SIM_FUNCTION);
	if (!*function)
		*function = sim_object_get(handle, SIM_KERNEL);
	return *function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

uint64_t sim_function_params(CUfunction handle)
{
	struct sim_function *function;

	return sim_function_from(handle, &function) == CUDA_SUCCESS ? function->about->params : 0;
}

const char *sim_function_name(CUfunction handle)
{
	struct sim_function *function;

	return sim_function_from(handle, &function) == CUDA_SUCCESS ? function->about->name : NULL;
}

void **sim_function_copy_params(CUfunction handle, void **params)
{
	struct sim_function *function;
	const struct sim_symbol *about;
	void **copy;
	unsigned i;

	if (!params || sim_function_from(handle, &function) != CUDA_SUCCESS || !function->about->param_nr)
		return NULL;
	about = function->about;
	copy = malloc(about->param_nr * sizeof(void *) + about->params);
	for (i = 0; copy && i < about->param_nr; i++) {
		copy[i] = (char *)(copy + about->param_nr) + about->param[i].offset;
		memcpy(copy[i], params[i], about->param[i].size);
	}
	return copy;
}
