/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and kernels: loading their code, launching them, what they say of themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_answer.h"
#include "sim_overflow.h"
#include "sim_image.h"

CUresult sim_function_get(enum sim_kind kind, struct sim_object *parent, struct sim_image *image, const char *name,
                          void **handle)
{
	struct sim_function *function, **made;
	struct sim_symbol *symbol;

	if (!handle || !name)
		return CUDA_ERROR_INVALID_VALUE;
	symbol = sim_image_find(image, name, false);
	if (!symbol)
		return CUDA_ERROR_NOT_FOUND;
	made = &symbol->made[kind == SIM_KERNEL];
	if (!*made) {
		function = sim_object_new(kind, parent->context, sizeof(*function));
		if (!function)
			return CUDA_ERROR_OUT_OF_MEMORY;
		function->object.end = sim_function_end;
		function->parent = parent;
		function->image = image;
		function->about = symbol;
		image->refs++;
		*made = function;
	}
	*handle = *made;
	return CUDA_SUCCESS;
}

void sim_function_end(struct sim_object *object)
{
	struct sim_function *function = (struct sim_function *)object;

	function->about->made[object->kind == SIM_KERNEL] = NULL;
	sim_image_drop(function->image);
	sim_object_delete(function);
}

/* A library's first kernel in a context brings along what belongs to all of it. */
static CUresult load_rest(struct sim_context *context, struct sim_image *image)
{
	CUresult result = CUDA_SUCCESS;

	if (!image->is_library || image->rest_in == context->id)
		return CUDA_SUCCESS;
	result = sim_code_runtime(context, image);
	if (result == CUDA_SUCCESS)
		result = sim_code_globals(context, image);
	if (result == CUDA_SUCCESS)
		image->rest_in = context->id;
	return result;
}

CUresult sim_function_load(struct sim_context *context, struct sim_function *function)
{
	CUresult result = load_rest(context, function->image);

	return result == CUDA_SUCCESS ? sim_code_load(context, function->about) : result;
}

/* A launch takes a CUkernel too. */
static void touch_params(const struct sim_symbol *about, void **params)
{
	unsigned i;

	for (i = 0; params && i < about->touches; i++)
		sim_managed_touch(*(CUdeviceptr *)params[i], 1);
}

/* The heap for malloc comes with the first kernel that may use it, in the size set by then. */
static CUresult use_heap(struct sim_context *context)
{
	CUresult result = CUDA_SUCCESS;

	if (!context->heap_used)
		result = sim_context_take(context, context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] + sim.profile.heap_extra);
	if (result == CUDA_SUCCESS)
		context->heap_used = true;
	return result;
}

CUresult sim_function_launch(struct sim_context *context, CUfunction handle, void **params)
{
	struct sim_function *function;
	CUresult result = sim_function_from(handle, &function);

	if (result != CUDA_SUCCESS)
		return result;
	result = sim_function_load(context, function);
	if (result == CUDA_SUCCESS && !context->has_launched)
		result = sim_context_take(context, sim.profile.first_launch);
	if (result == CUDA_SUCCESS)
		context->has_launched = true;
	if (result == CUDA_SUCCESS)
		result = sim_context_grow_local(context, function->about->local);
	if (result == CUDA_SUCCESS && function->about->has_malloc)
		result = use_heap(context);
	if (result != CUDA_SUCCESS)
		return result;
	context->printf_used |= function->about->has_printf;
	sim_answer_launched(function->about->says);
	if (function->about->says == SIM_SAYS_OVERFLOW)
		sim_overflow_launched(function->about->name, params);
	touch_params(function->about, params);
	return CUDA_SUCCESS;
}

static CUresult launch(struct sim_context *context, CUfunction handle, void **params, CUstream stream)
{
	CUresult result = sim_function_launch(context, handle, params);

	if (result == CUDA_SUCCESS)
		sim_pending_give(stream);
	return result;
}

/* Copies of a kernel's parameters in one piece of memory. NULL: it is not known how many there are. */
CUresult sim_body_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_KERNEL };
	struct sim_context *context;
	CUresult result = sim_current(&context);
	unsigned threads, i;

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = sim_stream_use(config->hStream);
	if (result != CUDA_SUCCESS)
		return result;
	threads = config->blockDimX * config->blockDimY * config->blockDimZ;
	if (!config->gridDimX || !config->gridDimY || !config->gridDimZ || !threads || threads > 1024 ||
	    (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_stream_graph(config->hStream))
		return launch(context, f, kernelParams, config->hStream);
	params.kernel = (CUDA_KERNEL_NODE_PARAMS_v2){
		.gridDimX = config->gridDimX,
		.gridDimY = config->gridDimY,
		.gridDimZ = config->gridDimZ,
		.blockDimX = config->blockDimX,
		.blockDimY = config->blockDimY,
		.blockDimZ = config->blockDimZ,
		.sharedMemBytes = config->sharedMemBytes,
		.kernelParams = kernelParams,
		.extra = extra,
		.ctx = (CUcontext)context,
	};
	if (sim_object_get(f, SIM_KERNEL))
		params.kernel.kern = (CUkernel)f;
	else
		params.kernel.func = f;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_capture_add(config->hStream, &params);
	for (i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++)
		result = sim_capture_attribute(config->hStream, &config->attrs[i]);
	return result;
}

CUresult sim_body_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                 unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
	CUlaunchConfig config = { gridDimX,  gridDimY,       gridDimZ, blockDimX, blockDimY,
		                      blockDimZ, sharedMemBytes, hStream,  NULL,      0 };

	return sim_body_cuLaunchKernelEx(&config, f, kernelParams, extra);
}

CUresult sim_body_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                            unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                            void **kernelParams)
{
	CUlaunchAttribute cooperative = { .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1 };
	CUlaunchConfig config = { gridDimX,  gridDimY,       gridDimZ, blockDimX,    blockDimY,
		                      blockDimZ, sharedMemBytes, hStream,  &cooperative, 1 };

	return sim_body_cuLaunchKernelEx(&config, f, kernelParams, NULL);
}

/* ---- attributes ---- */
/* To ask for an attribute is to load the code. */
CUresult sim_function_of(const void *handle, struct sim_function **function)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result == CUDA_SUCCESS)
		result = sim_function_from(handle, function);
	return result == CUDA_SUCCESS ? sim_function_load(context, *function) : result;
}

static int attribute_of(const struct sim_symbol *about, CUfunction_attribute attribute)
{
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		return 1024;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		return (int)about->local;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		return 32;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		return (int)(sim.profile.compute_major * 10 + sim.profile.compute_minor);
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		return 49152;
	default:
		return 0;
	}
}

static CUresult get_attribute(int *pi, CUfunction_attribute attribute, const void *handle)
{
	struct sim_function *function;
	CUresult result;

	if (!pi || attribute < 0 || attribute > CU_FUNC_ATTRIBUTE_LAST)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_function_of(handle, &function);
	if (result == CUDA_SUCCESS)
		*pi = attribute_of(function->about, attribute);
	return result;
}

CUresult sim_body_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
	return get_attribute(pi, attrib, hfunc);
}

CUresult sim_body_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
	return sim_is_device(dev) ? get_attribute(pi, attrib, kernel) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_body_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	struct sim_function *function;

	(void)attrib;
	if (value < 0)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_function_of(hfunc, &function);
}

CUresult sim_body_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	return sim_body_cuFuncSetAttribute((CUfunction)kernel, attrib, val);
}

CUresult sim_body_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
	struct sim_function *function;

	(void)config;
	return sim_function_of(hfunc, &function);
}

CUresult sim_body_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
	return sim_is_device(dev) ? sim_body_cuFuncSetCacheConfig((CUfunction)kernel, config) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_body_cuFuncLoad(CUfunction hfunc)
{
	struct sim_function *function;

	return sim_function_of(hfunc, &function);
}

CUresult sim_body_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction hfunc)
{
	struct sim_context *context;
	struct sim_function *function;
	CUresult result = sim_current(&context);

	if (result == CUDA_SUCCESS)
		result = state ? sim_function_from(hfunc, &function) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*state = sim_code_is_loaded(function->about, context);
	return result;
}

static CUresult get_name(const char **name, const void *handle)
{
	struct sim_function *function;
	CUresult result = sim_function_from(handle, &function);

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*name = function->about->name;
	return result;
}

CUresult sim_body_cuFuncGetName(const char **name, CUfunction hfunc)
{
	return get_name(name, hfunc);
}

CUresult sim_body_cuKernelGetName(const char **name, CUkernel hfunc)
{
	return get_name(name, hfunc);
}

CUresult sim_body_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
	struct sim_function *function = sim_object_get(hfunc, SIM_FUNCTION);

	if (!hmod)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*hmod = function->parent;
	return CUDA_SUCCESS;
}

/* Only of kernels whose image names its parameters one by one. */
static CUresult param_info(const void *handle, size_t index, size_t *offset, size_t *size)
{
	struct sim_function *function;
	CUresult result = sim_function_from(handle, &function);

	if (!offset)
		return CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	if (index >= function->about->param_nr)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = function->about->param[index].offset;
	if (size)
		*size = function->about->param[index].size;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
	return param_info(func, paramIndex, paramOffset, paramSize);
}

CUresult sim_body_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
	return param_info(kernel, paramIndex, paramOffset, paramSize);
}
