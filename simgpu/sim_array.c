/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and mipmapped arrays: opaque to programs, pages of the device to the books. */
#include "sim.h"

struct sim_array {
	struct sim_object object;
	CUDA_ARRAY3D_DESCRIPTOR about;
	unsigned levels; /* 0: not mipmapped */
	struct sim_piece piece;
	bool is_level; /* of another, which has the memory */
};

static unsigned channel_bytes(int format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

static size_t at_level(size_t extent, unsigned level)
{
	size_t at = level < 63 ? extent >> level : 0;

	return at || !extent ? at : 1;
}

/* The device stores tiles of 64 bytes by 8 rows, up to 16 of them above each other. */
static uint64_t level_bytes(const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned level)
{
	uint64_t width = at_level(about->Width, level) * about->NumChannels * channel_bytes(about->Format);
	uint64_t height = at_level(about->Height, level), depth = at_level(about->Depth, level), rows = 8;

	while (rows < 128 && rows < height)
		rows *= 2;
	if (height)
		height = sim_round_up(height, rows);
	return sim_round_up(width, 64) * (height ? height : 1) * (depth ? depth : 1);
}

static uint64_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned levels)
{
	uint64_t bytes = 0;
	unsigned level;

	for (level = 0; level < (levels ? levels : 1); level++)
		bytes += level_bytes(about, level);
	return bytes;
}

static void end(struct sim_object *object)
{
	struct sim_array *array = (struct sim_array *)object;

	if (!array->is_level)
		sim_heap_give(object->context, &array->piece);
	sim_object_delete(object);
}

static CUresult array_new(enum sim_kind kind, const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned levels, void **handle)
{
	struct sim_context *context;
	struct sim_array *array;
	struct sim_piece piece;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || !about || !about->Width || !channel_bytes(about->Format) ||
	    (about->NumChannels != 1 && about->NumChannels != 2 && about->NumChannels != 4))
		return CUDA_ERROR_INVALID_VALUE;
	if (about->Width > 1u << 20 || about->Height > 1u << 20 || about->Depth > 1u << 16)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_heap_take(context, &context->array_heap, bytes_of(about, levels), &piece);
	if (result != CUDA_SUCCESS)
		return result;
	array = sim_object_new(kind, context, sizeof(*array));
	if (!array) {
		sim_heap_give(context, &piece);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	array->object.end = end;
	array->about = *about;
	array->levels = levels;
	array->piece = piece;
	*handle = array;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
	CUDA_ARRAY3D_DESCRIPTOR about = { 0 };

	if (!pAllocateArray)
		return CUDA_ERROR_INVALID_VALUE;
	about.Width = pAllocateArray->Width;
	about.Height = pAllocateArray->Height;
	about.Format = pAllocateArray->Format;
	about.NumChannels = pAllocateArray->NumChannels;
	return array_new(SIM_ARRAY, &about, 0, (void **)pHandle);
}

CUresult sim_body_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
	return array_new(SIM_ARRAY, pAllocateArray, 0, (void **)pHandle);
}

CUresult sim_body_cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                         unsigned int numMipmapLevels)
{
	if (!numMipmapLevels)
		return CUDA_ERROR_INVALID_VALUE;
	return array_new(SIM_MIPMAP, pMipmappedArrayDesc, numMipmapLevels > 24 ? 24 : numMipmapLevels, (void **)pHandle);
}

static CUresult destroy(struct sim_object *array)
{
	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	end(array);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuArrayDestroy(CUarray hArray)
{
	return destroy(sim_object_get(hArray, SIM_ARRAY));
}

CUresult sim_body_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
	return destroy(sim_object_get(hMipmappedArray, SIM_MIPMAP));
}

CUresult sim_body_cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level)
{
	struct sim_array *whole = sim_object_get(hMipmappedArray, SIM_MIPMAP), *part;

	if (!whole)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pLevelArray || level >= whole->levels)
		return CUDA_ERROR_INVALID_VALUE;
	part = sim_object_new(SIM_ARRAY, whole->object.context, sizeof(*part));
	if (!part)
		return CUDA_ERROR_OUT_OF_MEMORY;
	part->object.end = end;
	part->is_level = true;
	part->about = whole->about;
	part->about.Width = at_level(whole->about.Width, level);
	part->about.Height = at_level(whole->about.Height, level);
	part->about.Depth = at_level(whole->about.Depth, level);
	*pLevelArray = (CUarray)part;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
	struct sim_array *array = sim_object_get(hArray, SIM_ARRAY);

	if (!pArrayDescriptor)
		return CUDA_ERROR_INVALID_VALUE;
	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	*pArrayDescriptor = array->about;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
	CUDA_ARRAY3D_DESCRIPTOR about;
	CUresult result = sim_body_cuArray3DGetDescriptor_v2(&about, hArray);

	if (!pArrayDescriptor)
		return CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	pArrayDescriptor->Width = about.Width;
	pArrayDescriptor->Height = about.Height;
	pArrayDescriptor->Format = about.Format;
	pArrayDescriptor->NumChannels = about.NumChannels;
	return CUDA_SUCCESS;
}
