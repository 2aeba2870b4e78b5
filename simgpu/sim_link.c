/* SPDX-License-Identifier: Apache-2.0 */
/* The linker, for programs that compile at run time: what was added first is the result. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct sim_link {
	struct sim_object object;
	char *image;
	size_t size;
};

static void end(struct sim_object *object)
{
	free(((struct sim_link *)object)->image);
	sim_object_delete(object);
}

CUresult sim_body_cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                                  CUlinkState *stateOut)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);
	struct sim_link *link;

	(void)numOptions;
	(void)options;
	(void)optionValues;
	if (result != CUDA_SUCCESS)
		return result;
	if (!stateOut)
		return CUDA_ERROR_INVALID_VALUE;
	link = sim_object_new(SIM_LINK, context, sizeof(*link));
	if (!link)
		return CUDA_ERROR_OUT_OF_MEMORY;
	link->object.end = end;
	*stateOut = (CUlinkState)link;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                                   unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	struct sim_link *link = sim_object_get(state, SIM_LINK);

	(void)type;
	(void)name;
	(void)numOptions;
	(void)options;
	(void)optionValues;
	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!data || !size)
		return CUDA_ERROR_INVALID_VALUE;
	if (link->image)
		return CUDA_SUCCESS;
	link->image = calloc(1, size + 1);
	if (!link->image)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(link->image, data, size);
	link->size = size;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                               CUlinkState *stateOut)
{
	return sim_body_cuLinkCreate_v2(numOptions, options, optionValues, stateOut);
}

CUresult sim_body_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                                unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	return sim_body_cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues);
}

CUresult sim_body_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
	struct sim_link *link = sim_object_get(state, SIM_LINK);

	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!cubinOut || !link->image)
		return CUDA_ERROR_INVALID_VALUE;
	*cubinOut = link->image;
	if (sizeOut)
		*sizeOut = link->size;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLinkDestroy(CUlinkState state)
{
	struct sim_object *link = sim_object_get(state, SIM_LINK);

	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	end(link);
	return CUDA_SUCCESS;
}
