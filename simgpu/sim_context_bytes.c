/* SPDX-License-Identifier: Apache-2.0 */
/* What a context takes of its device, and gives back. */
#include "sim.h"

CUresult sim_context_take(struct sim_context *context, uint64_t bytes)
{
	CUresult result = sim_take(context->device, bytes);

	if (result == CUDA_SUCCESS)
		context->bytes += bytes;
	return result;
}

void sim_context_give(struct sim_context *context, uint64_t bytes)
{
	sim_give(context->device, bytes);
	context->bytes -= bytes;
}

CUresult sim_context_hold(struct sim_context *context, struct sim_hoard *hoard, uint64_t bytes, uint64_t step)
{
	uint64_t more = 0;
	CUresult result = CUDA_SUCCESS;

	if (hoard->used + bytes > hoard->room)
		more = sim_round_up(hoard->used + bytes - hoard->room, step);
	if (more)
		result = sim_context_take(context, more);
	if (result != CUDA_SUCCESS)
		return result;
	hoard->room += more;
	hoard->used += bytes;
	return CUDA_SUCCESS;
}
