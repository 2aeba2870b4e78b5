/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a captured graph into a template, and compares templates. */
#include "graphs/template.h"

#include "graphs/error.h"

#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 8192 /* more than a kernel can have: its parameters are 32 KiB at most */

/* Kernel attributes that cuGraphExecUpdate leaves as they were (measured: it reports success). */
static const int dropped_attributes[] = {
	CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
	CU_LAUNCH_ATTRIBUTE_PRIORITY,
	CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
	CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
	CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
	CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
	CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
};

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	while (bytes--)
		hash = (hash ^ *at++) * 0x100000001b3ull; /* FNV-1a */
	return hash;
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
	return mix(hash, &number, sizeof(number));
}

static int no_memory(void)
{
	return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "template: no host memory");
}

/* ---- parameters ---- */
static int add_bytes(struct tare_template *tmpl, const void *data, size_t bytes)
{
	unsigned char *more = realloc(tmpl->bytes, tmpl->bytes_nr + bytes + 1);

	if (!more)
		return no_memory();
	tmpl->bytes = more;
	memcpy(more + tmpl->bytes_nr, data, bytes);
	tmpl->bytes_nr += bytes;
	return 0;
}

static CUresult param_info(const CUDA_KERNEL_NODE_PARAMS *kernel, size_t i, size_t *offset, size_t *size)
{
	if (kernel->func && tare_cu.cuFuncGetParamInfo)
		return tare_cu.cuFuncGetParamInfo(kernel->func, i, offset, size);
	if (kernel->kern && tare_cu.cuKernelGetParamInfo)
		return tare_cu.cuKernelGetParamInfo(kernel->kern, i, offset, size);
	return -1;
}

/* Each parameter begins at a multiple of 8 in our copy, so that words keep their place in it. */
static int add_kernel_params(struct tare_template *tmpl, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
	static const unsigned char zeros[8];
	size_t i, offset, size;

	for (i = 0; i < PARAMS_MAX; i++) {
		CUresult result = param_info(kernel, i, &offset, &size);
		int rc;

		if (result == -1 || (result == CUDA_SUCCESS && !kernel->kernelParams)) {
			tmpl->is_opaque = true;
			return 0;
		}
		if (result != CUDA_SUCCESS)
			return 0; /* the kernel has no more parameters */
		rc = add_bytes(tmpl, kernel->kernelParams[i], size);
		if (!rc && size % 8)
			rc = add_bytes(tmpl, zeros, 8 - size % 8);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_attributes(struct tare_template *tmpl, CUgraphNode node)
{
	size_t i;

	for (i = 0; i < sizeof(dropped_attributes) / sizeof(dropped_attributes[0]); i++) {
		CUlaunchAttributeValue value = { { 0 } };
		int attribute = dropped_attributes[i];

		/* A driver that does not know an attribute cannot have a node with it. */
		if (tare_cu.cuGraphKernelNodeGetAttribute(node, attribute, &value) != CUDA_SUCCESS)
			continue;
		if (attribute == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE && value.pad[0])
			tmpl->is_fixed = true;
		if (attribute == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
			continue; /* the rest of the value is a handle, which tells nothing */
		tmpl->signature = mix_number(tmpl->signature, (uint64_t)attribute);
		tmpl->signature = mix(tmpl->signature, &value, sizeof(value));
	}
	return 0;
}

static int read_kernel(struct tare_template *tmpl, struct tare_template_node *node)
{
	int rc = tare_graphs_cuda(tare_cu.cuGraphKernelNodeGetParams_v2(node->node, &node->kernel),
	                          "template: cuGraphKernelNodeGetParams");

	tmpl->kernels++;
	if (!rc)
		rc = add_kernel_params(tmpl, &node->kernel);
	return rc ? rc : add_attributes(tmpl, node->node);
}

static int read_memcpy(struct tare_template *tmpl, const struct tare_template_node *node)
{
	CUDA_MEMCPY3D params;
	int rc;

	memset(&params, 0, sizeof(params));
	rc = tare_graphs_cuda(tare_cu.cuGraphMemcpyNodeGetParams(node->node, &params),
	                      "template: cuGraphMemcpyNodeGetParams");
	return rc ? rc : add_bytes(tmpl, &params, sizeof(params));
}

static int read_memset(struct tare_template *tmpl, const struct tare_template_node *node)
{
	CUDA_MEMSET_NODE_PARAMS params;
	int rc;

	memset(&params, 0, sizeof(params));
	rc = tare_graphs_cuda(tare_cu.cuGraphMemsetNodeGetParams(node->node, &params),
	                      "template: cuGraphMemsetNodeGetParams");
	return rc ? rc : add_bytes(tmpl, &params, sizeof(params));
}

static int read_graph(struct tare_template *tmpl, CUgraph graph);

static int read_child(struct tare_template *tmpl, CUgraphNode node)
{
	CUgraph child;
	int rc;

	tmpl->is_opaque = true; /* an executable graph takes a child's nodes all together only */
	rc = tare_graphs_cuda(tare_cu.cuGraphChildGraphNodeGetGraph(node, &child),
	                      "template: cuGraphChildGraphNodeGetGraph");

	return rc ? rc : read_graph(tmpl, child);
}

static int read_node(struct tare_template *tmpl, struct tare_template_node *node)
{
	tmpl->signature = mix_number(tmpl->signature, (uint64_t)node->type);
	switch (node->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return read_kernel(tmpl, node);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return read_memcpy(tmpl, node);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return read_memset(tmpl, node);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return read_child(tmpl, node->node);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		tmpl->is_fixed = true;
		return 0;
	default:
		tmpl->is_opaque = true; /* host functions, events, conditions …: no copy of these */
		return 0;
	}
}

/* ---- edges ---- */
struct numbered {
	CUgraphNode node;
	size_t index;
};

static int by_node(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

static size_t index_of(const struct numbered *sorted, size_t count, CUgraphNode node)
{
	struct numbered wanted = { node, 0 };
	const struct numbered *found = bsearch(&wanted, sorted, count, sizeof(*sorted), by_node);

	return found ? found->index : SIZE_MAX;
}

static int get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
	CUresult result;

	if (tare_cu.cuGraphGetEdges_v2)
		result = tare_cu.cuGraphGetEdges_v2(graph, from, to, data, count);
	else
		result = tare_cu.cuGraphGetEdges(graph, from, to, count);
	return tare_graphs_cuda(result, "template: cuGraphGetEdges");
}

static int mix_edges(struct tare_template *tmpl, CUgraph graph, const struct numbered *sorted, size_t nodes_nr)
{
	CUgraphNode *from = NULL, *to = NULL;
	CUgraphEdgeData *data = NULL;
	size_t i, count = 0;
	int rc = get_edges(graph, NULL, NULL, NULL, &count);

	if (!rc) {
		from = calloc(count + 1, sizeof(CUgraphNode));
		to = calloc(count + 1, sizeof(CUgraphNode));
		data = calloc(count + 1, sizeof(*data));
		rc = from && to && data ? 0 : no_memory();
	}
	if (!rc && count)
		rc = get_edges(graph, from, to, data, &count);
	tmpl->signature = mix_number(tmpl->signature, count);
	for (i = 0; !rc && i < count; i++) {
		tmpl->signature = mix_number(tmpl->signature, index_of(sorted, nodes_nr, from[i]));
		tmpl->signature = mix_number(tmpl->signature, index_of(sorted, nodes_nr, to[i]));
		tmpl->signature = mix(tmpl->signature, &data[i], sizeof(data[i]));
	}
	free(from);
	free(to);
	free(data);
	return rc;
}

/* ---- graphs ---- */
static int read_nodes(struct tare_template *tmpl, CUgraph graph, size_t first)
{
	CUgraphNode *handles;
	struct numbered *sorted;
	size_t i, count = tmpl->nodes_nr - first;
	int rc = 0;

	handles = calloc(count + 1, sizeof(CUgraphNode));
	sorted = calloc(count + 1, sizeof(*sorted));
	if (!handles || !sorted)
		rc = no_memory();
	if (!rc && count)
		rc = tare_graphs_cuda(tare_cu.cuGraphGetNodes(graph, handles, &count), "template: cuGraphGetNodes");
	for (i = 0; !rc && i < count; i++) {
		struct tare_template_node node = { .node = handles[i], .offset = tmpl->bytes_nr };

		sorted[i] = (struct numbered){ handles[i], i };
		rc = tare_graphs_cuda(tare_cu.cuGraphNodeGetType(handles[i], &node.type), "template: cuGraphNodeGetType");
		if (!rc)
			rc = read_node(tmpl, &node); /* a child graph adds its nodes at the end */
		node.bytes = tmpl->bytes_nr - node.offset;
		tmpl->nodes[first + i] = node;
	}
	if (!rc) {
		qsort(sorted, count, sizeof(*sorted), by_node);
		rc = mix_edges(tmpl, graph, sorted, count);
	}
	free(handles);
	free(sorted);
	return rc;
}

static int read_graph(struct tare_template *tmpl, CUgraph graph)
{
	struct tare_template_node *more;
	size_t count = 0, first = tmpl->nodes_nr;
	int rc = tare_graphs_cuda(tare_cu.cuGraphGetNodes(graph, NULL, &count), "template: cuGraphGetNodes");

	if (rc)
		return rc;
	more = realloc(tmpl->nodes, (first + count + 1) * sizeof(*more));
	if (!more)
		return no_memory();
	memset(more + first, 0, (count + 1) * sizeof(*more));
	tmpl->nodes = more;
	tmpl->nodes_nr += count;
	return read_nodes(tmpl, graph, first);
}

int tare_template_make(CUgraph graph, struct tare_template **out)
{
	struct tare_template *tmpl = calloc(1, sizeof(*tmpl));
	int rc;

	if (!tmpl) {
		tare_cu.cuGraphDestroy(graph);
		return no_memory();
	}
	tmpl->graph = graph;
	tmpl->refs = 1;
	tmpl->signature = 0xcbf29ce484222325ull;
	rc = read_graph(tmpl, graph);
	if (rc)
		tare_template_drop(tmpl);
	else
		*out = tmpl;
	return rc;
}

void tare_template_drop(struct tare_template *tmpl)
{
	if (!tmpl || --tmpl->refs)
		return;
	tare_cu.cuGraphDestroy(tmpl->graph);
	if (tmpl->rows)
		tare_cu.cuMemFreeHost(tmpl->rows);
	free(tmpl->nodes);
	free(tmpl->bytes);
	free(tmpl);
}

/* ---- comparing ---- */
bool tare_node_differs(const struct tare_template *a, const struct tare_template *b, size_t i)
{
	const struct tare_template_node *x = &a->nodes[i], *y = &b->nodes[i];
	const CUDA_KERNEL_NODE_PARAMS *k = &x->kernel, *l = &y->kernel;

	if (x->bytes != y->bytes)
		return true;
	if (x->bytes && memcmp(a->bytes + x->offset, b->bytes + y->offset, x->bytes))
		return true;
	return k->func != l->func || k->kern != l->kern || k->gridDimX != l->gridDimX || k->gridDimY != l->gridDimY ||
	       k->gridDimZ != l->gridDimZ || k->blockDimX != l->blockDimX || k->blockDimY != l->blockDimY ||
	       k->blockDimZ != l->blockDimZ || k->sharedMemBytes != l->sharedMemBytes;
}

size_t tare_template_differences(const struct tare_template *a, const struct tare_template *b)
{
	size_t i, count = 0;

	if (a->is_opaque || b->is_opaque || a->nodes_nr != b->nodes_nr)
		return SIZE_MAX;
	for (i = 0; i < a->nodes_nr; i++) {
		if (!tare_node_differs(a, b, i))
			continue;
		if (a->nodes[i].type != CU_GRAPH_NODE_TYPE_KERNEL)
			return SIZE_MAX;
		count++;
	}
	return count;
}

int tare_template_each_word(const struct tare_template *tmpl, int (*seen)(uint64_t word, void *arg), void *arg)
{
	size_t at;
	uint64_t word;
	int rc = 0;

	for (at = 0; !rc && at + sizeof(word) <= tmpl->bytes_nr; at += sizeof(word)) {
		memcpy(&word, tmpl->bytes + at, sizeof(word));
		rc = seen(word, arg);
	}
	return rc;
}
