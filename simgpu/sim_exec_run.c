/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs at work. Memory nodes draw on a pool of the device that shrinks at
 * cuDeviceGraphMemTrim only.
 */
#include "sim_exec.h"

static struct {
	uint64_t used, used_high, reserved, reserved_high;
} pools[SIM_DEVICES];

/* ---- memory nodes ---- */
/* Before the first launch, or by an upload; later launches find it there. */
static CUresult reserve(const struct sim_exec *exec, int device)
{
	uint64_t wanted = sim_round_up(pools[device].used - exec->live + exec->shape.most, sim.profile.graph_pool_step);

	if (wanted <= pools[device].reserved)
		return CUDA_SUCCESS;
	if (sim_take(device, wanted - pools[device].reserved) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pools[device].reserved = wanted;
	if (wanted > pools[device].reserved_high)
		pools[device].reserved_high = wanted;
	return CUDA_SUCCESS;
}

/* The graph that allocated an address last; none once the address is freed. */
static void own(const struct sim_node *node, struct sim_exec *exec)
{
	struct sim_range *range;

	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && (range = sim_range_exactly(node->params.alloc.dptr)))
		range->owner = exec;
	else if (node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && (range = sim_range_exactly(node->params.free.dptr)))
		range->owner = NULL;
}

static CUresult run_memory(struct sim_exec *exec, int device)
{
	const struct sim_node *node;
	CUresult result;

	if (exec->live && !(exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
		return CUDA_ERROR_INVALID_VALUE;
	result = reserve(exec, device);
	if (result != CUDA_SUCCESS)
		return result;
	pools[device].used += exec->shape.left - exec->live;
	if (pools[device].used + exec->shape.most - exec->shape.left > pools[device].used_high)
		pools[device].used_high = pools[device].used + exec->shape.most - exec->shape.left;
	exec->live = exec->shape.left;
	for (node = exec->graph->first; node; node = node->next)
		own(node, exec);
	return CUDA_SUCCESS;
}

void sim_exec_forget(struct sim_exec *exec)
{
	struct sim_range *range;

	pools[exec->object.context->device].used -= exec->live;
	while (exec->live && (range = sim_range_owned(exec)))
		range->owner = NULL;
	exec->live = 0;
}

/* What a launch allocated and left may be freed by the program, in a stream or at once. */
CUresult sim_graph_memory_free(struct sim_range *range)
{
	struct sim_exec *exec = sim_object_get(range->owner, SIM_EXEC);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	range->owner = NULL;
	exec->live -= range->span;
	pools[exec->object.context->device].used -= range->span;
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

CUresult sim_body_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
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

CUresult sim_body_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
	if (!value || *(cuuint64_t *)value)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
		pools[device].used_high = pools[device].used;
	else if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
		pools[device].reserved_high = pools[device].reserved;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* ---- using one ---- */
static void run(const struct sim_graph *graph);

/* A body that is repeated while a condition holds runs once: no kernel ends it here. */
static void run_conditional(const struct sim_node *node)
{
	const CUDA_CONDITIONAL_NODE_PARAMS *about = &node->params.conditional;
	unsigned value = sim_condition_value(about->handle), body = node->children_nr;

	if (about->type == CU_GRAPH_COND_TYPE_SWITCH)
		body = value;
	else if (value)
		body = 0;
	else if (about->type == CU_GRAPH_COND_TYPE_IF)
		body = 1;
	if (body < node->children_nr)
		run(node->children[body]);
}

static void run(const struct sim_graph *graph)
{
	const struct sim_node *node;

	for (node = graph->first; node; node = node->next) {
		if (node->is_disabled)
			continue;
		if (node->type == CU_GRAPH_NODE_TYPE_GRAPH)
			run(node->children[0]);
		else if (node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
			run_conditional(node);
		else
			sim_work_run(node);
	}
}

CUresult sim_body_cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
	struct sim_exec *exec = sim_exec_get(hGraphExec);
	CUresult result = sim_stream_check(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	return exec ? reserve(exec, exec->object.context->device) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
	struct sim_exec *exec = sim_exec_get(hGraphExec);
	CUresult result = sim_stream_use(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_stream_graph(hStream)) { /* a launch within a capture becomes a child graph */
		CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_GRAPH };

		params.graph.graph = (CUgraph)exec->graph;
		return sim_capture_add(hStream, &params);
	}
	if (exec->shape.most)
		result = run_memory(exec, exec->object.context->device);
	if (result != CUDA_SUCCESS)
		return result;
	sim_pending_give(hStream);
	exec->running++;
	if (exec->has_work)
		run(exec->graph);
	exec->running--;
	sim_exec_drop(exec);
	return CUDA_SUCCESS;
}
