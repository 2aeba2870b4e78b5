/* SPDX-License-Identifier: Apache-2.0 */
/* Fills, as copies at once or as nodes of a graph. */
#include "sim.h"

static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned width, size_t count, size_t rows,
                     CUstream stream)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEMSET };
	struct sim_context *context;
	CUresult result = sim_current(&context);
	size_t row;

	if (result == CUDA_SUCCESS)
		result = sim_stream_use(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (to % width || count > UINT64_MAX / width || (rows > 1 && pitch < count * width))
		return CUDA_ERROR_INVALID_VALUE;
	for (row = 0; row < rows; row++)
		if (!sim_memory_is_on_device(to + row * pitch, count * width))
			return CUDA_ERROR_INVALID_VALUE;
	if (sim_stream_graph(stream)) {
		params.memset.of = (CUDA_MEMSET_NODE_PARAMS){ to, pitch, value, width, count, rows };
		return sim_capture_add(stream, &params);
	}
	if (!rows || !count)
		return CUDA_SUCCESS;
	sim_memory_fill(to, pitch, value, width, count, rows);
	sim_pending_give(stream);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	return fill(dstDevice, 0, uc, 1, N, 1, hStream);
}

CUresult sim_body_cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	return fill(dstDevice, 0, us, 2, N, 1, hStream);
}

CUresult sim_body_cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
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

CUresult sim_body_cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                    size_t Height, CUstream hStream)
{
	return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream);
}

CUresult sim_body_cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                     size_t Height, CUstream hStream)
{
	return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream);
}

CUresult sim_body_cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                     size_t Height, CUstream hStream)
{
	return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream);
}

CUresult sim_body_cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
	return fill(dstDevice, dstPitch, uc, 1, Width, Height, NULL);
}

CUresult sim_body_cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                   size_t Height)
{
	return fill(dstDevice, dstPitch, us, 2, Width, Height, NULL);
}

CUresult sim_body_cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
	return fill(dstDevice, dstPitch, ui, 4, Width, Height, NULL);
}
