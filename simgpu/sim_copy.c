/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies. They happen at once, in the caller's thread: what a program may rely on after it
 * synchronised is already so before. In a stream that captures they become graph nodes instead.
 */
#include <string.h>

#include "sim.h"

/* Device memory from `address` on; neighbouring mappings count as one. */
bool sim_memory_is_on_device(CUdeviceptr address, uint64_t size)
{
	while (size) {
		struct sim_range *range = sim_range_at(address);
		uint64_t left;

		if (!range)
			return false;
		left = range->start + range->size - address;
		if (left >= size)
			return true;
		address += left;
		size -= left;
	}
	return true;
}

static CUresult begin(CUstream stream)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	return result == CUDA_SUCCESS ? sim_stream_use(stream) : result;
}

static int type_of(uint64_t address)
{
	const struct sim_range *range = sim_range_at(address);

	return range && range->kind != SIM_RANGE_HOST && range->kind != SIM_RANGE_REGISTERED ? CU_MEMORYTYPE_DEVICE
	                                                                                     : CU_MEMORYTYPE_HOST;
}

/* A node that does so at each launch. */
static CUresult capture_copy(uint64_t to, uint64_t from, size_t size, CUstream stream)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEMCPY };
	CUDA_MEMCPY3D *about = &params.memcpy.copyParams;

	about->dstMemoryType = type_of(to);
	about->srcMemoryType = type_of(from);
	if (about->dstMemoryType == CU_MEMORYTYPE_DEVICE)
		about->dstDevice = to;
	else
		about->dstHost = (void *)(uintptr_t)to;
	if (about->srcMemoryType == CU_MEMORYTYPE_DEVICE)
		about->srcDevice = from;
	else
		about->srcHost = (const void *)(uintptr_t)from;
	about->WidthInBytes = about->srcPitch = about->dstPitch = size;
	about->Height = about->Depth = about->srcHeight = about->dstHeight = 1;
	return sim_capture_add(stream, &params);
}

enum sides { TO_DEVICE = 1, FROM_DEVICE = 2 };

static CUresult copy(uint64_t to, uint64_t from, size_t size, unsigned sides, CUstream stream)
{
	CUresult result = begin(stream);

	if (result != CUDA_SUCCESS)
		return result;
	if ((sides & TO_DEVICE && !sim_memory_is_on_device(to, size)) ||
	    (sides & FROM_DEVICE && !sim_memory_is_on_device(from, size)))
		return CUDA_ERROR_INVALID_VALUE;
	if (size && (!to || !from))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_stream_graph(stream))
		return capture_copy(to, from, size, stream);
	if (!size)
		return CUDA_SUCCESS;
	sim_memory_move(to, from, size);
	sim_pending_give(stream);
	if (!sim_range_at(to)) /* as documented: what goes to pageable memory is there when the call returns */
		sim_pending_finish();
	return CUDA_SUCCESS;
}

/* The call returns when the copy is done; but for one between two places of the device. */
static CUresult waited(CUresult result)
{
	sim_pending_finish();
	return result;
}

CUresult sim_body_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	return copy(dstDevice, (uint64_t)(uintptr_t)srcHost, ByteCount, TO_DEVICE, hStream);
}

CUresult sim_body_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	return copy((uint64_t)(uintptr_t)dstHost, srcDevice, ByteCount, FROM_DEVICE, hStream);
}

CUresult sim_body_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	return copy(dstDevice, srcDevice, ByteCount, TO_DEVICE | FROM_DEVICE, hStream);
}

/* Either side may be host memory: addresses are unified. */
CUresult sim_body_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
	return copy(dst, src, ByteCount, 0, hStream);
}

CUresult sim_body_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	return waited(sim_body_cuMemcpyHtoDAsync_v2(dstDevice, srcHost, ByteCount, NULL));
}

CUresult sim_body_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	return waited(sim_body_cuMemcpyDtoHAsync_v2(dstHost, srcDevice, ByteCount, NULL));
}

CUresult sim_body_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	return sim_body_cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, NULL);
}

CUresult sim_body_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	CUresult result = sim_body_cuMemcpyAsync(dst, src, ByteCount, NULL);
	bool is_within = type_of(dst) == CU_MEMORYTYPE_DEVICE && type_of(src) == CU_MEMORYTYPE_DEVICE;

	return is_within ? result : waited(result);
}

CUresult sim_body_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                    CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	if (!sim_object_get(dstContext, SIM_CONTEXT) || !sim_object_get(srcContext, SIM_CONTEXT))
		return CUDA_ERROR_INVALID_CONTEXT;
	return sim_body_cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream);
}

CUresult sim_body_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                               size_t ByteCount)
{
	return sim_body_cuMemcpyPeerAsync(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL);
}

/* ---- two and three dimensions ---- */
CUresult sim_body_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEMCPY };
	CUresult result = begin(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!pCopy || (pCopy->srcPitch && pCopy->srcPitch < pCopy->WidthInBytes) ||
	    (pCopy->dstPitch && pCopy->dstPitch < pCopy->WidthInBytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_stream_graph(hStream)) {
		result = sim_work_copy(pCopy, true);
		if (result == CUDA_SUCCESS)
			sim_pending_give(hStream);
		return result;
	}
	params.memcpy.copyParams = *pCopy;
	return sim_capture_add(hStream, &params);
}

CUresult sim_body_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
	return waited(sim_body_cuMemcpy3DAsync_v2(pCopy, NULL));
}

CUresult sim_body_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
	CUDA_MEMCPY3D copy = { 0 };

	if (pCopy)
		copy = (CUDA_MEMCPY3D){
			.srcXInBytes = pCopy->srcXInBytes,
			.srcY = pCopy->srcY,
			.srcMemoryType = pCopy->srcMemoryType,
			.srcHost = pCopy->srcHost,
			.srcDevice = pCopy->srcDevice,
			.srcArray = pCopy->srcArray,
			.srcPitch = pCopy->srcPitch,
			.dstXInBytes = pCopy->dstXInBytes,
			.dstY = pCopy->dstY,
			.dstMemoryType = pCopy->dstMemoryType,
			.dstHost = pCopy->dstHost,
			.dstDevice = pCopy->dstDevice,
			.dstArray = pCopy->dstArray,
			.dstPitch = pCopy->dstPitch,
			.WidthInBytes = pCopy->WidthInBytes,
			.Height = pCopy->Height,
			.Depth = 1,
		};
	return sim_body_cuMemcpy3DAsync_v2(pCopy ? &copy : NULL, hStream);
}

CUresult sim_body_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
	return waited(sim_body_cuMemcpy2DAsync_v2(pCopy, NULL));
}

CUresult sim_body_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
	return waited(sim_body_cuMemcpy2DAsync_v2(pCopy, NULL));
}
