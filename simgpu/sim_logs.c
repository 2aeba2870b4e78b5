/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's log. The simulated driver writes nothing to it, so it is always empty. */
#include <stdio.h>

#include "sim.h"

struct listener {
	struct sim_object object;
	CUlogsCallback call;
};

CUresult sim_body_cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback)
{
	struct listener *listener;

	(void)userData;
	if (!callbackFunc)
		return CUDA_ERROR_INVALID_VALUE;
	listener = sim_object_new(SIM_LISTENER, NULL, sizeof(*listener));
	if (!listener)
		return CUDA_ERROR_OUT_OF_MEMORY;
	listener->call = callbackFunc;
	if (callback)
		*callback = (CUlogsCallbackHandle)listener;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
	struct listener *listener = sim_object_get(callback, SIM_LISTENER);

	if (!listener)
		return CUDA_ERROR_INVALID_VALUE;
	sim_object_delete(listener);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLogsCurrent(CUlogIterator *iterator, unsigned int flags)
{
	if (!iterator || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*iterator = 0;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
	FILE *to;

	if (!pathToFile || flags || (iterator && *iterator))
		return CUDA_ERROR_INVALID_VALUE;
	to = fopen(pathToFile, "ae");
	if (!to)
		return CUDA_ERROR_INVALID_VALUE;
	return fclose(to) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

CUresult sim_body_cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
	if (!buffer || !size || flags || (iterator && *iterator))
		return CUDA_ERROR_INVALID_VALUE;
	if (*size)
		*buffer = 0;
	*size = 0;
	return CUDA_SUCCESS;
}
