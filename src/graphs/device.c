/* SPDX-License-Identifier: Apache-2.0 */
/* Switches executable graphs by the card: the kernel, as PTX, that sets grids and parameters of all nodes, and the calls around it. */
#include "graphs/device.h"

#include "graphs/error.h"

#include <string.h>

#define PARAMS_MAX 8192 /* more than a kernel can have */
#define THREADS    64u

/* What the kernel reads of a template, one for each node; the parameters follow behind all rows. */
struct tare_device_row {
	unsigned grid[3];
	unsigned bytes; /* of parameters */
	const void *params;
};

/*
 * For each node a thread: two updates, of the grid and of all parameters, given to cudaGraphKernelNodeUpdatesApply(). An update has
 * the node at 0, the field at 8 (1: grid, 2: parameters), and at 16 the grid, or where the parameters are, at which
 * offset they go, and how many bytes they have.
 */
static const char ptx[] =
	".version 7.5\n.target sm_75\n.address_size 64\n"
	".extern .func (.param .b32 result) cudaGraphKernelNodeUpdatesApply\n"
	"(.param .b64 updates, .param .b64 count);\n"
	".visible .entry tare_apply(.param .u64 nodes, .param .u64 rows, .param .u32 count, .param .u64 failed)\n"
	"{\n"
	".local .align 16 .b8 updates[80];\n"
	".reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<12>;\n"
	"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
	"mad.lo.u32 %r0, %r0, %r1, %r2;\n"
	"ld.param.u32 %r1, [count]; setp.ge.u32 %p0, %r0, %r1; @%p0 bra DONE;\n"
	"ld.param.u64 %rd0, [nodes]; mul.wide.u32 %rd1, %r0, 8; add.u64 %rd0, %rd0, %rd1;\n"
	"ld.u64 %rd2, [%rd0];\n"
	"ld.param.u64 %rd0, [rows]; mul.wide.u32 %rd1, %r0, 24; add.u64 %rd0, %rd0, %rd1;\n"
	"ld.u32 %r3, [%rd0]; ld.u32 %r4, [%rd0+4]; ld.u32 %r5, [%rd0+8];\n"
	"ld.u32 %r6, [%rd0+12]; ld.u64 %rd3, [%rd0+16];\n"
	"mov.u64 %rd4, updates; mov.u32 %r7, 1; mov.u32 %r8, 2; mov.u64 %rd5, 0;\n"
	"st.local.u64 [%rd4], %rd2; st.local.u32 [%rd4+8], %r7;\n"
	"st.local.u32 [%rd4+16], %r3; st.local.u32 [%rd4+20], %r4; st.local.u32 [%rd4+24], %r5;\n"
	"st.local.u64 [%rd4+40], %rd2; st.local.u32 [%rd4+48], %r8;\n"
	"cvt.u64.u32 %rd6, %r6;\n"
	"st.local.u64 [%rd4+56], %rd3; st.local.u64 [%rd4+64], %rd5; st.local.u64 [%rd4+72], %rd6;\n"
	"setp.eq.u32 %p1, %r6, 0; selp.b64 %rd7, 1, 2, %p1; cvta.local.u64 %rd8, %rd4;\n"
	"{ .param .b64 a; .param .b64 b; .param .b32 c;\n"
	"st.param.b64 [a], %rd8; st.param.b64 [b], %rd7;\n"
	"call (c), cudaGraphKernelNodeUpdatesApply, (a, b);\n"
	"ld.param.b32 %r9, [c]; }\n"
	"setp.eq.u32 %p2, %r9, 0; @%p2 bra DONE;\n"
	"ld.param.u64 %rd9, [failed]; atom.add.u32 %r10, [%rd9], 1;\n"
	"DONE: ret;\n}\n";

/* ---- the kernel ---- */
static int is_there(void)
{
	return tare_cu.cuLinkCreate_v2 && tare_cu.cuLinkAddData_v2 && tare_cu.cuLinkAddFile_v2 && tare_cu.cuLinkComplete &&
	       tare_cu.cuLinkDestroy && tare_cu.cuModuleLoadData && tare_cu.cuModuleUnload && tare_cu.cuModuleGetFunction &&
	       tare_cu.cuLaunchKernel && tare_cu.cuMemHostAlloc && tare_cu.cuMemFreeHost && tare_cu.cuStreamCreate &&
	       tare_cu.cuStreamDestroy_v2 && tare_cu.cuGraphNodeFindInClone && tare_cu.cuGraphKernelNodeSetAttribute;
}

static int load(struct tare_switcher *device, const char *runtime)
{
	CUlinkState link;
	size_t bytes;
	void *cubin;
	int rc = tare_graphs_cuda(tare_cu.cuLinkCreate_v2(0, NULL, NULL, &link), "cuLinkCreate");

	if (rc)
		return rc;
	rc = tare_graphs_cuda(tare_cu.cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof(ptx), "tare_apply", 0,
	                                               NULL, NULL),
	                      "cuLinkAddData");
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuLinkAddFile_v2(link, CU_JIT_INPUT_LIBRARY, runtime, 0, NULL, NULL),
		                      "cuLinkAddFile of libcudadevrt.a");
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuLinkComplete(link, &cubin, &bytes), "cuLinkComplete");
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuModuleLoadData(&device->module, cubin), "cuModuleLoadData");
	tare_cu.cuLinkDestroy(link);
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuModuleGetFunction(&device->apply, device->module, "tare_apply"),
		                      "cuModuleGetFunction");
	return rc;
}

int tare_device_init(struct tare_switcher *device, const char *runtime)
{
	int rc;

	if (!is_there())
		return tare_graphs_fail(TARE_GRAPHS_NO_DRIVER,
		                        "this driver lacks calls to switch by the card; leave out options.device_runtime");
	rc = load(device, runtime);
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuMemHostAlloc((void **)&device->failed, sizeof(*device->failed), 0),
		                      "cuMemHostAlloc");
	if (rc)
		tare_device_fini(device);
	return rc;
}

void tare_device_fini(struct tare_switcher *device)
{
	if (device->failed)
		tare_cu.cuMemFreeHost(device->failed);
	if (device->stream)
		tare_cu.cuStreamDestroy_v2(device->stream);
	if (device->module)
		tare_cu.cuModuleUnload(device->module);
	memset(device, 0, sizeof(*device));
}

/* ---- templates ---- */
bool tare_device_takes(const struct tare_template *tmpl)
{
	return !tmpl->is_opaque && !tmpl->is_fixed && tmpl->nodes_nr && tmpl->kernels == tmpl->nodes_nr;
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

uint64_t tare_device_signature(const struct tare_template *tmpl)
{
	uint64_t hash = tmpl->signature;
	size_t i;

	for (i = 0; i < tmpl->nodes_nr; i++) {
		const CUDA_KERNEL_NODE_PARAMS *k = &tmpl->nodes[i].kernel;

		hash = mix(hash, (uintptr_t)k->func);
		hash = mix(hash, (uintptr_t)k->kern);
		hash = mix(hash, (uint64_t)k->blockDimX << 32 | k->blockDimY << 16 | k->blockDimZ);
		hash = mix(hash, k->sharedMemBytes);
	}
	return hash;
}

static CUresult param_info(const CUDA_KERNEL_NODE_PARAMS *kernel, size_t i, size_t *offset, size_t *size)
{
	return kernel->func ? tare_cu.cuFuncGetParamInfo(kernel->func, i, offset, size)
	                    : tare_cu.cuKernelGetParamInfo(kernel->kern, i, offset, size);
}

/* Parameters of a kernel, each at its offset; `to` may be NULL. Returns how many bytes they have. */
static size_t put_params(const CUDA_KERNEL_NODE_PARAMS *kernel, unsigned char *to)
{
	size_t i, offset, size, bytes = 0;

	for (i = 0; i < PARAMS_MAX && param_info(kernel, i, &offset, &size) == CUDA_SUCCESS; i++) {
		if (to)
			memcpy(to + offset, kernel->kernelParams[i], size);
		if (offset + size > bytes)
			bytes = offset + size;
	}
	return bytes;
}

static size_t round8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static int make_rows(struct tare_template *tmpl)
{
	size_t i, bytes = tmpl->nodes_nr * sizeof(struct tare_device_row);
	struct tare_device_row *rows;
	unsigned char *params;
	int rc;

	if (tmpl->rows)
		return 0;
	for (i = 0; i < tmpl->nodes_nr; i++)
		bytes += round8(put_params(&tmpl->nodes[i].kernel, NULL));
	rc = tare_graphs_cuda(tare_cu.cuMemHostAlloc(&tmpl->rows, bytes, 0), "cuMemHostAlloc");
	if (rc)
		return rc;
	rows = memset(tmpl->rows, 0, bytes);
	params = (unsigned char *)(rows + tmpl->nodes_nr);
	for (i = 0; i < tmpl->nodes_nr; i++) {
		const CUDA_KERNEL_NODE_PARAMS *k = &tmpl->nodes[i].kernel;

		rows[i].grid[0] = k->gridDimX;
		rows[i].grid[1] = k->gridDimY;
		rows[i].grid[2] = k->gridDimZ;
		rows[i].bytes = (unsigned)put_params(k, params);
		rows[i].params = params;
		params += round8(rows[i].bytes);
	}
	return 0;
}

/* ---- executable graphs ---- */
static CUresult make_updatable(const struct tare_template *tmpl, struct tare_device_exec *made)
{
	CUlaunchAttributeValue value;
	CUresult result = CUDA_SUCCESS;
	CUgraphNode node;
	size_t i;

	for (i = 0; result == CUDA_SUCCESS && i < tmpl->nodes_nr; i++) {
		memset(&value, 0, sizeof(value));
		value.updatable.is_updatable = 1;
		result = tare_cu.cuGraphNodeFindInClone(&node, tmpl->nodes[i].node, made->graph);
		if (result == CUDA_SUCCESS)
			result =
				tare_cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value);
		if (result == CUDA_SUCCESS && !value.updatable.node)
			result =
				tare_cu.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value);
		made->nodes[i] = value.updatable.node;
	}
	return result;
}

int tare_device_switch(struct tare_switcher *device, const struct tare_template *tmpl,
                       const struct tare_device_exec *exec, CUstream stream)
{
	unsigned count = (unsigned)tmpl->nodes_nr;
	void *params[] = { (void *)&exec->nodes, (void *)&tmpl->rows, &count, &device->failed };

	return tare_graphs_cuda(tare_cu.cuLaunchKernel(device->apply, (count + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1,
	                                               0, stream, params, NULL),
	                        "switch: cuLaunchKernel");
}

int tare_device_try(struct tare_switcher *device, struct tare_template *tmpl, const struct tare_device_exec *exec)
{
	int rc = make_rows(tmpl);

	if (rc)
		return -1;
	*device->failed = 0;
	rc = tare_device_switch(device, tmpl, exec, device->stream);
	if (!rc)
		rc = tare_graphs_cuda(tare_cu.cuStreamSynchronize(device->stream), "switch: cuStreamSynchronize");
	return rc || *device->failed ? -1 : 0;
}

int tare_device_make(struct tare_switcher *device, struct tare_template *tmpl, struct tare_device_exec *made)
{
	CUresult result;

	memset(made, 0, sizeof(*made));
	result = tare_cu.cuGraphClone(&made->graph, tmpl->graph);
	if (result == CUDA_SUCCESS)
		result = tare_cu.cuMemHostAlloc((void **)&made->nodes, tmpl->nodes_nr * sizeof(*made->nodes), 0);
	if (result == CUDA_SUCCESS)
		result = make_updatable(tmpl, made);
	if (result == CUDA_SUCCESS)
		result = tare_cu.cuGraphInstantiateWithFlags(&made->exec, made->graph,
		                                             CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
	if (result == CUDA_SUCCESS)
		result = tare_cu.cuGraphUpload(made->exec, device->stream);
	if (result == CUDA_SUCCESS && tare_device_try(device, tmpl, made) == 0)
		return 0;
	tare_device_drop(made);
	return -1;
}

void tare_device_drop(struct tare_device_exec *exec)
{
	if (exec->exec)
		tare_cu.cuGraphExecDestroy(exec->exec);
	if (exec->graph)
		tare_cu.cuGraphDestroy(exec->graph);
	if (exec->nodes)
		tare_cu.cuMemFreeHost(exec->nodes);
	memset(exec, 0, sizeof(*exec));
}
