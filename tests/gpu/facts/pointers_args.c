/* SPDX-License-Identifier: Apache-2.0 */
#include "pointers_args.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
						  ".visible .global .align 4 .b8 g[64];\n"
						  ".visible .entry k0()\n{\n\tret;\n}\n";

/* ---- parameters ---- */
static bool is_word(const char *type)
{
	static const char *const words[] = { "int",
		                                 "unsigned",
		                                 "size_t",
		                                 "CUdevice",
		                                 "CUlimit",
		                                 "CUfunction_attribute",
		                                 "CUfunc_cache",
		                                 "cuuint64_t",
		                                 "CUmemLocation",
		                                 "CUmemAllocationType",
		                                 "CUmemAllocationHandleType",
		                                 "CUstreamCaptureMode" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(type, words[i]) == 0 || (i == 1 && strncmp(type, words[i], strlen(words[i])) == 0))
			return true;
	return false;
}

/* "(CUcontext *pctx, CUdevice dev)" */
int args_parse(const char *params, struct parameter out[PARAMETERS])
{
	char text[1024], *save, *one;
	int n = 0;

	snprintf(text, sizeof(text), "%.*s", (int)strlen(params) - 2, params + 1);
	for (one = strtok_r(text, ",", &save); one && strcmp(one, "void") != 0; one = strtok_r(NULL, ",", &save)) {
		char *name = one + strlen(one);

		while (name > one && name[-1] != ' ' && name[-1] != '*')
			name--;
		one += *one == ' ';
		snprintf(out[n].name, sizeof(out[n].name), "%s", name);
		snprintf(out[n].type, sizeof(out[n].type), "%.*s", (int)(name - one), one);
		out[n].is_pointer = strchr(out[n].type, '*') != NULL;
		out[n].type[strcspn(out[n].type, "*")] = '\0';
		while (out[n].type[0] && out[n].type[strlen(out[n].type) - 1] == ' ')
			out[n].type[strlen(out[n].type) - 1] = '\0';
		out[n].is_big = !out[n].is_pointer && strncmp(out[n].type, "CUipc", 5) == 0;
		out[n].is_handle = !out[n].is_pointer && !out[n].is_big && !is_word(out[n].type);
		n++;
	}
	return n;
}

/* ---- what is in order ---- */
static uintptr_t made(int result, void **handle)
{
	return result == 0 ? (uintptr_t)*handle : 0;
}

static uintptr_t module_here(void)
{
	void *module = NULL;

	return made(CU(cuModuleLoadData, &module, ptx), &module);
}

static uintptr_t library_here(void)
{
	void *code = NULL;

	return made(CU(cuLibraryLoadData, &code, ptx, NULL, NULL, 0, NULL, NULL, 0), &code);
}

static uintptr_t graph_here(void **node)
{
	void *graph = NULL;

	CU(cuGraphCreate, &graph, 0);
	CU(cuGraphAddEmptyNode, node, graph, NULL, (size_t)0);
	return (uintptr_t)graph;
}

static uintptr_t handle_of(const char *type)
{
	int properties[22] = { 1, 0, 1, 0 }; /* of memory, and of a pool: pinned, on device 0 */
	int format[8] = { 64, 0, 64, 0, 0x20, 1 };
	void *made_handle = NULL, *node = NULL;
	uintptr_t from;

#define MADE(symbol, ...) made(CU(symbol, &made_handle, __VA_ARGS__), &made_handle)
	if (strcmp(type, "CUcontext") == 0)
		CU(cuCtxGetCurrent, &made_handle);
	if (strcmp(type, "CUstream") == 0)
		return MADE(cuStreamCreate, 0);
	if (strcmp(type, "CUevent") == 0)
		return MADE(cuEventCreate, 0);
	if (strcmp(type, "CUmodule") == 0)
		return module_here();
	if (strcmp(type, "CUlibrary") == 0)
		return library_here();
	if (strcmp(type, "CUfunction") == 0 && (from = module_here()))
		return MADE(cuModuleGetFunction, from, "k0");
	if (strcmp(type, "CUkernel") == 0 && (from = library_here()))
		return MADE(cuLibraryGetKernel, from, "k0");
	if (strcmp(type, "CUgraph") == 0)
		return graph_here(&node);
	if (strcmp(type, "CUgraphNode") == 0)
		return graph_here(&node) ? (uintptr_t)node : 0;
	if (strcmp(type, "CUgraphExec") == 0)
		return MADE(cuGraphInstantiateWithFlags, graph_here(&node), 0ull);
	if (strcmp(type, "CUmemoryPool") == 0)
		return MADE(cuMemPoolCreate, properties);
	if (strcmp(type, "CUarray") == 0)
		return MADE(cuArrayCreate_v2, format);
	if (strcmp(type, "CUdeviceptr") == 0)
		return MADE(cuMemAlloc_v2, (size_t)PAGE);
	if (strcmp(type, "CUmemGenericAllocationHandle") == 0)
		return MADE(cuMemCreate, (size_t)2 << 20, properties, 0ull);
#undef MADE
	return (uintptr_t)made_handle;
}

static uintptr_t word_of(const struct parameter *p)
{
	static const struct {
		const char *name;
		uintptr_t value;
	} values[] = {
		{ "bytesize", 2 << 20 },
		{ "size", 2 << 20 },
		{ "WidthInBytes", 64 },
		{ "Height", 64 },
		{ "ElementSizeBytes", 4 },
		{ "numMipmapLevels", 1 },
		{ "cudaVersion", 12000 },
		{ "value", 1024 },
		{ "val", 1024 },
		{ "location", 1 },
		{ "type", 1 },
		{ "handleType", 1 },
		{ "shHandleType", 1 },
		{ "mode", 2 },
		{ "blockSize", 32 },
		{ "attrib", 8 },
		{ "count", 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strcmp(p->name, values[i].name) == 0)
			return values[i].value;
	return strstr(p->name, "Dim") != NULL;
}

const char *args_image_file(void)
{
	static char path[] = "/tmp/tare-pointers-XXXXXX";
	static bool is_written;
	int file;

	if (is_written)
		return path;
	is_written = true;
	file = mkstemp(path);
	if (file < 0 || write(file, ptx, sizeof(ptx)) < 0)
		exit(2);
	close(file);
	return path;
}

static uintptr_t pointer_of(const struct parameter *p, char *page)
{
	static const int properties[] = { 1, 0, 1, 0 }, location[] = { 1, 0, 3 };
	static const int flat[] = { 64, 0, 64, 0, 0x20, 1 }, deep[] = { 64, 0, 64, 0, 2, 0, 0x20, 1, 0 };
	static const int launch[] = { 1, 1, 1, 1, 1, 1, 0, 0 };

	memset(page, 0, PAGE);
	if (strstr(p->type, "AllocationProp") || strstr(p->type, "PoolProps"))
		memcpy(page, properties, sizeof(properties));
	else if (strstr(p->type, "AccessDesc") || strstr(p->type, "Location"))
		memcpy(page, location, sizeof(location));
	else if (strstr(p->type, "ARRAY_DESC"))
		memcpy(page, flat, sizeof(flat));
	else if (strstr(p->type, "ARRAY3D"))
		memcpy(page, deep, sizeof(deep));
	else if (strstr(p->type, "launchConfig"))
		memcpy(page, launch, sizeof(launch));
	else if (strcmp(p->name, "fname") == 0 || strcmp(p->name, "fileName") == 0)
		strcpy(page, args_image_file());
	else if (strcmp(p->type, "const void") == 0)
		memcpy(page, ptx, sizeof(ptx));
	else if (strcmp(p->type, "const char") == 0)
		strcpy(page, strcmp(p->name, "symbol") == 0 ? "cuMemAlloc" : "k0");
	else if (strcmp(p->type, "void") == 0 && strcmp(p->name, "pp") != 0 && strstr("kernelParams extra", p->name))
		return 0;
	return (uintptr_t)page;
}

void args_fill(const char *symbol, const struct parameter *p, int nr, uintptr_t out[PARAMETERS])
{
	int i;

	memset(out, 0, PARAMETERS * sizeof(out[0]));
	for (i = 0; i < nr; i++)
		out[i] = p[i].is_pointer  ? pointer_of(&p[i], good[i])
		         : p[i].is_handle ? handle_of(p[i].type)
		         : p[i].is_big    ? (uintptr_t)constant
		                          : word_of(&p[i]);
	if (strncmp(symbol, "cuStreamEndCapture", 18) == 0) {
		void *node;

		CU(cuStreamBeginCaptureToGraph, (void *)out[0], graph_here(&node), NULL, NULL, (size_t)0, 2);
	}
	if (strcmp(symbol, "cuCtxDestroy_v2") == 0)
		CU(cuCtxCreate_v2, &out[0], 0, 0);
}
