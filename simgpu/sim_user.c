/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What graphs take besides nodes: whether a node may be so, conditions, and objects of the program
 * that live as long as the graphs that use them.
 */
#include <stdlib.h>

#include "sim_graph.h"

/* ---- nodes ---- */
CUresult sim_node_check(const CUgraphNodeParams *params)
{
	const CUDA_KERNEL_NODE_PARAMS_v2 *kernel = &params->kernel;
	const CUDA_MEMSET_NODE_PARAMS *fill = &params->memset.of;
	bool is_good = true;

	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		if (!kernel->func && !kernel->kern)
			return CUDA_ERROR_INVALID_VALUE;
		return sim_object_get(kernel->func, SIM_FUNCTION) || sim_object_get(kernel->func, SIM_KERNEL) ||
		               sim_object_get(kernel->kern, SIM_KERNEL)
		           ? CUDA_SUCCESS
		           : CUDA_ERROR_INVALID_HANDLE;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		is_good = sim_range_at(fill->dst);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		is_good = params->host.fn;
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		is_good = sim_object_get(params->graph.graph, SIM_GRAPH);
		break;
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		is_good = sim_object_get(params->eventRecord.event, SIM_EVENT);
		break;
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		is_good = params->memOp.count && params->memOp.paramArray;
		break;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		is_good = params->alloc.bytesize && sim_is_device(params->alloc.poolProps.location.id);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_FREE: {
		const struct sim_range *range = sim_range_exactly(params->free.dptr);

		is_good = range && range->kind == SIM_RANGE_GRAPH;
		break;
	}
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_EMPTY:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- conditions ---- */
/* A handle belongs to one graph; a kernel that sets it does nothing here, so it keeps its default. */
struct condition {
	const struct sim_graph *graph;
	unsigned value;
};
static struct condition *conditions;
static size_t conditions_nr;

CUresult sim_body_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx,
                                                 unsigned int defaultLaunchValue, unsigned int flags)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	struct sim_context *context;
	struct condition *more;
	CUresult result = sim_current_or(ctx, &context);

	if (!pHandle_out || !graph || flags > CU_GRAPH_COND_ASSIGN_DEFAULT)
		return CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	more = realloc(conditions, (conditions_nr + 1) * sizeof(*more));
	if (!more)
		return CUDA_ERROR_OUT_OF_MEMORY;
	conditions = more;
	conditions[conditions_nr++] = (struct condition){ graph, flags ? defaultLaunchValue : 0 };
	*pHandle_out = conditions_nr;
	return CUDA_SUCCESS;
}

static bool condition_is(CUgraphConditionalHandle handle, const struct sim_graph *graph)
{
	return handle && handle <= conditions_nr && conditions[handle - 1].graph == graph;
}

unsigned sim_condition_value(CUgraphConditionalHandle handle)
{
	return handle && handle <= conditions_nr ? conditions[handle - 1].value : 0;
}

CUresult sim_node_check_condition(const CUDA_CONDITIONAL_NODE_PARAMS *condition, const struct sim_graph *graph)
{
	unsigned most = condition->type == CU_GRAPH_COND_TYPE_IF      ? 2
	                : condition->type == CU_GRAPH_COND_TYPE_WHILE ? 1
	                                                              : 1u << 16;

	if (!condition_is(condition->handle, graph) || condition->type < 0 || condition->type > CU_GRAPH_COND_TYPE_SWITCH ||
	    !condition->size || condition->size > most)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* ---- objects of the program ---- */
struct sim_user {
	struct sim_object object;
	CUhostFn destroy;
	void *data;
	unsigned refs;
};

struct sim_hold { /* of a graph */
	struct sim_hold *next;
	struct sim_user *user;
	unsigned count;
};

CUresult sim_body_cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                                     unsigned int initialRefcount, unsigned int flags)
{
	struct sim_user *user;

	if (!object_out || !destroy || !initialRefcount || initialRefcount > INT32_MAX ||
	    flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	user = sim_object_new(SIM_USER, NULL, sizeof(*user));
	if (!user)
		return CUDA_ERROR_OUT_OF_MEMORY;
	user->destroy = destroy;
	user->data = ptr;
	user->refs = initialRefcount;
	*object_out = (CUuserObject)user;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuUserObjectRetain(CUuserObject object, unsigned int count)
{
	struct sim_user *user = sim_object_get(object, SIM_USER);

	if (!user || !count || count > INT32_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	user->refs += count;
	return CUDA_SUCCESS;
}

/* The last one calls the program, without our lock. */
static CUresult release(struct sim_user *user, unsigned count)
{
	CUhostFn destroy;
	void *data;

	if (!user || !count || count > user->refs)
		return CUDA_ERROR_INVALID_VALUE;
	user->refs -= count;
	if (user->refs)
		return CUDA_SUCCESS;
	destroy = user->destroy;
	data = user->data;
	sim_object_delete(user);
	sim_unlock();
	destroy(data);
	sim_relock();
	return CUDA_SUCCESS;
}

CUresult sim_body_cuUserObjectRelease(CUuserObject object, unsigned int count)
{
	return release(sim_object_get(object, SIM_USER), count);
}

static struct sim_hold *find_hold(struct sim_graph *graph, const struct sim_user *user)
{
	struct sim_hold *hold = graph->holds;

	while (hold && hold->user != user)
		hold = hold->next;
	return hold;
}

CUresult sim_body_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags)
{
	struct sim_graph *holder = sim_object_get(graph, SIM_GRAPH);
	struct sim_user *user = sim_object_get(object, SIM_USER);
	struct sim_hold *hold;

	if (!holder || !user || !count || count > INT32_MAX || flags > CU_GRAPH_USER_OBJECT_MOVE)
		return CUDA_ERROR_INVALID_VALUE;
	hold = find_hold(holder, user);
	if (!hold) {
		hold = calloc(1, sizeof(*hold));
		if (!hold)
			return CUDA_ERROR_OUT_OF_MEMORY;
		hold->user = user;
		hold->next = holder->holds;
		holder->holds = hold;
	}
	hold->count += count;
	if (flags != CU_GRAPH_USER_OBJECT_MOVE)
		user->refs += count;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
	struct sim_graph *holder = sim_object_get(graph, SIM_GRAPH);
	struct sim_user *user = sim_object_get(object, SIM_USER);
	struct sim_hold *hold = holder && user ? find_hold(holder, user) : NULL;

	if (!hold || !count || count > hold->count)
		return CUDA_ERROR_INVALID_VALUE;
	hold->count -= count;
	return release(user, count);
}

CUresult sim_user_hold_same(struct sim_graph *copy, const struct sim_graph *graph)
{
	CUresult result = CUDA_SUCCESS;
	const struct sim_hold *hold;

	for (hold = graph->holds; hold && result == CUDA_SUCCESS; hold = hold->next)
		if (hold->count)
			result = sim_body_cuGraphRetainUserObject((CUgraph)copy, (CUuserObject)hold->user, hold->count, 0);
	return result;
}

void sim_user_release_all(struct sim_graph *graph)
{
	struct sim_hold *hold;

	while ((hold = graph->holds)) {
		graph->holds = hold->next;
		if (hold->count)
			release(sim_object_get(hold->user, SIM_USER), hold->count);
		free(hold);
	}
}
