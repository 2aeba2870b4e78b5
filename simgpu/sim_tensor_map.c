/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor maps: descriptions of tensors for kernels, which do not run here. What a program may ask for is
 * checked by the documented rules; what is inside of one is the driver's own matter.
 */
#include <string.h>

#include "sim.h"

#define DIMENSIONS 5

static const unsigned char type_bytes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 8, 8, 6 };

struct request {
	CUtensorMapDataType type;
	cuuint32_t rank;
	uint64_t address;
	const cuuint64_t *dim, *strides;
	const cuuint32_t *steps;
	CUtensorMapInterleave interleave;
	CUtensorMapSwizzle swizzle;
	CUtensorMapL2promotion promotion;
	CUtensorMapFloatOOBfill fill;
};

static bool is_good(const struct request *about, cuuint32_t least_rank)
{
	uint64_t align = about->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
	cuuint32_t i;

	if (about->type < 0 || about->type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B || about->interleave < 0 ||
	    about->interleave > CU_TENSOR_MAP_INTERLEAVE_32B || about->swizzle < 0 ||
	    about->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B || about->promotion < 0 || about->promotion > 3 ||
	    about->fill < 0 || about->fill > 1)
		return false;
	if (about->interleave && least_rank < 3)
		least_rank = 3;
	if (about->rank < least_rank || about->rank > DIMENSIONS || !about->dim || !about->steps ||
	    (about->rank > 1 && !about->strides))
		return false;
	if (!about->address || about->address % align)
		return false;
	for (i = 0; i < about->rank; i++) {
		if (!about->dim[i] || about->dim[i] > 1ull << 32 || !about->steps[i] || about->steps[i] > 8)
			return false;
		if (i + 1 < about->rank && (about->strides[i] % align || about->strides[i] >= 1ull << 40))
			return false;
	}
	return true;
}

static CUresult write_map(CUtensorMap *map, const struct request *about)
{
	memset(map, 0, sizeof(*map));
	map->opaque[0] = about->address;
	map->opaque[1] = about->rank | (uint64_t)about->type << 8 | (uint64_t)about->interleave << 16 |
	                 (uint64_t)about->swizzle << 24 | (uint64_t)about->promotion << 32 | (uint64_t)about->fill << 40;
	memcpy(&map->opaque[2], about->dim, about->rank * sizeof(*about->dim));
	if (about->rank > 1)
		memcpy(&map->opaque[7], about->strides, (about->rank - 1) * sizeof(*about->strides));
	return CUDA_SUCCESS;
}

/* Since compute capability 9; the map itself must be aligned. */
static CUresult check_map(const CUtensorMap *map)
{
	if (!map || (uintptr_t)map % 64)
		return CUDA_ERROR_INVALID_VALUE;
	return sim.profile.compute_major < 9 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult sim_body_cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                         cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
                                         const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
                                         const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                         CUtensorMapFloatOOBfill oobFill)
{
	struct request about = { tensorDataType, tensorRank,    (uintptr_t)globalAddress,
		                     globalDim,      globalStrides, elementStrides,
		                     interleave,     swizzle,       l2Promotion,
		                     oobFill };
	static const unsigned widest[] = { 0, 32, 64, 128, 128, 128, 128 };
	CUresult result = check_map(tensorMap);
	uint64_t inner;
	cuuint32_t i;

	if (result != CUDA_SUCCESS)
		return result;
	if (!boxDim || !is_good(&about, 1))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < tensorRank; i++)
		if (!boxDim[i] || boxDim[i] > 256)
			return CUDA_ERROR_INVALID_VALUE;
	inner = (uint64_t)boxDim[0] * type_bytes[tensorDataType];
	if (!interleave && type_bytes[tensorDataType] != 6 && inner % 16)
		return CUDA_ERROR_INVALID_VALUE;
	if (!interleave && swizzle && inner > widest[swizzle])
		return CUDA_ERROR_INVALID_VALUE;
	return write_map(tensorMap, &about);
}

static CUresult encode_im2col(CUtensorMap *map, const struct request *about, cuuint32_t channels, cuuint32_t pixels)
{
	CUresult result = check_map(map);

	if (result != CUDA_SUCCESS)
		return result;
	if (!is_good(about, 3) || !channels || channels > 256 || !pixels || pixels > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	return write_map(map, about);
}

CUresult sim_body_cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                          cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
                                          const cuuint64_t *globalStrides, const int *pixelBoxLowerCorner,
                                          const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
                                          cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides,
                                          CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                          CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
	struct request about = { tensorDataType, tensorRank,    (uintptr_t)globalAddress,
		                     globalDim,      globalStrides, elementStrides,
		                     interleave,     swizzle,       l2Promotion,
		                     oobFill };

	if (!pixelBoxLowerCorner || !pixelBoxUpperCorner)
		return CUDA_ERROR_INVALID_VALUE;
	return encode_im2col(tensorMap, &about, channelsPerPixel, pixelsPerColumn);
}

CUresult sim_body_cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                              cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
                                              const cuuint64_t *globalStrides, int pixelBoxLowerCornerWidth,
                                              int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel,
                                              cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides,
                                              CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                              CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                              CUtensorMapFloatOOBfill oobFill)
{
	struct request about = { tensorDataType, tensorRank,    (uintptr_t)globalAddress,
		                     globalDim,      globalStrides, elementStrides,
		                     interleave,     swizzle,       l2Promotion,
		                     oobFill };

	(void)pixelBoxLowerCornerWidth;
	(void)pixelBoxUpperCornerWidth;
	if (sim.profile.compute_major < 10)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (mode < 0 || mode > 1)
		return CUDA_ERROR_INVALID_VALUE;
	return encode_im2col(tensorMap, &about, channelsPerPixel, pixelsPerColumn);
}

CUresult sim_body_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
	CUresult result = check_map(tensorMap);

	if (result != CUDA_SUCCESS)
		return result;
	if (!globalAddress || (uintptr_t)globalAddress % 16)
		return CUDA_ERROR_INVALID_VALUE;
	tensorMap->opaque[0] = (uintptr_t)globalAddress;
	return CUDA_SUCCESS;
}
