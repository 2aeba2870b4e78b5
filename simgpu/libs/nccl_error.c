/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated NCCL says of errors, and of itself. */
#include "simgpu/libs/nccl.h"

#include <pthread.h>
#include <stdio.h>

/* One for the process, as NCCL has it: threads that watch others ask for it. */
static char last[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int nccl_fail(int result, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	pthread_mutex_lock(&lock);
	vsnprintf(last, sizeof(last), format, arguments);
	pthread_mutex_unlock(&lock);
	va_end(arguments);
	return result;
}

SIM_EXPORT const char *ncclGetLastError(struct nccl_comm *comm);
const char *ncclGetLastError(struct nccl_comm *comm)
{
	(void)comm;
	SIM_CALLED("text");
	return last;
}
NCCL_ALSO(ncclGetLastError);

SIM_EXPORT const char *ncclGetErrorString(int result);
const char *ncclGetErrorString(int result)
{
	static const char *const texts[] = {
		[NCCL_SUCCESS] = "no error",
		[NCCL_CUDA_ERROR] = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
		[NCCL_SYSTEM_ERROR] = "unhandled system error (run with NCCL_DEBUG=INFO for details)",
		[NCCL_INTERNAL_ERROR] = "internal error",
		[NCCL_INVALID_ARGUMENT] = "invalid argument (ncclGetLastError says more)",
		[NCCL_INVALID_USAGE] = "invalid usage (ncclGetLastError says more)",
		[NCCL_REMOTE_ERROR] = "remote process exited or there was a network error",
		[NCCL_IN_PROGRESS] = "NCCL operation in progress",
	};

	SIM_CALLED("text");
	return result < 0 || result > NCCL_IN_PROGRESS ? "unknown result code" : texts[result];
}
NCCL_ALSO(ncclGetErrorString);

SIM_EXPORT int ncclGetVersion(int *version);
int ncclGetVersion(int *version)
{
	SIM_CALLED("answers");
	if (!version)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "ncclGetVersion: no place for the version");
	*version = NCCL_VERSION;
	return NCCL_SUCCESS;
}
NCCL_ALSO(ncclGetVersion);

SIM_EXPORT void ncclResetDebugInit(void);
void ncclResetDebugInit(void)
{
	SIM_CALLED("nothing");
}
NCCL_ALSO(ncclResetDebugInit);
