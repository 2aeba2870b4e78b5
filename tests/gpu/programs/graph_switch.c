/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to make one executable graph do what another template says, by every call that the driver has for it, and what the
 * launch behind it costs. A row for each design, number of nodes and kind of difference; ../graph_switch.sh.
 *
 * A template is a row of kernels; two neighbours differ in parameters, in the grid too, in the function too, or in one of ten nodes.
 * Each kernel writes its number to a word of its own, so that a switch that changed nothing is seen ("wrong").
 */
#include "cu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { TEMPLATES = 4, ROUNDS = 200, NODES_MAX = 512, PIECE = 32, PIECES_MAX = NODES_MAX / PIECE, COPIES = 64 };

#define KERNEL(NAME, BYTES)                                                                                            \
	".visible .entry " NAME "(.param .align 8 .b8 p[" BYTES "]) {\n"                                                   \
	".reg .u64 %a; .reg .u32 %v;\n"                                                                                    \
	"ld.param.u64 %a, [p]; ld.param.u32 %v, [p+8];\n"                                                                  \
	"st.global.u32 [%a], %v; ret; }\n"

static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n" KERNEL("one", "64") KERNEL("two", "64")
	KERNEL("one_large", "1024") KERNEL("two_large", "1024");

enum differs { PARAMETERS, GRID, FUNCTION, TENTH };
static const char *const differs_names[] = { "parameters", "+ grid", "+ function", "1 of 10" };

struct template
{
	CUgraph graph;
	CUgraphNode nodes[NODES_MAX];
	CUDA_KERNEL_NODE_PARAMS params[NODES_MAX];
	bool is_other[NODES_MAX]; /* than in the template before */
	unsigned expected[NODES_MAX];
};

struct parameters {
	CUdeviceptr to;
	unsigned value;
	char rest[1024 - 12];
};

static struct template templates[TEMPLATES];
static struct parameters parameters[TEMPLATES][NODES_MAX];
static void *pointers[TEMPLATES][NODES_MAX];
static CUfunction functions[2];
static CUdeviceptr words;
static CUstream stream;
static int nodes_nr;

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- templates ---- */
static void fill(int t, int i, enum differs differs)
{
	bool is_other = differs != TENTH || i % 10 == 0;
	CUDA_KERNEL_NODE_PARAMS params = {
		.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1
	};

	templates[t].is_other[i] = is_other;
	templates[t].expected[i] = (unsigned)(is_other ? 1000 * (t + 1) + i : i);
	parameters[t][i].to = words + 4 * (CUdeviceptr)i;
	parameters[t][i].value = templates[t].expected[i];
	pointers[t][i] = &parameters[t][i];
	params.func = functions[differs == FUNCTION ? t % 2 : 0];
	if (differs == GRID || differs == FUNCTION)
		params.gridDimX = (unsigned)t + 1;
	params.kernelParams = &pointers[t][i];
	templates[t].params[i] = params;
}

/* Nodes first … first + count of a template, in a row. */
static CUgraph chain(int t, int first, int count, CUgraphNode *nodes)
{
	CUgraph graph;
	int i;

	OK(cuGraphCreate(&graph, 0));
	for (i = 0; i < count; i++)
		OK(cuGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i > 0, &templates[t].params[first + i]));
	return graph;
}

static void make_templates(enum differs differs)
{
	int t, i;

	for (t = 0; t < TEMPLATES; t++) {
		for (i = 0; i < nodes_nr; i++)
			fill(t, i, differs);
		templates[t].graph = chain(t, 0, nodes_nr, templates[t].nodes);
	}
}

static void drop_templates(void)
{
	int t;

	for (t = 0; t < TEMPLATES; t++)
		OK(cuGraphDestroy(templates[t].graph));
}

/* ---- designs ---- */
static CUgraphExec exec, execs[TEMPLATES];
static CUgraph pieces[TEMPLATES][PIECES_MAX];
static CUgraphNode piece_nodes[TEMPLATES][PIECES_MAX][PIECE];
static CUgraphExec piece_execs[PIECES_MAX];
static int pieces_nr, workers_nr;
static unsigned long long flags;

static void update(CUgraphExec of, CUgraph graph)
{
	CUgraphExecUpdateResultInfo info;

	OK(cuGraphExecUpdate(of, graph, &info));
}

static void one_begin(void)
{
	OK(cuGraphInstantiateWithFlags(&exec, templates[0].graph, flags));
}

static void one_end(void)
{
	OK(cuGraphExecDestroy(exec));
}

static void update_to(int t)
{
	update(exec, templates[t].graph);
}

static void nodes_to(int t)
{
	int i;

	for (i = 0; i < nodes_nr; i++)
		if (templates[t].is_other[i])
			OK(cuGraphExecKernelNodeSetParams(exec, templates[0].nodes[i], &templates[t].params[i]));
}

static void generic_to(int t)
{
	int i;

	for (i = 0; i < nodes_nr; i++) {
		const CUDA_KERNEL_NODE_PARAMS *p = &templates[t].params[i];
		CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_KERNEL };

		if (!templates[t].is_other[i])
			continue;
		params.kernel.func = p->func;
		params.kernel.gridDimX = p->gridDimX;
		params.kernel.gridDimY = params.kernel.gridDimZ = 1;
		params.kernel.blockDimX = p->blockDimX;
		params.kernel.blockDimY = params.kernel.blockDimZ = 1;
		params.kernel.kernelParams = p->kernelParams;
		OK(cuGraphExecNodeSetParams(exec, templates[0].nodes[i], &params));
	}
}

static void again_to(int t)
{
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphInstantiateWithFlags(&exec, templates[t].graph, flags));
}

static void launch_one(int t)
{
	(void)t;
	OK(cuGraphLaunch(exec, stream));
}

static void upload_to(int t)
{
	update_to(t);
	OK(cuGraphUpload(exec, stream));
}

static void each_begin(void)
{
	int t;

	for (t = 0; t < TEMPLATES; t++)
		OK(cuGraphInstantiateWithFlags(&execs[t], templates[t].graph, flags));
}

static void each_end(void)
{
	int t;

	for (t = 0; t < TEMPLATES; t++)
		OK(cuGraphExecDestroy(execs[t]));
}

static void nothing_to(int t)
{
	(void)t;
}

static void each_launch(int t)
{
	OK(cuGraphLaunch(execs[t], stream));
}

/* A graph of which all nodes are one child graph, set in one call. */
static CUgraph parent;
static CUgraphNode child;

static void child_begin(void)
{
	OK(cuGraphCreate(&parent, 0));
	OK(cuGraphAddChildGraphNode(&child, parent, NULL, 0, templates[0].graph));
	OK(cuGraphInstantiateWithFlags(&exec, parent, flags));
}

static void child_to(int t)
{
	OK(cuGraphExecChildGraphNodeSetParams(exec, child, templates[t].graph));
}

static void child_end(void)
{
	one_end();
	OK(cuGraphDestroy(parent));
}

/* In pieces of 32 nodes: the first is launched while the others are still to be updated. */
static void pieces_begin(void)
{
	int t, p;

	pieces_nr = (nodes_nr + PIECE - 1) / PIECE;
	for (t = 0; t < TEMPLATES; t++)
		for (p = 0; p < pieces_nr; p++) {
			int rest = nodes_nr - p * PIECE;

			pieces[t][p] = chain(t, p * PIECE, rest < PIECE ? rest : PIECE, piece_nodes[t][p]);
		}
	for (p = 0; p < pieces_nr; p++)
		OK(cuGraphInstantiateWithFlags(&piece_execs[p], pieces[0][p], flags));
}

static void pieces_end(void)
{
	int t, p;

	for (p = 0; p < pieces_nr; p++)
		OK(cuGraphExecDestroy(piece_execs[p]));
	for (t = 0; t < TEMPLATES; t++)
		for (p = 0; p < pieces_nr; p++)
			OK(cuGraphDestroy(pieces[t][p]));
}

static void pieces_to(int t) /* up to where the card has work */
{
	update(piece_execs[0], pieces[t][0]);
	OK(cuGraphLaunch(piece_execs[0], stream));
}

static void pieces_launch(int t) /* the rest */
{
	int p;

	for (p = 1; p < pieces_nr; p++) {
		update(piece_execs[p], pieces[t][p]);
		OK(cuGraphLaunch(piece_execs[p], stream));
	}
}

/* The pieces updated by several threads: does the driver let them? */
static pthread_barrier_t go, done;
static volatile int work_of;
static volatile bool is_over;
static CUcontext context;

static void *worker(void *arg)
{
	int mine = (int)(intptr_t)arg, p;

	OK(cuCtxSetCurrent(context));
	for (;;) {
		pthread_barrier_wait(&go);
		if (is_over)
			return NULL;
		for (p = mine; p < pieces_nr; p += workers_nr)
			update(piece_execs[p], pieces[work_of][p]);
		pthread_barrier_wait(&done);
	}
}

static pthread_t workers[4];

static void threads_begin(void)
{
	int i;

	pieces_begin();
	workers_nr = 4;
	is_over = false;
	pthread_barrier_init(&go, NULL, (unsigned)workers_nr + 1);
	pthread_barrier_init(&done, NULL, (unsigned)workers_nr + 1);
	for (i = 0; i < workers_nr; i++)
		pthread_create(&workers[i], NULL, worker, (void *)(intptr_t)i);
}

static void threads_to(int t)
{
	work_of = t;
	pthread_barrier_wait(&go);
	pthread_barrier_wait(&done);
}

static void threads_launch(int t)
{
	int p;

	(void)t;
	for (p = 0; p < pieces_nr; p++)
		OK(cuGraphLaunch(piece_execs[p], stream));
}

static void threads_end(void)
{
	int i;

	is_over = true;
	pthread_barrier_wait(&go);
	for (i = 0; i < workers_nr; i++)
		pthread_join(workers[i], NULL);
	pieces_end();
}

static const struct design {
	const char *name;
	unsigned long long flags;
	void (*begin)(void);
	void (*to)(int t);     /* the switch */
	void (*launch)(int t); /* and what is launched behind it */
	void (*end)(void);
} designs[] = {
	{ "an executable graph each", 0, each_begin, nothing_to, each_launch, each_end },
	{ "cuGraphExecUpdate", 0, one_begin, update_to, launch_one, one_end },
	{ "the same, with priorities", 8, one_begin, update_to, launch_one, one_end },
	{ "cuGraphExecUpdate, cuGraphUpload", 0, one_begin, upload_to, launch_one, one_end },
	{ "cuGraphExecKernelNodeSetParams", 0, one_begin, nodes_to, launch_one, one_end },
	{ "cuGraphExecNodeSetParams", 0, one_begin, generic_to, launch_one, one_end },
	{ "cuGraphExecChildGraphNodeSetParams", 0, child_begin, child_to, launch_one, child_end },
	{ "pieces of 32, launched as they are ready", 0, pieces_begin, pieces_to, pieces_launch, pieces_end },
	{ "pieces of 32, by 4 threads", 0, threads_begin, threads_to, threads_launch, threads_end },
	{ "destroyed and instantiated", 0, one_begin, again_to, launch_one, one_end },
};

/* ---- measuring ---- */
static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double share(double *values, double of)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[(int)(of * (ROUNDS - 1))];
}

static int count_wrong(int t)
{
	unsigned found[NODES_MAX];
	int i, wrong = 0;

	OK(cuMemcpyDtoH(found, words, sizeof(found)));
	for (i = 0; i < nodes_nr; i++)
		wrong += found[i] != templates[t].expected[i];
	return wrong;
}

static void measure(const struct design *design, enum differs differs, const char *size)
{
	static double to[ROUNDS], launch[ROUNDS], whole[ROUNDS];
	double p50, begin;
	int i, wrong = 0;

	flags = design->flags;
	design->begin();
	for (i = -8; i < ROUNDS; i++) {
		int t = (i + 8 + 1) % TEMPLATES;

		OK(cuStreamSynchronize(stream));
		begin = now_us();
		design->to(t);
		to[i < 0 ? 0 : i] = now_us() - begin;
		design->launch(t);
		launch[i < 0 ? 0 : i] = now_us() - begin - to[i < 0 ? 0 : i];
		OK(cuStreamSynchronize(stream));
		whole[i < 0 ? 0 : i] = now_us() - begin;
		if (i < 8)
			wrong += count_wrong(t);
	}
	design->end();
	p50 = share(to, 0.5);
	printf("| %s | %d | %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %d |\n", design->name, nodes_nr, size,
	       differs_names[differs], p50, share(to, 0.99), p50 * 100 / nodes_nr, share(launch, 0.5), share(whole, 0.5),
	       wrong);
	fflush(stdout);
}

/* Of the driver for an executable graph, from 64 of them that were all launched. They stay: the driver hands on what was destroyed. */
static void weigh(const char *size)
{
	CUgraphExec many[COPIES];
	size_t before, after, total;
	int i;

	OK(cuMemGetInfo(&before, &total));
	for (i = 0; i < COPIES; i++) {
		OK(cuGraphInstantiateWithFlags(&many[i], templates[i % TEMPLATES].graph, 0));
		OK(cuGraphLaunch(many[i], stream));
	}
	OK(cuStreamSynchronize(stream));
	OK(cuMemGetInfo(&after, &total));
	printf("bytes of an executable graph: %d nodes, parameters of %s bytes: %.2f KiB a node\n", nodes_nr, size,
	       (double)(before - after) / 1024 / COPIES / nodes_nr);
}

int main(void)
{
	static const int counts[] = { 10, 100, 280, 500 };
	static const char *const sizes[] = { "64", "1024" };
	CUmodule module;
	size_t c, d;
	int large, differs;

	open_gpu(0);
	OK(cuCtxGetCurrent(&context));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuMemAlloc(&words, 4 * NODES_MAX));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	nodes_nr = 500;
	for (large = 0; large < 2; large++) {
		OK(cuModuleGetFunction(&functions[0], module, large ? "one_large" : "one"));
		OK(cuModuleGetFunction(&functions[1], module, large ? "two_large" : "two"));
		make_templates(PARAMETERS);
		weigh(sizes[large]);
		drop_templates();
	}
	printf(
		"\n| design | nodes | bytes of parameters | other | switch µs, p50 | p99 | per 100 nodes | launch behind it | until done | wrong |\n"
		"|---|---|---|---|---|---|---|---|---|---|\n");
	for (large = 0; large < 2; large++) {
		OK(cuModuleGetFunction(&functions[0], module, large ? "one_large" : "one"));
		OK(cuModuleGetFunction(&functions[1], module, large ? "two_large" : "two"));
		for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
			for (differs = PARAMETERS; differs <= TENTH; differs++) {
				if ((large && counts[c] != 280) || (counts[c] != 280 && differs != GRID))
					continue;
				nodes_nr = counts[c];
				make_templates((enum differs)differs);
				for (d = 0; d < sizeof(designs) / sizeof(designs[0]); d++)
					measure(&designs[d], (enum differs)differs, sizes[large]);
				drop_templates();
			}
	}
	return 0;
}
