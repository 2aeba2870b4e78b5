/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed memory: pages move to the device when it touches them. A kernel does nothing here, so it
 * touches what its image says (`touches=N`); prefetches, copies and fills touch what they name.
 */
#include <stdlib.h>

#include "sim.h"

CUresult sim_body_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
	struct sim_context *context;
	struct sim_range *range;
	CUresult result = sim_current(&context);
	uint64_t span, start, offset = 0;

	if (result != CUDA_SUCCESS)
		return result;
	if (!dptr || !bytesize || (flags & 3) == 0 || (flags & 3) == 3)
		return CUDA_ERROR_INVALID_VALUE;
	span = sim_round_up(bytesize, sim.profile.page);
	start = span < bytesize ? 0 : sim_backing_map(span, &offset);
	range = start ? sim_range_add(SIM_RANGE_MANAGED, start, bytesize) : NULL;
	if (range)
		range->touched = calloc(1, span / sim.profile.page);
	if (!range || !range->touched) {
		if (range)
			sim_range_remove(range);
		if (start)
			sim_backing_unmap(start, span, offset);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	range->span = span;
	range->offset = offset;
	range->context = context;
	range->device = context->device;
	range->flags = flags;
	*dptr = start;
	return CUDA_SUCCESS;
}

/* Pages for managed memory are held in large steps; those that moved to the device stay there. */
static CUresult take_page(struct sim_context *context)
{
	CUresult result = CUDA_SUCCESS;

	if (context->managed_free < sim.profile.page) {
		result = sim_context_take(context, sim.profile.managed_step);
		if (result == CUDA_SUCCESS)
			context->managed_free += sim.profile.managed_step;
	}
	if (result == CUDA_SUCCESS)
		context->managed_free -= sim.profile.page;
	return result;
}

void sim_managed_touch(uint64_t address, uint64_t size)
{
	struct sim_range *range = sim_range_at(address);
	uint64_t page = sim.profile.page, i, last;

	if (!range || range->kind != SIM_RANGE_MANAGED || !size)
		return;
	if (size > range->start + range->size - address)
		size = range->start + range->size - address;
	last = (address + size - 1 - range->start) / page;
	for (i = (address - range->start) / page; i <= last; i++) {
		/* A full device pushes pages back to the host: no error of the program. */
		if (range->touched[i] || take_page(range->context) != CUDA_SUCCESS)
			continue;
		range->touched[i] = 1;
	}
}

void sim_managed_free(struct sim_range *range)
{
	uint64_t i;

	for (i = 0; i < range->span / sim.profile.page; i++)
		if (range->touched[i])
			sim_context_give(range->context, sim.profile.page);
	sim_backing_unmap(range->start, range->span, range->offset);
	sim_range_remove(range);
}

static CUresult prefetch(CUdeviceptr devPtr, size_t count, bool to_device, CUstream stream)
{
	struct sim_range *range = sim_range_at(devPtr);

	if (!range || range->kind != SIM_RANGE_MANAGED || !count || count > range->start + range->size - devPtr)
		return CUDA_ERROR_INVALID_VALUE;
	if (to_device)
		sim_managed_touch(devPtr, count);
	sim_pending_give(stream);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
	CUresult result = sim_stream_use(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (dstDevice != CU_DEVICE_CPU && !sim_is_device(dstDevice))
		return CUDA_ERROR_INVALID_DEVICE;
	return prefetch(devPtr, count, dstDevice != CU_DEVICE_CPU, hStream);
}

CUresult sim_body_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                        CUstream hStream)
{
	CUresult result = sim_stream_use(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (flags || (location.type == CU_MEM_LOCATION_TYPE_DEVICE && !sim_is_device(location.id)))
		return CUDA_ERROR_INVALID_VALUE;
	return prefetch(devPtr, count, location.type == CU_MEM_LOCATION_TYPE_DEVICE, hStream);
}

static CUresult advise(CUdeviceptr devPtr, size_t count)
{
	struct sim_range *range = sim_range_at(devPtr);

	return range && range->kind == SIM_RANGE_MANAGED && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
	(void)advice;
	(void)device;
	return advise(devPtr, count);
}

CUresult sim_body_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
	(void)advice;
	(void)location;
	return advise(devPtr, count);
}

CUresult sim_body_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
	struct sim_range *range = sim_range_exactly(dptr);
	CUresult result = sim_stream_check(hStream);

	(void)length;
	(void)flags;
	if (result != CUDA_SUCCESS)
		return result;
	return range && range->kind == SIM_RANGE_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- many at once ---- */
CUresult sim_body_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
                                          size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                          CUstream hStream)
{
	CUresult result = CUDA_SUCCESS;
	size_t i, to = 0;

	if (!dptrs || !sizes || !count || !prefetchLocs || !prefetchLocIdxs || !numPrefetchLocs || flags ||
	    prefetchLocIdxs[0])
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count && result == CUDA_SUCCESS; i++) {
		while (to + 1 < numPrefetchLocs && prefetchLocIdxs[to + 1] <= i)
			to++;
		result = sim_body_cuMemPrefetchAsync_v2(dptrs[i], sizes[i], prefetchLocs[to], 0, hStream);
	}
	return result;
}

/* What they hold need not be kept, but where it is does not change. */
CUresult sim_body_cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                         CUstream hStream)
{
	CUresult result = sim_stream_check(hStream);
	size_t i;

	if (!dptrs || !sizes || !count || flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = prefetch(dptrs[i], sizes[i], false, hStream);
	return result;
}

CUresult sim_body_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                                    CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                                    size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
	return sim_body_cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags,
	                                        hStream);
}
