/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Green contexts: parts of a device's multiprocessors. Their streams and their context are those of
 * the primary one, and their memory is, too; what they say of their part is kept.
 */
#include <string.h>

#include "sim.h"

#define SM_STEP  8 /* multiprocessors that are given together, since compute capability 9 */
#define SM_LEAST 8

struct description { /* behind a CUdevResourceDesc; lives as long as the process */
	struct sim_object object;
	CUdevResource sm;
};

struct green {
	struct sim_object object;
	CUdevResource sm;
	uint64_t id;
};

static CUdevResource whole(void)
{
	CUdevResource resource = { .type = CU_DEV_RESOURCE_TYPE_SM };

	resource.sm.smCount = (unsigned)sim.profile.sm_count;
	resource.sm.minSmPartitionSize = SM_LEAST;
	resource.sm.smCoscheduledAlignment = SM_STEP;
	return resource;
}

static CUresult check_type(const CUdevResource *result, CUdevResourceType type)
{
	if (!result)
		return CUDA_ERROR_INVALID_VALUE;
	return type == CU_DEV_RESOURCE_TYPE_SM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

CUresult sim_body_cuDeviceGetDevResource(CUdevice dev, CUdevResource *result, CUdevResourceType type)
{
	CUresult checked = check_type(result, type);

	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (checked == CUDA_SUCCESS)
		*result = whole();
	return checked;
}

CUresult sim_body_cuCtxGetDevResource(CUcontext hCtx, CUdevResource *result, CUdevResourceType type)
{
	struct sim_context *context;
	CUresult checked = sim_current_or(hCtx, &context);

	if (checked == CUDA_SUCCESS)
		checked = check_type(result, type);
	if (checked == CUDA_SUCCESS)
		*result = whole();
	return checked;
}

CUresult sim_body_cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *result, CUdevResourceType type)
{
	struct green *green = sim_object_get(hCtx, SIM_GREEN);
	CUresult checked = check_type(result, type);

	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (checked == CUDA_SUCCESS)
		*result = green->sm;
	return checked;
}

/* Without `result` only their number is asked for. */
CUresult sim_body_cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups, const CUdevResource *input,
                                              CUdevResource *remaining, unsigned int useFlags, unsigned int minCount)
{
	unsigned size, most, count, i;

	if (!nbGroups || !input || useFlags > 3)
		return CUDA_ERROR_INVALID_VALUE;
	if (input->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	size = minCount < SM_LEAST ? SM_LEAST : (unsigned)sim_round_up(minCount, SM_STEP);
	if (minCount > input->sm.smCount || size > input->sm.smCount)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	most = input->sm.smCount / size;
	if (!result) {
		*nbGroups = most;
		return CUDA_SUCCESS;
	}
	count = *nbGroups < most ? *nbGroups : most;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	if (remaining) {
		*remaining = *input;
		remaining->sm.smCount -= count * size;
		if (!remaining->sm.smCount)
			memset(remaining, 0, sizeof(*remaining));
	}
	for (i = 0; i < count; i++) {
		result[i] = whole();
		result[i].sm.smCount = size;
	}
	*nbGroups = count;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                                            unsigned int nbResources)
{
	struct description *made;
	unsigned i, sum = 0;

	if (!phDesc || !resources || !nbResources)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < nbResources; i++) {
		if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
			return CUDA_ERROR_INVALID_RESOURCE_TYPE;
		if (!resources[i].sm.smCount)
			return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
		sum += resources[i].sm.smCount;
	}
	if (sum > sim.profile.sm_count)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	made = sim_object_new(SIM_DESCRIPTION, NULL, sizeof(*made));
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made->sm = resources[0];
	made->sm.sm.smCount = sum;
	*phDesc = (CUdevResourceDesc)made;
	return CUDA_SUCCESS;
}

/* Without a description it has all of the device. */
CUresult sim_body_cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags)
{
	static uint64_t last_id;
	struct description *about = sim_object_get(desc, SIM_DESCRIPTION);
	struct green *green;

	if (!phCtx || flags != CU_GREEN_CTX_DEFAULT_STREAM || (desc && !about))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev) || !sim.devices[dev].primary_refs)
		return CUDA_ERROR_INVALID_DEVICE;
	green = sim_object_new(SIM_GREEN, sim.devices[dev].primary, sizeof(*green));
	if (!green)
		return CUDA_ERROR_OUT_OF_MEMORY;
	green->sm = about ? about->sm : whole();
	green->id = ++last_id;
	*phCtx = (CUgreenCtx)green;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGreenCtxDestroy(CUgreenCtx hCtx)
{
	struct green *green = sim_object_get(hCtx, SIM_GREEN);

	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_object_delete(green);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority)
{
	if (!phStream)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_object_get(greenCtx, SIM_GREEN))
		return CUDA_ERROR_INVALID_CONTEXT;
	return sim_body_cuStreamCreateWithPriority(phStream, flags, priority);
}

CUresult sim_body_cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)
{
	struct green *green = sim_object_get(hCtx, SIM_GREEN);

	if (!pContext)
		return CUDA_ERROR_INVALID_VALUE;
	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	*pContext = (CUcontext)green->object.context;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)
{
	struct green *green = sim_object_get(hCtx, SIM_GREEN);

	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	return sim_body_cuCtxRecordEvent((CUcontext)green->object.context, hEvent);
}

CUresult sim_body_cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent)
{
	struct green *green = sim_object_get(hCtx, SIM_GREEN);

	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	return sim_body_cuCtxWaitEvent((CUcontext)green->object.context, hEvent);
}

CUresult sim_body_cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId)
{
	struct green *green = sim_object_get(greenCtx, SIM_GREEN);

	if (!greenCtxId)
		return CUDA_ERROR_INVALID_VALUE;
	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	*greenCtxId = green->id;
	return CUDA_SUCCESS;
}

/* Streams are those of the primary context. */
CUresult sim_body_cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
	CUresult result = sim_stream_check(hStream);

	if (!phCtx)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*phCtx = NULL;
	return result;
}

CUresult sim_body_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pctx, CUgreenCtx *pGreenCtx)
{
	CUresult result = sim_body_cuStreamGetCtx(hStream, pctx);

	if (result == CUDA_SUCCESS && pGreenCtx)
		*pGreenCtx = NULL;
	return result;
}
