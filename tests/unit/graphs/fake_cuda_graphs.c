/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of the fake driver, and executable ones. */
#include "fake_cuda_private.h"

#include <stdlib.h>
#include <string.h>

struct node *fake_add_node(struct graph *graph, int type)
{
	struct node *node = calloc(1, sizeof(*node));

	node->type = type;
	node->graph = graph;
	node->index = graph->count;
	graph->nodes[graph->count++] = node;
	if (graph->count >= NODES_MAX)
		abort();
	return node;
}

void fake_point(struct node *node)
{
	int i;

	for (i = 0; i < FAKE_PARAMS; i++)
		node->pointers[i] = node->values[i];
}

struct graph *fake_copy_graph(const struct graph *graph)
{
	struct graph *copy = calloc(1, sizeof(*copy));
	size_t i;

	for (i = 0; i < graph->count; i++) {
		struct node *node = fake_add_node(copy, 0);

		*node = *graph->nodes[i];
		node->graph = copy;
		fake_point(node);
	}
	return copy;
}

void fake_free_graph(struct graph *graph)
{
	size_t i;

	for (i = 0; i < graph->count; i++)
		free(graph->nodes[i]);
	free(graph);
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
	ENTER();
	*clone = (CUgraph)fake_copy_graph((struct graph *)graph);
	fake.graphs++;
	return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
	ENTER_FREE();
	fake_free_graph((struct graph *)graph);
	fake.graphs--;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
	struct graph *graph = (struct graph *)handle;
	size_t i;

	ENTER();
	for (i = 0; nodes && i < *count; i++)
		nodes[i] = (CUgraphNode)graph->nodes[i];
	*count = graph->count;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
	struct graph *graph = (struct graph *)handle;
	size_t i, j, n = 0;

	ENTER();
	for (i = 1; i < graph->count; i++)
		for (j = graph->nodes[i]->depends_on_all ? 0 : i - 1; j < i; j++, n++)
			if (from) {
				from[n] = (CUgraphNode)graph->nodes[j];
				to[n] = (CUgraphNode)graph->nodes[i];
			}
	*count = n;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
	if (data)
		memset(data, 0, *count * sizeof(*data));
	return cuGraphGetEdges(handle, from, to, count);
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type)
{
	ENTER();
	*type = ((struct node *)node)->type;
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *params)
{
	struct node *node = (struct node *)handle;

	ENTER();
	memset(params, 0, sizeof(*params));
	params->func = (CUfunction)node->kernel;
	params->gridDimX = node->grid;
	params->gridDimY = params->gridDimZ = params->blockDimX = params->blockDimY = params->blockDimZ = 1;
	params->kernelParams = node->pointers;
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, int attribute, CUlaunchAttributeValue *value)
{
	struct node *node = (struct node *)handle;

	ENTER();
	memset(value, 0, sizeof(*value));
	if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
		memcpy(value, &node->cluster, sizeof(node->cluster));
	return attribute == CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION ? 1 : CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	ENTER();
	*params = ((struct node *)node)->copy;
	return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	ENTER();
	*params = ((struct node *)node)->set;
	return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	ENTER();
	(void)node;
	*graph = NULL;
	return 1;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	struct fake_kernel *kernel = (struct fake_kernel *)function;
	size_t i;

	if (fake.params_unknown || index >= kernel->params_nr)
		return 1;
	*offset = 0;
	for (i = 0; i < index; i++)
		*offset += (kernel->sizes[i] + 7) & ~(size_t)7;
	*size = kernel->sizes[index];
	return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
	return cuFuncGetParamInfo((CUfunction)kernel, index, offset, size);
}

/* ---- executable graphs ---- */
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	struct exec *made;
	uint64_t bytes = ((struct graph *)graph)->count * fake.exec_bytes_per_node;

	ENTER();
	fake.creates++;
	if (((struct graph *)graph)->exec)
		return 1;
	if (flags & ~(unsigned long long)CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)
		return 1;
	if (fake.used + bytes > fake.total)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made = calloc(1, sizeof(*made));
	made->shape = fake_copy_graph((struct graph *)graph);
	made->from = (struct graph *)graph;
	if (made->from->count && made->from->nodes[0]->is_updatable)
		made->from->exec = made;
	fake.used += bytes;
	fake.high = fake.used > fake.high ? fake.used : fake.high;
	fake.execs++;
	*exec = (CUgraphExec)made;
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
	struct exec *exec = (struct exec *)handle;

	ENTER_FREE();
	fake.used -= exec->shape->count * fake.exec_bytes_per_node;
	fake_free_graph(exec->shape);
	free(exec);
	fake.execs--;
	return CUDA_SUCCESS;
}

static bool same_shape(const struct graph *a, const struct graph *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (a->nodes[i]->type != b->nodes[i]->type || a->nodes[i]->depends_on_all != b->nodes[i]->depends_on_all ||
		    a->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
		    a->nodes[i]->set.height != b->nodes[i]->set.height) /* 2D memsets do not change */
			return false;
	return true;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info)
{
	struct graph *shape = ((struct exec *)handle)->shape, *graph = (struct graph *)graph_handle;
	size_t i;

	ENTER();
	memset(info, 0, sizeof(*info));
	if (((struct exec *)handle)->from->exec)
		return 1; /* not with nodes that the card updates */
	if (!same_shape(shape, graph)) {
		info->result = 2;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	for (i = 0; i < graph->count; i++) {
		struct node *to = shape->nodes[i];
		unsigned cluster = to->cluster; /* silently stays */

		*to = *graph->nodes[i];
		to->cluster = cluster;
		to->graph = shape;
		fake_point(to);
	}
	return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node_handle,
                                           const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct exec *exec = (struct exec *)handle;
	struct node *node = (struct node *)node_handle, *to;
	size_t i;

	ENTER();
	if (node->graph != exec->from) /* a node of the graph that was instantiated */
		return 1;
	to = exec->shape->nodes[node->index];
	to->kernel = (struct fake_kernel *)params->func;
	to->grid = params->gridDimX;
	for (i = 0; i < to->kernel->params_nr; i++)
		memcpy(to->values[i], params->kernelParams[i], to->kernel->sizes[i]);
	return CUDA_SUCCESS;
}
