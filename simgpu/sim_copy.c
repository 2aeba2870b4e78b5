/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills. They happen at once, in the caller's thread: what a program may rely on after it
 * synchronised is already so before. In a stream that captures they become graph nodes instead.
 */
#include <string.h>

#include "sim.h"

/* Device memory from `address` on; neighbouring mappings count as one. */
static bool is_on_device(CUdeviceptr address, uint64_t size)
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

static CUresult begin(CUstream stream, CUgraphNodeType type, bool *is_captured)
{
	struct sim_context *context;
	struct sim_graph *graph;
	CUresult result = sim_current(&context);

	*is_captured = false;
	if (result == CUDA_SUCCESS)
		result = sim_stream_check(stream);
	if (result != CUDA_SUCCESS)
		return result;
	graph = sim_stream_graph(stream);
	if (!graph)
		return CUDA_SUCCESS;
	*is_captured = true;
	return sim_graph_add(graph, type, NULL, NULL);
}

static void move(uint64_t to, uint64_t from, uint64_t size)
{
	sim_managed_touch(to, size);
	sim_managed_touch(from, size);
	memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
}

enum sides { TO_DEVICE = 1, FROM_DEVICE = 2 };

static CUresult copy(uint64_t to, uint64_t from, size_t size, unsigned sides, CUstream stream)
{
	bool is_captured;
	CUresult result = begin(stream, CU_GRAPH_NODE_TYPE_MEMCPY, &is_captured);

	if (result != CUDA_SUCCESS)
		return result;
	if ((sides & TO_DEVICE && !is_on_device(to, size)) ||
	    (sides & FROM_DEVICE && !is_on_device(from, size)))
		return CUDA_ERROR_INVALID_VALUE;
	if (size && (!to || !from))
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_captured && size)
		move(to, from, size);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
				       CUstream hStream)
{
	return copy(dstDevice, (uint64_t)(uintptr_t)srcHost, ByteCount, TO_DEVICE, hStream);
}

CUresult sim_body_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
				       CUstream hStream)
{
	return copy((uint64_t)(uintptr_t)dstHost, srcDevice, ByteCount, FROM_DEVICE, hStream);
}

CUresult sim_body_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
				       size_t ByteCount, CUstream hStream)
{
	return copy(dstDevice, srcDevice, ByteCount, TO_DEVICE | FROM_DEVICE, hStream);
}

/* Either side may be host memory: addresses are unified. */
CUresult sim_body_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
				CUstream hStream)
{
	return copy(dst, src, ByteCount, 0, hStream);
}

CUresult sim_body_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	return sim_body_cuMemcpyHtoDAsync_v2(dstDevice, srcHost, ByteCount, NULL);
}

CUresult sim_body_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	return sim_body_cuMemcpyDtoHAsync_v2(dstHost, srcDevice, ByteCount, NULL);
}

CUresult sim_body_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	return sim_body_cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, NULL);
}

CUresult sim_body_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	return sim_body_cuMemcpyAsync(dst, src, ByteCount, NULL);
}

CUresult sim_body_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
				    CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
				    CUstream hStream)
{
	if (!sim_object_get(dstContext, SIM_CONTEXT) || !sim_object_get(srcContext, SIM_CONTEXT))
		return CUDA_ERROR_INVALID_CONTEXT;
	return sim_body_cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream);
}

CUresult sim_body_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
			       CUcontext srcContext, size_t ByteCount)
{
	return sim_body_cuMemcpyPeerAsync(dstDevice, dstContext, srcDevice, srcContext, ByteCount,
					  NULL);
}

/* ---- two dimensions ---- */
/* The first row of one side; 0: in an array, whose contents nobody sees. */
static uint64_t side(int type, const void *host, CUdeviceptr device, size_t x, size_t y,
		     size_t pitch)
{
	if (type == CU_MEMORYTYPE_ARRAY)
		return 0;
	return (type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : device) + y * pitch + x;
}

CUresult sim_body_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
	bool is_captured;
	uint64_t to, from;
	CUresult result = begin(hStream, CU_GRAPH_NODE_TYPE_MEMCPY, &is_captured);
	size_t row;

	if (result != CUDA_SUCCESS)
		return result;
	if (!pCopy || (pCopy->srcPitch && pCopy->srcPitch < pCopy->WidthInBytes) ||
	    (pCopy->dstPitch && pCopy->dstPitch < pCopy->WidthInBytes))
		return CUDA_ERROR_INVALID_VALUE;
	to = side(pCopy->dstMemoryType, pCopy->dstHost, pCopy->dstDevice, pCopy->dstXInBytes,
		  pCopy->dstY, pCopy->dstPitch);
	from = side(pCopy->srcMemoryType, pCopy->srcHost, pCopy->srcDevice, pCopy->srcXInBytes,
		    pCopy->srcY, pCopy->srcPitch);
	for (row = 0; to && from && !is_captured && row < pCopy->Height; row++) {
		uint64_t line_to = to + row * pCopy->dstPitch,
			 line_from = from + row * pCopy->srcPitch;

		if ((pCopy->dstMemoryType == CU_MEMORYTYPE_DEVICE &&
		     !is_on_device(line_to, pCopy->WidthInBytes)) ||
		    (pCopy->srcMemoryType == CU_MEMORYTYPE_DEVICE &&
		     !is_on_device(line_from, pCopy->WidthInBytes)))
			return CUDA_ERROR_INVALID_VALUE;
		move(line_to, line_from, pCopy->WidthInBytes);
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
	return sim_body_cuMemcpy2DAsync_v2(pCopy, NULL);
}

CUresult sim_body_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
	return sim_body_cuMemcpy2DAsync_v2(pCopy, NULL);
}

/* ---- fills ---- */
static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned width, size_t count,
		     size_t rows, CUstream stream)
{
	bool is_captured;
	CUresult result = begin(stream, CU_GRAPH_NODE_TYPE_MEMSET, &is_captured);
	size_t row, i;

	if (result != CUDA_SUCCESS)
		return result;
	if (to % width || count > UINT64_MAX / width || (rows > 1 && pitch < count * width))
		return CUDA_ERROR_INVALID_VALUE;
	for (row = 0; row < rows; row++) {
		CUdeviceptr line = to + row * pitch;

		if (!is_on_device(line, count * width))
			return CUDA_ERROR_INVALID_VALUE;
		if (is_captured)
			continue;
		sim_managed_touch(line, count * width);
		if (width == 1)
			memset((void *)(uintptr_t)line, (int)value, count);
		for (i = 0; width > 1 && i < count; i++)
			memcpy((char *)(uintptr_t)line + i * width, &value, width);
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
				  CUstream hStream)
{
	return fill(dstDevice, 0, uc, 1, N, 1, hStream);
}

CUresult sim_body_cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N,
				   CUstream hStream)
{
	return fill(dstDevice, 0, us, 2, N, 1, hStream);
}

CUresult sim_body_cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
				   CUstream hStream)
{
	return fill(dstDevice, 0, ui, 4, N, 1, hStream);
}

CUresult sim_body_cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
	return fill(dstDevice, 0, uc, 1, N, 1, NULL);
}

CUresult sim_body_cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
	return fill(dstDevice, 0, us, 2, N, 1, NULL);
}

CUresult sim_body_cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
	return fill(dstDevice, 0, ui, 4, N, 1, NULL);
}

CUresult sim_body_cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
				  size_t Width, size_t Height)
{
	return fill(dstDevice, dstPitch, uc, 1, Width, Height, NULL);
}

CUresult sim_body_cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
				   size_t Width, size_t Height)
{
	return fill(dstDevice, dstPitch, us, 2, Width, Height, NULL);
}

CUresult sim_body_cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
				   size_t Width, size_t Height)
{
	return fill(dstDevice, dstPitch, ui, 4, Width, Height, NULL);
}
