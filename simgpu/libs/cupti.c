/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI does beyond its table: time, which device and stream something is, names of results. */
#include "simgpu/libs/cupti.h"

#include <time.h>

int tare_sim_cupti_stream(long stream)
{
	uint64_t id = 0;

	return SIM_DRIVER("cuStreamGetId", stream, &id) ? 0 : (int)id;
}

/* Nanoseconds, as CUPTI's records have them. */
static int tell_time(uint64_t *time)
{
	struct timespec now;

	if (!time || clock_gettime(CLOCK_REALTIME, &now))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return CUPTI_SUCCESS;
}

SIM_EXPORT int cuptiGetTimestamp(uint64_t *time);
int cuptiGetTimestamp(uint64_t *time)
{
	SIM_CALLED("answers");
	return tell_time(time);
}

SIM_EXPORT int cuptiDeviceGetTimestamp(void *context, uint64_t *time);
int cuptiDeviceGetTimestamp(void *context, uint64_t *time)
{
	(void)context;
	SIM_CALLED("answers");
	return tell_time(time);
}

SIM_EXPORT int cuptiGetDeviceId(void *context, uint32_t *device);
int cuptiGetDeviceId(void *context, uint32_t *device)
{
	int found = 0, failed;

	SIM_CALLED("answers");
	if (!device)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (context && SIM_DRIVER("cuCtxPushCurrent_v2", context))
		return CUPTI_ERROR_INVALID_PARAMETER;
	failed = SIM_DRIVER("cuCtxGetDevice", &found);
	if (context)
		SIM_DRIVER("cuCtxPopCurrent_v2", &context);
	if (failed)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*device = (uint32_t)found;
	return CUPTI_SUCCESS;
}

static const char *name_of(int result)
{
	switch (result) {
	case CUPTI_SUCCESS:
		return "CUPTI_SUCCESS";
	case CUPTI_ERROR_INVALID_PARAMETER:
		return "CUPTI_ERROR_INVALID_PARAMETER";
	case CUPTI_ERROR_OUT_OF_MEMORY:
		return "CUPTI_ERROR_OUT_OF_MEMORY";
	case CUPTI_ERROR_MAX_LIMIT_REACHED:
		return "CUPTI_ERROR_MAX_LIMIT_REACHED";
	case CUPTI_ERROR_NOT_SUPPORTED:
		return "CUPTI_ERROR_NOT_SUPPORTED";
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
		return "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
	case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
		return "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED";
	default:
		return "CUPTI_ERROR_UNKNOWN";
	}
}

static int tell_name(int result, const char **text)
{
	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*text = name_of(result);
	return CUPTI_SUCCESS;
}

SIM_EXPORT int cuptiGetResultString(int result, const char **text);
int cuptiGetResultString(int result, const char **text)
{
	SIM_CALLED("text");
	return tell_name(result, text);
}

SIM_EXPORT int cuptiGetErrorMessage(int result, const char **text);
int cuptiGetErrorMessage(int result, const char **text)
{
	SIM_CALLED("text");
	return tell_name(result, text);
}
