/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, which belong to a context. What they have in common with libraries is here too. */
#include <stdlib.h>
#include <string.h>

#include "sim_image.h"

CUresult sim_module_new(enum sim_kind kind, struct sim_context *context, struct sim_image *image, void **handle)
{
	struct sim_module *module = sim_object_new(kind, context, sizeof(*module));

	if (!module) {
		sim_image_drop(image);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	module->object.end = sim_module_end;
	module->image = image;
	*handle = module;
	return CUDA_SUCCESS;
}

/* The context that holds what belongs to all of an image; NULL: none does. */
static struct sim_context *context_of(const struct sim_module *module)
{
	return module->object.context ? module->object.context : sim_context_with_id(module->image->rest_in);
}

/* The handles of what was in it become invalid, and its code goes. */
static void drop_contents(struct sim_module *module)
{
	struct sim_context *context = context_of(module);
	struct sim_symbol *symbol;

	for (symbol = module->image->symbols; symbol; symbol = symbol->next)
		sim_code_unload_symbol(symbol);
	sim_code_drop_globals(module->image);
	if (context)
		sim_code_runtime_end(context, module->image);
	for (symbol = module->image->symbols; symbol; symbol = symbol->next) {
		if (symbol->made[0])
			sim_function_end(&symbol->made[0]->object);
		if (symbol->made[1])
			sim_function_end(&symbol->made[1]->object);
	}
}

void sim_module_end(struct sim_object *object)
{
	struct sim_module *module = (struct sim_module *)object;

	/* What was taken from a library is the library's. */
	if (!module->library)
		drop_contents(module);
	sim_image_drop(module->image);
	sim_object_delete(module);
}

/* ---- modules ---- */
static bool is_eager(void)
{
	const char *wanted = getenv("CUDA_MODULE_LOADING");

	return wanted && strcmp(wanted, "EAGER") == 0;
}

static CUresult load_code(struct sim_context *context, struct sim_image *image)
{
	CUresult result = CUDA_SUCCESS;
	struct sim_symbol *symbol;

	for (symbol = image->symbols; symbol && result == CUDA_SUCCESS; symbol = symbol->next)
		if (!symbol->is_global)
			result = sim_code_load(context, symbol);
	return result;
}

static CUresult load_module(CUmodule *handle, const void *data, const char *path)
{
	struct sim_context *context;
	struct sim_image *image;
	struct sim_module *module;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	result = path ? sim_image_read_file(path, &image) : sim_image_read(data, &image);
	if (result != CUDA_SUCCESS)
		return result;
	result = sim_context_hold(context, &context->modules, sim.profile.module, sim.profile.page);
	if (result == CUDA_SUCCESS)
		result = sim_code_runtime(context, image);
	if (result == CUDA_SUCCESS)
		result = sim_module_new(SIM_MODULE, context, image, (void **)&module);
	else
		sim_image_drop(image);
	if (result != CUDA_SUCCESS)
		return result;
	sim_pending_finish();
	result = sim_code_globals(context, image);
	if (result == CUDA_SUCCESS && is_eager())
		result = load_code(context, image);
	if (result == CUDA_SUCCESS)
		*handle = (CUmodule)module;
	else
		sim_module_end(&module->object);
	return result;
}

CUresult sim_body_cuModuleLoad(CUmodule *module, const char *fname)
{
	return fname ? load_module(module, NULL, fname) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuModuleLoadData(CUmodule *module, const void *image)
{
	return load_module(module, image, NULL);
}

CUresult sim_body_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                     CUjit_option *options, void **optionValues)
{
	(void)numOptions;
	(void)options;
	(void)optionValues;
	return load_module(module, image, NULL);
}

CUresult sim_body_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
	return load_module(module, fatCubin, NULL);
}

CUresult sim_body_cuModuleUnload(CUmodule hmod)
{
	struct sim_module *module = sim_object_get(hmod, SIM_MODULE);

	if (!module || module->library)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_module_end(&module->object);
	sim_pending_finish();
	return CUDA_SUCCESS;
}

CUresult sim_body_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	struct sim_module *module = sim_object_get(hmod, SIM_MODULE);
	CUresult result;

	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_function_get(SIM_FUNCTION, &module->object, module->image, name, (void **)hfunc);
	if (result != CUDA_SUCCESS)
		return result;
	return sim_function_load(module->object.context, (struct sim_function *)*hfunc);
}

CUresult sim_body_cuModuleGetFunctionCount(unsigned int *count, CUmodule hmod)
{
	struct sim_module *module = sim_object_get(hmod, SIM_MODULE);

	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	*count = module->image->kernels;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
	struct sim_module *module = sim_object_get(hmod, SIM_MODULE);

	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	return sim_code_global(dptr, bytes, module->object.context, module->image, name);
}

CUresult sim_body_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = is_eager() ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}
