/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, which belong to a context, and libraries, which belong to the process. */
#include <stdlib.h>
#include <string.h>

#include "sim_image.h"

struct sim_module { /* a module or a library */
	struct sim_object object;
	struct sim_image *image;
	struct sim_object *library; /* that a module was taken from */
};

static CUresult module_new(enum sim_kind kind, struct sim_context *context, struct sim_image *image, void **handle)
{
	struct sim_module *module = sim_object_new(kind, context, sizeof(*module));

	if (!module) {
		sim_image_drop(image);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
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

static void module_end(struct sim_module *module)
{
	/* What was taken from a library is the library's. */
	if (!module->library)
		drop_contents(module);
	sim_image_drop(module->image);
	sim_object_delete(module);
}

void sim_module_end(struct sim_object *object)
{
	module_end((struct sim_module *)object);
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
	result = sim_code_runtime(context, image);
	if (result == CUDA_SUCCESS)
		result = module_new(SIM_MODULE, context, image, (void **)&module);
	else
		sim_image_drop(image);
	if (result != CUDA_SUCCESS)
		return result;
	result = sim_code_globals(context, image);
	if (result == CUDA_SUCCESS && is_eager())
		result = load_code(context, image);
	if (result == CUDA_SUCCESS)
		*handle = (CUmodule)module;
	else
		module_end(module);
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
	module_end(module);
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

/* ---- libraries ---- */
static CUresult load_library(CUlibrary *library, const void *code, const char *path)
{
	struct sim_image *read;
	CUresult result;

	if (!library)
		return CUDA_ERROR_INVALID_VALUE;
	result = path ? sim_image_read_file(path, &read) : sim_image_read(code, &read);
	if (result != CUDA_SUCCESS)
		return result;
	read->is_library = true;
	return module_new(SIM_LIBRARY, NULL, read, (void **)library);
}

CUresult sim_body_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
				    void **jitOptionsValues, unsigned int numJitOptions,
				    CUlibraryOption *libraryOptions, void **libraryOptionValues,
				    unsigned int numLibraryOptions)
{
	(void)jitOptions;
	(void)jitOptionsValues;
	(void)numJitOptions;
	(void)libraryOptions;
	(void)libraryOptionValues;
	(void)numLibraryOptions;
	return load_library(library, code, NULL);
}

CUresult sim_body_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
					void **jitOptionsValues, unsigned int numJitOptions,
					CUlibraryOption *libraryOptions, void **libraryOptionValues,
					unsigned int numLibraryOptions)
{
	(void)jitOptions;
	(void)jitOptionsValues;
	(void)numJitOptions;
	(void)libraryOptions;
	(void)libraryOptionValues;
	(void)numLibraryOptions;
	return fileName ? load_library(library, NULL, fileName) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuLibraryUnload(CUlibrary library)
{
	struct sim_module *gone = sim_object_get(library, SIM_LIBRARY);

	if (!gone)
		return CUDA_ERROR_INVALID_HANDLE;
	module_end(gone);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
	struct sim_module *from = sim_object_get(library, SIM_LIBRARY);

	if (!from)
		return CUDA_ERROR_INVALID_HANDLE;
	return sim_function_get(SIM_KERNEL, &from->object, from->image, name, (void **)pKernel);
}

CUresult sim_body_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
	struct sim_module *from = sim_object_get(lib, SIM_LIBRARY);

	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!from)
		return CUDA_ERROR_INVALID_HANDLE;
	*count = from->image->kernels;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
	struct sim_module *from = sim_object_get(library, SIM_LIBRARY), *module;
	struct sim_context *context;
	CUresult result = sim_current(&context);
	struct sim_object *at;

	if (result != CUDA_SUCCESS)
		return result;
	if (!pMod)
		return CUDA_ERROR_INVALID_VALUE;
	if (!from)
		return CUDA_ERROR_INVALID_HANDLE;
	for (at = context->objects; at; at = at->next) {
		module = (struct sim_module *)at;
		if (at->kind == SIM_MODULE && module->library == &from->object) {
			*pMod = (CUmodule)module;
			return CUDA_SUCCESS;
		}
	}
	from->image->refs++;
	result = module_new(SIM_MODULE, context, from->image, (void **)pMod);
	if (result == CUDA_SUCCESS)
		((struct sim_module *)*pMod)->library = &from->object;
	return result;
}

CUresult sim_body_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
	struct sim_module *from = sim_object_get(library, SIM_LIBRARY);
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!from)
		return CUDA_ERROR_INVALID_HANDLE;
	return sim_code_global(dptr, bytes, context, from->image, name);
}

CUresult sim_body_cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
	return sim_body_cuLibraryGetGlobal(dptr, bytes, library, name);
}

/* The function that a kernel is in the current context: another handle, the same code. */
CUresult sim_body_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	struct sim_function *function = sim_object_get(kernel, SIM_KERNEL);
	struct sim_context *context;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!pFunc)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	result = sim_function_load(context, function);
	if (result != CUDA_SUCCESS)
		return result;
	return sim_function_get(SIM_FUNCTION, function->parent, function->image, function->about->name, (void **)pFunc);
}

CUresult sim_body_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
	struct sim_function *function = sim_object_get(kernel, SIM_KERNEL);

	if (!pLib)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*pLib = function->parent;
	return CUDA_SUCCESS;
}
