/* SPDX-License-Identifier: Apache-2.0 */
/* A graph as a text for Graphviz. */
#include <stdio.h>

#include "sim_graph.h"

#define VERBOSE 1u
#define KERNELS 4u
#define FLAGS   0xffffu

static const char *name_of(CUgraphNodeType type)
{
	static const char *const names[] = {
		"KERNEL",       "MEMCPY",         "MEMSET",       "HOST",      "GRAPH",    "EMPTY",        "EVENT_WAIT",
		"EVENT_RECORD", "EXT_SEM_SIGNAL", "EXT_SEM_WAIT", "MEM_ALLOC", "MEM_FREE", "BATCH_MEM_OP", "CONDITIONAL",
	};

	return type >= 0 && type < (int)(sizeof(names) / sizeof(names[0])) ? names[type] : "?";
}

/* A name may hold what ends a text. */
static void put_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		if ((unsigned char)*text >= ' ')
			fputc(*text, to);
	}
}

static void put_node(FILE *to, const struct sim_node *node, unsigned number, size_t index, unsigned flags)
{
	const CUDA_KERNEL_NODE_PARAMS_v2 *kernel = &node->params.kernel;
	const char *name;

	fprintf(to, "\"graph_%u_node_%zu\" [label=\"%zu %s", number, index, index, name_of(node->type));
	if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		name = sim_function_name(sim_node_function(node));
		fputs("\\n", to);
		put_text(to, name ? name : "?");
		if (flags & (VERBOSE | KERNELS))
			fprintf(to, "\\ngrid %u %u %u block %u %u %u shared %u", kernel->gridDimX, kernel->gridDimY,
			        kernel->gridDimZ, kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ, kernel->sharedMemBytes);
	}
	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		fprintf(to, "\\n%zu bytes", node->params.alloc.bytesize);
	fputs("\"];\n", to);
}

static void put_graph(FILE *to, struct sim_graph *graph, unsigned *number, unsigned flags)
{
	unsigned own = (*number)++, i;
	const struct sim_edge *edge;
	struct sim_node *node;
	size_t index = 0;

	fprintf(to, "subgraph cluster_%u {\nlabel=\"graph_%u\";\n", own, own);
	for (node = graph->first; node; node = node->next) {
		put_node(to, node, own, index, flags);
		node->mark = index++;
	}
	for (node = graph->first; node; node = node->next)
		for (edge = node->out; edge; edge = edge->next_out)
			fprintf(to, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\";\n", own, node->mark, own, edge->to->mark);
	for (node = graph->first; node; node = node->next)
		for (i = 0; i < node->children_nr; i++)
			put_graph(to, node->children[i], number, flags);
	fputs("}\n", to);
}

CUresult sim_body_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
	struct sim_graph *graph = sim_object_get(hGraph, SIM_GRAPH);
	unsigned number = 0;
	int is_bad;
	FILE *to;

	if (!graph || !path || flags & ~FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	to = fopen(path, "we");
	if (!to)
		return CUDA_ERROR_OPERATING_SYSTEM;
	fputs("digraph dot {\n", to);
	put_graph(to, graph, &number, flags);
	fputs("}\n", to);
	is_bad = ferror(to);
	return fclose(to) || is_bad ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
