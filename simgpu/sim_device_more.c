/* SPDX-License-Identifier: Apache-2.0 */
/* What programs ask of a device besides its attributes, and what this one does not have. */
#include "sim.h"

CUresult sim_body_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
	if (!pi || type != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pi = 0; /* of a number of multiprocessors: under MPS only */
	return CUDA_SUCCESS;
}

/* Windows has it. */
CUresult sim_body_cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
	if (!luid || !deviceNodeMask)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_is_device(dev) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_body_cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format,
                                                     unsigned numChannels, CUdevice dev)
{
	if (!maxWidthInElements || format <= 0 || (numChannels != 1 && numChannels != 2 && numChannels != 4))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*maxWidthInElements = 1u << 28;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetNvSciSyncAttributes(void *nvSciSyncAttrList, CUdevice dev, int flags)
{
	if (!nvSciSyncAttrList || flags < 1 || flags > 3)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_is_device(dev) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_body_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                             CUflushGPUDirectRDMAWritesScope scope)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (target || (scope != 100 && scope != 200))
		return CUDA_ERROR_INVALID_VALUE;
	return result;
}

/* Attribute 124 says so, too. */
CUresult sim_body_cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
                                                CUmemRangeHandleType handleType, unsigned long long flags)
{
	if (!handle || !size || flags > 1 || handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || dptr % 4096 ||
	    size % 4096 || !sim_memory_is_on_device(dptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* Attribute 132 says so, too. */
CUresult sim_body_cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop,
                                            CUmulticastGranularity_flags option)
{
	if (!granularity || !prop || option < 0 || option > 1)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_body_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type)
{
	if (!pool_out || !location || type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	return sim_body_cuDeviceGetDefaultMemPool(pool_out, location->id);
}

CUresult sim_body_cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (!pConfig)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*pConfig = 1; /* banks of four bytes, the only ones of our day */
	return result;
}

CUresult sim_body_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
	struct sim_context *context;

	return config < 0 || config > 2 ? CUDA_ERROR_INVALID_VALUE : sim_current(&context);
}
