/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a handle is one of a stream, and of what kind. */
#include "sim_stream.h"

bool sim_stream_is_default(CUstream stream)
{
	return (uintptr_t)stream <= 2;
}

CUresult sim_stream_check(CUstream stream)
{
	return sim_stream_is_default(stream) || sim_object_get(stream, SIM_STREAM) ? CUDA_SUCCESS
	                                                                           : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_stream_use(CUstream stream)
{
	CUresult result = sim_stream_check(stream);

	return result == CUDA_SUCCESS ? sim_capture_bears_work(stream) : result;
}

CUresult sim_stream_context(CUstream stream, struct sim_context **context)
{
	CUresult result = sim_stream_check(stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (sim_stream_is_default(stream))
		return sim_current(context);
	*context = ((struct sim_object *)stream)->context;
	return CUDA_SUCCESS;
}

bool sim_stream_is_blocking(CUstream stream)
{
	const struct sim_stream *made = sim_object_get(stream, SIM_STREAM);

	return !made || !(made->flags & CU_STREAM_NON_BLOCKING);
}
