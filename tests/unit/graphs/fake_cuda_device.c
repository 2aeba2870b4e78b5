/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one kernel that libtare_graphs links: it sets nodes of executable graphs. It does so when it is launched: launches that
 * were made before have copies, so that is the order of a stream.
 */
#include "fake_cuda_private.h"

#include <stdlib.h>
#include <string.h>

struct row { /* src/graphs/device.c */
	unsigned grid[3], bytes;
	const unsigned char *params;
};

static char linker, module_there, apply;

CUresult cuLinkCreate_v2(unsigned int count, int *options, void **values, CUlinkState *link)
{
	ENTER();
	*link = (CUlinkState)&linker;
	return count || options || values ? 1 : CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState link, int type, void *data, size_t size, const char *name, unsigned int count,
                          int *options, void **values)
{
	ENTER();
	(void)link, (void)size, (void)name, (void)count, (void)options, (void)values;
	return type == CU_JIT_INPUT_PTX && strstr(data, "cudaGraphKernelNodeUpdatesApply") ? CUDA_SUCCESS : 1;
}

CUresult cuLinkAddFile_v2(CUlinkState link, int type, const char *path, unsigned int count, int *options, void **values)
{
	ENTER();
	(void)link, (void)count, (void)options, (void)values;
	return type == CU_JIT_INPUT_LIBRARY && !strcmp(path, "libcudadevrt.a") ? CUDA_SUCCESS : 301;
}

CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes)
{
	ENTER();
	*cubin = link;
	*bytes = 1;
	return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link)
{
	ENTER_FREE();
	return link ? CUDA_SUCCESS : 1;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	ENTER();
	*module = (CUmodule)&module_there;
	fake.modules++;
	return image ? CUDA_SUCCESS : 1;
}

CUresult cuModuleUnload(CUmodule module)
{
	ENTER_FREE();
	fake.modules--;
	return module ? CUDA_SUCCESS : 1;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	ENTER();
	*function = (CUfunction)&apply;
	return module && !strcmp(name, "tare_apply") ? CUDA_SUCCESS : 1;
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	ENTER();
	*address = malloc(bytes);
	fake.pinned++;
	return flags ? 1 : CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *address)
{
	ENTER_FREE();
	free(address);
	fake.pinned--;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	ENTER();
	*stream = fake_stream_new();
	return flags == CU_STREAM_NON_BLOCKING ? CUDA_SUCCESS : 1;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	ENTER_FREE();
	fake_stream_delete(stream);
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
	ENTER();
	*node = (CUgraphNode)((struct graph *)clone)->nodes[((struct node *)original)->index];
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute, const CUlaunchAttributeValue *value)
{
	ENTER();
	if (fake.refuses_updatable || attribute != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE ||
	    !value->updatable.is_updatable)
		return 1;
	((struct node *)node)->is_updatable = true;
	((CUlaunchAttributeValue *)value)->updatable.node = (CUgraphDeviceNode)node; /* as the driver does */
	return CUDA_SUCCESS;
}

static bool set(struct node *node, const struct row *row)
{
	struct exec *exec = node->graph->exec;
	struct node *to;
	size_t i, offset = 0;

	if (!exec || !node->is_updatable)
		return false;
	to = exec->shape->nodes[node->index];
	to->grid = row->grid[0];
	for (i = 0; i < to->kernel->params_nr; i++) {
		memcpy(to->values[i], row->params + offset, to->kernel->sizes[i]);
		offset += (to->kernel->sizes[i] + 7) & ~(size_t)7;
	}
	return row->grid[1] == 1 && row->grid[2] == 1 && row->bytes <= offset;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params,
                        void **extra)
{
	struct node **nodes = *(struct node ***)params[0];
	const struct row *rows = *(const struct row **)params[1];
	unsigned count = *(unsigned *)params[2], *failed = *(unsigned **)params[3], i;

	ENTER();
	if (function != (CUfunction)&apply || gx * bx < count || gy * gz * by * bz != 1 || shared || extra || !stream)
		return 1;
	for (i = 0; i < count; i++)
		*failed += !set(nodes[i], &rows[i]);
	return CUDA_SUCCESS;
}
