/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs. As measured: one takes so many bytes for each node, by its kind, out of memory
 * that the context holds for all of them, that grows in steps and may stay when one is destroyed.
 * Memory nodes draw on a pool of the device that shrinks at cuDeviceGraphMemTrim only.
 */
#include "sim_graph.h"

struct sim_exec {
	struct sim_object object;
	struct sim_shape {
		size_t nodes, kernels;
		uint64_t bytes, param_bytes; /* of the device, for its nodes */
		uint64_t most, left;         /* of its memory nodes: at once, and not freed by it */
	} shape;
	bool auto_free;
	uint64_t live; /* allocated by a launch and not yet freed */
};

static struct {
	uint64_t used, used_high, reserved, reserved_high;
} pools[SIM_DEVICES];

/* Of a node that is no kernel. */
static uint64_t bytes_of(CUgraphNodeType type)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return sim.profile.graph_memset;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return sim.profile.graph_memcpy;
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return sim.profile.graph_empty;
	default:
		return 0;
	}
}

static struct sim_shape measure(const struct sim_graph *graph)
{
	struct sim_shape shape = { 0 }, child;
	const struct sim_node *node;

	/* Memory nodes in the order in which they were added, which is one that they can run in. */

	for (node = graph->first; node; node = node->next) {
		shape.nodes++;
		shape.bytes += bytes_of(node->type);
		if (node->child) { /* which may have no memory nodes */
			child = measure(node->child);
			shape.nodes += child.nodes;
			shape.kernels += child.kernels;
			shape.bytes += child.bytes;
			shape.param_bytes += child.param_bytes;
		}
		if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
			uint64_t params = sim_function_params(node->function);

			shape.kernels++;
			shape.bytes += sim.profile.graph_node;
			if (params > sim.profile.graph_param_small)
				shape.param_bytes += params * sim.profile.graph_param_percent / 100;
		} else if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
			shape.left += node->bytes;
			if (shape.left > shape.most)
				shape.most = shape.left;
		} else if (node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && shape.left >= node->bytes) {
			shape.left -= node->bytes;
		}
	}
	return shape;
}

static CUresult hold_shape(struct sim_context *context, const struct sim_shape *shape)
{
	uint64_t step = sim.profile.graph_step;
	CUresult result = sim_context_hold(context, &context->nodes, shape->bytes, step);

	if (result != CUDA_SUCCESS)
		return result;
	result = sim_context_hold(context, &context->params, shape->param_bytes, step);
	if (result != CUDA_SUCCESS)
		context->nodes.used -= shape->bytes;
	return result;
}

static void drop(struct sim_context *context, struct sim_hoard *hoard, uint64_t bytes,
		 uint64_t free)
{
	uint64_t needed = free;

	hoard->used -= bytes;
	if (sim.profile.graph_kept)
		return;
	if (hoard->used > free)
		needed += sim_round_up(hoard->used - free, sim.profile.graph_step);
	sim_context_give(context, hoard->room - needed);
	hoard->room = needed;
}

static void let_go(struct sim_context *context, const struct sim_shape *shape)
{
	drop(context, &context->nodes, shape->bytes, sim.profile.graph_free);
	drop(context, &context->params, shape->param_bytes, sim.profile.graph_param_free);
}

/* A graph's kernels are ready to run once it can be launched. */
static CUresult prepare(struct sim_context *context, const struct sim_graph *graph)
{
	CUresult result = CUDA_SUCCESS;
	const struct sim_node *node;

	for (node = graph->first; node && result == CUDA_SUCCESS; node = node->next)
		if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
			result = sim_function_launch(context, node->function, NULL);
		else if (node->child)
			result = prepare(context, node->child);
	return result;
}

static CUresult instantiate(CUgraphExec *handle, CUgraph graph_handle, unsigned long long flags)
{
	struct sim_graph *graph = sim_object_get(graph_handle, SIM_GRAPH);
	struct sim_context *context;
	struct sim_shape shape;
	struct sim_exec *exec;
	CUresult result = sim_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || !graph || flags > 15)
		return CUDA_ERROR_INVALID_VALUE;
	shape = measure(graph);
	result = prepare(context, graph);
	if (result == CUDA_SUCCESS)
		result = hold_shape(context, &shape);
	if (result != CUDA_SUCCESS)
		return result;
	exec = sim_object_new(SIM_EXEC, context, sizeof(*exec));
	if (!exec) {
		let_go(context, &shape);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	exec->shape = shape;
	exec->auto_free = flags & 1;
	*handle = (CUgraphExec)exec;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
				     CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
	if (phErrorNode)
		*phErrorNode = NULL;
	if (logBuffer && bufferSize)
		logBuffer[0] = 0;
	return instantiate(phGraphExec, hGraph, 0);
}

CUresult sim_body_cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
					CUgraphNode *phErrorNode, char *logBuffer,
					size_t bufferSize)
{
	return sim_body_cuGraphInstantiate(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult sim_body_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
					      unsigned long long flags)
{
	return instantiate(phGraphExec, hGraph, flags);
}

CUresult sim_body_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
					       CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	if (!instantiateParams)
		return CUDA_ERROR_INVALID_VALUE;
	instantiateParams->hErrNode_out = NULL;
	instantiateParams->result_out = 0;
	return instantiate(phGraphExec, hGraph, instantiateParams->flags);
}

/* ---- memory nodes ---- */
/* Before the first launch, or by an upload; later launches find it there. */
static CUresult reserve(const struct sim_exec *exec, int device)
{
	uint64_t wanted = sim_round_up(pools[device].used - exec->live + exec->shape.most,
				       sim.profile.graph_pool_step);

	if (wanted <= pools[device].reserved)
		return CUDA_SUCCESS;
	if (sim_take(device, wanted - pools[device].reserved) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pools[device].reserved = wanted;
	if (wanted > pools[device].reserved_high)
		pools[device].reserved_high = wanted;
	return CUDA_SUCCESS;
}

static CUresult run_memory(struct sim_exec *exec, int device)
{
	CUresult result;

	if (exec->live && !exec->auto_free)
		return CUDA_ERROR_INVALID_VALUE;
	result = reserve(exec, device);
	if (result != CUDA_SUCCESS)
		return result;
	pools[device].used += exec->shape.left - exec->live;
	if (pools[device].used + exec->shape.most - exec->shape.left > pools[device].used_high)
		pools[device].used_high = pools[device].used + exec->shape.most - exec->shape.left;
	exec->live = exec->shape.left;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGraphMemTrim(CUdevice device)
{
	uint64_t wanted;

	if (!sim_is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	wanted = sim_round_up(pools[device].used, sim.profile.graph_pool_step);
	if (wanted < pools[device].reserved) {
		sim_give(device, pools[device].reserved - wanted);
		pools[device].reserved = wanted;
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
					       void *value)
{
	cuuint64_t *number = value;

	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	switch (attr) {
	case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		*number = pools[device].used;
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		*number = pools[device].used_high;
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*number = pools[device].reserved;
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*number = pools[device].reserved_high;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* ---- using one ---- */
CUresult sim_body_cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
	struct sim_exec *exec = sim_object_get(hGraphExec, SIM_EXEC);
	CUresult result = sim_stream_check(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	return exec ? reserve(exec, exec->object.context->device) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
	struct sim_exec *exec = sim_object_get(hGraphExec, SIM_EXEC);
	CUresult result = sim_stream_check(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	return exec->shape.most ? run_memory(exec, exec->object.context->device) : CUDA_SUCCESS;
}

static CUresult set_node(CUgraphExec exec, CUgraphNode handle, const void *params, int type)
{
	struct sim_node *node = sim_object_get(handle, SIM_NODE);

	if (!sim_object_get(exec, SIM_EXEC) || !node || !params ||
	    (type >= 0 && node->type != type))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						 const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	return set_node(hGraphExec, hNode, nodeParams, CU_GRAPH_NODE_TYPE_KERNEL);
}

CUresult sim_body_cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
						    const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	return set_node(hGraphExec, hNode, nodeParams, CU_GRAPH_NODE_TYPE_KERNEL);
}

CUresult sim_body_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						 const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	(void)ctx;
	return set_node(hGraphExec, hNode, copyParams, CU_GRAPH_NODE_TYPE_MEMCPY);
}

CUresult sim_body_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						 const CUDA_MEMSET_NODE_PARAMS *memsetParams,
						 CUcontext ctx)
{
	(void)ctx;
	return set_node(hGraphExec, hNode, memsetParams, CU_GRAPH_NODE_TYPE_MEMSET);
}

CUresult sim_body_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					       const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	return set_node(hGraphExec, hNode, nodeParams, CU_GRAPH_NODE_TYPE_HOST);
}

CUresult sim_body_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						     CUgraph childGraph)
{
	return set_node(hGraphExec, hNode, sim_object_get(childGraph, SIM_GRAPH),
			CU_GRAPH_NODE_TYPE_GRAPH);
}

CUresult sim_body_cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					   CUgraphNodeParams *nodeParams)
{
	return set_node(hGraphExec, hNode, nodeParams, -1);
}

/* An update fits where the new graph has as many nodes of each kind. */
CUresult sim_body_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
				       CUgraphExecUpdateResultInfo *resultInfo)
{
	struct sim_exec *exec = sim_object_get(hGraphExec, SIM_EXEC);
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct sim_shape shape;
	bool fits;

	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	shape = measure(graph);
	fits = shape.nodes == exec->shape.nodes && shape.kernels == exec->shape.kernels &&
	       !shape.most;
	if (resultInfo) {
		resultInfo->result = fits ? CU_GRAPH_EXEC_UPDATE_SUCCESS
					  : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		resultInfo->errorNode = resultInfo->errorFromNode = NULL;
	}
	return fits ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult sim_body_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
				    CUgraphNode *hErrorNode_out,
				    CUgraphExecUpdateResult *updateResult_out)
{
	CUgraphExecUpdateResultInfo info = { 0 };
	CUresult result = sim_body_cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);

	if (hErrorNode_out)
		*hErrorNode_out = info.errorNode;
	if (updateResult_out)
		*updateResult_out = info.result;
	return result;
}

CUresult sim_body_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	struct sim_exec *exec = sim_object_get(hGraphExec, SIM_EXEC);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	let_go(exec->object.context, &exec->shape);
	pools[exec->object.context->device].used -= exec->live;
	sim_object_delete(exec);
	return CUDA_SUCCESS;
}
