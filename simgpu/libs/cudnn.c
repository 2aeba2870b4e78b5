/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cuDNN: handles, which hold memory and streams of their own; versions and texts. */
#include "simgpu/libs/cudnn.h"

#include <stdio.h>

/*
 * An H100 and an H200 with cuDNN 9.19: each handle takes 8 MiB for four streams, a page apiece, which stay when it
 * ends, and two small allocations (docs/measurements/simulated.md).
 */
enum { STREAMS = 4 };
static const size_t own_memory[] = { 25344, 4 };

SIM_EXPORT int cudnnCreate(struct sim_handle **handle);
int cudnnCreate(struct sim_handle **handle)
{
	enum { NON_BLOCKING = 1, A_PAGE_APIECE = 1 << 30 };
	long stream;
	size_t i;

	SIM_CALLED("makes");
	if (!handle)
		return CUDNN_BAD_PARAMETER;
	*handle = sim_handle_new();
	if (!*handle)
		return CUDNN_NO_MEMORY;
	for (i = 0; i < sizeof(own_memory) / sizeof(own_memory[0]); i++)
		if (!sim_handle_take(*handle, own_memory[i])) {
			sim_handle_end(*handle);
			*handle = NULL;
			return CUDNN_NO_MEMORY;
		}
	for (i = 0; i < STREAMS; i++)
		if (SIM_DRIVER("cuStreamCreate", &stream, NON_BLOCKING | A_PAGE_APIECE))
			SIM_DRIVER("cuStreamCreate", &stream, NON_BLOCKING);
	return CUDNN_SUCCESS;
}

/* The version of the library whose place this one takes, where it lies there: programs compare it with their own. */
SIM_EXPORT size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
	size_t version = SIM_VERSION >= 9 ? cudnn_real_version() : 0;

	return version ? version : SIM_VERSION >= 9 ? 91900 : 8907;
}

SIM_EXPORT int cudnnGetProperty(int which, int *value);
int cudnnGetProperty(int which, int *value)
{
	enum { MAJOR, MINOR, PATCH };
	size_t version = cudnnGetVersion(), unit = SIM_VERSION >= 9 ? 10000 : 1000;

	if (!value || which < MAJOR || which > PATCH)
		return CUDNN_BAD_PARAMETER;
	*value = (int)(which == MAJOR ? version / unit : which == MINOR ? version % unit / 100 : version % 100);
	return CUDNN_SUCCESS;
}

SIM_EXPORT const char *cudnnGetErrorString(int status);
const char *cudnnGetErrorString(int status)
{
	return status == CUDNN_SUCCESS         ? "CUDNN_STATUS_SUCCESS"
	       : status == CUDNN_BAD_PARAMETER ? "CUDNN_STATUS_BAD_PARAM"
	       : status == CUDNN_NO_MEMORY     ? "CUDNN_STATUS_ALLOC_FAILED"
	       : status == CUDNN_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
	                                       : "CUDNN_STATUS_INTERNAL_ERROR";
}

SIM_EXPORT void cudnnGetLastErrorString(char *text, size_t bytes);
void cudnnGetLastErrorString(char *text, size_t bytes)
{
	if (text && bytes)
		*text = '\0';
}
