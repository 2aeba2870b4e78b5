/* SPDX-License-Identifier: Apache-2.0 */
/* Many copies in one call. One that is wrong is named, and those before it were done. */
#include "sim.h"

static CUresult check_attributes(const CUmemcpyAttributes *attrs, const size_t *indices, size_t count, size_t copies)
{
	size_t i;

	if (!attrs || !indices || !count || count > copies || indices[0])
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (attrs[i].srcAccessOrder < 1 || attrs[i].srcAccessOrder > 3 || indices[i] >= copies ||
		    (i && indices[i] <= indices[i - 1]))
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                     CUmemcpyAttributes *attrs, size_t *attrIdxs, size_t numAttrs, size_t *failIdx,
                                     CUstream hStream)
{
	CUresult result;
	size_t i;

	if (failIdx)
		*failIdx = SIZE_MAX;
	if (!dsts || !srcs || !sizes || !count || !hStream || hStream == CU_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	result = check_attributes(attrs, attrIdxs, numAttrs, count);
	for (i = 0; i < count && result == CUDA_SUCCESS; i++) {
		result = sizes[i] ? sim_body_cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream) : CUDA_ERROR_INVALID_VALUE;
		if (result != CUDA_SUCCESS && failIdx)
			*failIdx = i;
	}
	return result;
}

CUresult sim_body_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                        CUmemcpyAttributes *attrs, size_t *attrIdxs, size_t numAttrs, CUstream hStream)
{
	return sim_body_cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, NULL, hStream);
}

/* In one dimension after the other; elements of pointers are bytes. */
static CUresult copy_box(const CUDA_MEMCPY3D_BATCH_OP *op, CUstream stream)
{
	CUDA_MEMCPY3D about = { 0 };

	if (!op->extent.width || !op->extent.height || !op->extent.depth || op->flags || op->srcAccessOrder < 1 ||
	    op->srcAccessOrder > 3 || op->src.type < 1 || op->src.type > 2 || op->dst.type < 1 || op->dst.type > 2)
		return CUDA_ERROR_INVALID_VALUE;
	about.srcMemoryType = op->src.type == 1 ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_ARRAY;
	about.dstMemoryType = op->dst.type == 1 ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_ARRAY;
	if (op->src.type == 1) {
		about.srcDevice = op->src.op.ptr.ptr;
		about.srcPitch = op->src.op.ptr.rowLength;
		about.srcHeight = op->src.op.ptr.layerHeight;
	} else if (!sim_object_get(op->src.op.array.array, SIM_ARRAY)) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (op->dst.type == 1) {
		about.dstDevice = op->dst.op.ptr.ptr;
		about.dstPitch = op->dst.op.ptr.rowLength;
		about.dstHeight = op->dst.op.ptr.layerHeight;
	} else if (!sim_object_get(op->dst.op.array.array, SIM_ARRAY)) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	if ((op->src.type == 1 && !about.srcDevice) || (op->dst.type == 1 && !about.dstDevice))
		return CUDA_ERROR_INVALID_VALUE;
	about.srcPitch = about.srcPitch ? about.srcPitch : op->extent.width;
	about.dstPitch = about.dstPitch ? about.dstPitch : op->extent.width;
	about.srcHeight = about.srcHeight ? about.srcHeight : op->extent.height;
	about.dstHeight = about.dstHeight ? about.dstHeight : op->extent.height;
	about.WidthInBytes = op->extent.width;
	about.Height = op->extent.height;
	about.Depth = op->extent.depth;
	return sim_body_cuMemcpy3DAsync_v2(&about, stream);
}

CUresult sim_body_cuMemcpy3DBatchAsync(size_t numParams, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                       unsigned long long flags, CUstream hStream)
{
	CUresult result = CUDA_SUCCESS;
	size_t i;

	if (failIdx)
		*failIdx = SIZE_MAX;
	if (!numParams || !opList || flags || !hStream || hStream == CU_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < numParams && result == CUDA_SUCCESS; i++) {
		result = copy_box(&opList[i], hStream);
		if (result != CUDA_SUCCESS && failIdx)
			*failIdx = i;
	}
	return result;
}

CUresult sim_body_cuMemcpy3DBatchAsync_v2(size_t numParams, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                          CUstream hStream)
{
	return sim_body_cuMemcpy3DBatchAsync(numParams, opList, NULL, flags, hStream);
}
