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

bool sim_stream_is_blocking(CUstream stream)
{
	const struct sim_stream *made = sim_object_get(stream, SIM_STREAM);

	return !made || !(made->flags & CU_STREAM_NON_BLOCKING);
}
