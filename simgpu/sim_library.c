/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries, which belong to the process and are loaded into each context that uses them. */
#include "sim_image.h"

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
	return sim_module_new(SIM_LIBRARY, NULL, read, (void **)library);
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
	sim_module_end(&gone->object);
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
	result = sim_module_new(SIM_MODULE, context, from->image, (void **)pMod);
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
	struct sim_module *from = sim_object_get(library, SIM_LIBRARY);

	if (from && name && !sim_image_find(from->image, name, true))
		return CUDA_ERROR_NOT_FOUND; /* a kernel's name too */
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

/* ---- all that an image names ---- */
static CUresult enumerate(enum sim_kind kind, struct sim_module *from, void **handles, unsigned count)
{
	const struct sim_symbol *symbol;
	CUresult result = CUDA_SUCCESS;
	unsigned i = 0;

	if (!from)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!handles || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (symbol = from->image->symbols; symbol && i < count && result == CUDA_SUCCESS; symbol = symbol->next)
		if (!symbol->is_global)
			result = sim_function_get(kind, &from->object, from->image, symbol->name, &handles[i++]);
	return result;
}

CUresult sim_body_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
	return enumerate(SIM_KERNEL, sim_object_get(lib, SIM_LIBRARY), (void **)kernels, numKernels);
}

CUresult sim_body_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
	return enumerate(SIM_FUNCTION, sim_object_get(mod, SIM_MODULE), (void **)functions, numFunctions);
}
