/* SPDX-License-Identifier: Apache-2.0 */
/* What executable graphs take. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "calibrate/fit.h"
#include "calibrate/kernel.h"

#define NODE_MOST    16384 /* bytes that a node may take */
#define PERCENT_MOST 1000
#define POINTS_MAX   16
#define PARAMS_LARGE 4000
#define PARAMS_MOST  4800 /* kernels with so large ones, in a graph */
#define PROBE_NODES  4000 /* for one size of parameters: their part stands out from the nodes' */
#define MIB          INT64_C(1048576)

struct series {
	struct tare_fit_point points[POINTS_MAX];
	size_t count;
	int64_t step; /* the largest that all changes are multiples of; 0: there was none */
};

/* One more graph, of `count` kernels; `change`: what it took. */
static bool add_graph(struct tare_bench *bench, CUfunction function, int count, int64_t *change)
{
	CUgraph graph = NULL;
	CUgraphExec exec;
	bool is_done;

	if (!TARE_DO(bench, cuGraphCreate, &graph, 0))
		return false;
	is_done = tare_graph_add_kernels(bench, graph, function, count);
	if (is_done) {
		tare_bench_before(bench);
		is_done = tare_bench_after(bench, change, tare_graph_run(bench, graph, &exec));
	}
	TARE_DO(bench, cuGraphDestroy, graph);
	return is_done;
}

static int64_t common_step(int64_t a, int64_t b)
{
	while (b > 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool add_point(struct tare_bench *bench, CUfunction function, int count, struct series *s)
{
	int64_t change = 0;

	if (s->count == POINTS_MAX || !add_graph(bench, function, count, &change))
		return false;
	s->step = common_step(s->step, change);
	s->points[s->count++] = (struct tare_fit_point){ count, change, change };
	return true;
}

/*
 * A graph of most / parts[i] nodes for each i, every one the first of a context of its own: many small
 * graphs in one context take more than their nodes do, by what each of them is rounded up.
 */
static bool run_series(struct tare_bench *bench, enum tare_ptx what, unsigned params, const int *parts, size_t parts_nr,
                       int most, struct series *s)
{
	bool is_done = true;

	for (size_t i = 0; is_done && i < parts_nr; i++) {
		CUcontext context = tare_bench_context(bench);
		struct tare_kernel kernel;

		is_done = context && tare_kernel_load(bench, what, params, &kernel) &&
		          tare_kernel_launch(bench, kernel.function) && add_point(bench, kernel.function, most / parts[i], s);
		tare_bench_end_context(bench, context);
	}
	return is_done;
}

/* ---- nodes ---- */
static int most_nodes(struct tare_bench *bench)
{
	int64_t room = (int64_t)tare_bench_free(bench);

	return room >= 1024 * MIB ? 20000 : 8000;
}

void tare_probe_graphs(struct tare_bench *bench)
{
	static const int parts[] = { 40, 20, 14, 10, 6, 4, 3, 2, 1 };
	struct series *s = tare_xcalloc(1, sizeof(*s));
	struct tare_fit_law law = { .divisor = 1, .slope_least = 1, .slope_most = NODE_MOST };
	int most = most_nodes(bench);
	struct tare_fit fit;
	char room[48];

	if (!run_series(bench, TARE_PTX_PLAIN, 0, parts, sizeof(parts) / sizeof(parts[0]), most, s))
		goto end;
	law.step = s->step;
	if (!law.step) {
		tare_bench_lack(bench, TARE_PROFILE_graph_node, "%d nodes took nothing", most);
		goto end;
	}
	tare_fit_steps(&law, s->points, s->count, &fit);
	tare_bench_put(bench, TARE_PROFILE_graph_step, (uint64_t)law.step, "%zu graphs", s->count);
	tare_bench_put_range(bench, TARE_PROFILE_graph_node, (uint64_t)fit.slope, (uint64_t)fit.slope_low,
	                     (uint64_t)fit.slope_high, "%zu graphs of up to %d kernels%s", s->count, most,
	                     tare_fit_miss(&fit, room));
	tare_bench_put_range(bench, TARE_PROFILE_graph_free, (uint64_t)fit.free, (uint64_t)fit.free_low,
	                     (uint64_t)fit.free_high, "%zu graphs of up to %d kernels%s", s->count, most,
	                     tare_fit_miss(&fit, room));
end:
	free(s);
}

/* ---- parameters ---- */
/* What nodes alone have taken when there are `nodes` of them, to a step. */
static struct tare_fit_point beyond_nodes(const struct tare_bench *bench, int64_t nodes, int64_t taken)
{
	const struct tare_profile *known = &bench->known;
	int64_t bytes = nodes * (int64_t)known->graph_node - (int64_t)known->graph_free;
	int64_t step = (int64_t)known->graph_step;
	int64_t own = bytes > 0 ? (bytes + step - 1) / step * step : 0;

	return (struct tare_fit_point){ nodes, taken - own, taken - own };
}

/* Whether parameters of this size take something of their own. */
static bool is_extra(struct tare_bench *bench, unsigned size, bool *answer)
{
	int64_t own = PROBE_NODES * (int64_t)bench->known.graph_node, change = 0;
	struct tare_kernel kernel;

	if (!tare_kernel_load(bench, TARE_PTX_PARAMETERS, size, &kernel) || !tare_kernel_launch(bench, kernel.function) ||
	    !add_graph(bench, kernel.function, PROBE_NODES, &change))
		return false;
	/* Nodes alone take their bytes to a step, either way; parameters come in steps of their own. */
	*answer = change > own + (int64_t)bench->known.graph_step;
	return true;
}

static bool search_small(struct tare_bench *bench)
{
	unsigned small = 8, large = PARAMS_LARGE;
	bool answer;

	if (!is_extra(bench, large, &answer))
		return false;
	if (!answer) {
		tare_bench_lack(bench, TARE_PROFILE_graph_param_small, "parameters of %u bytes took nothing more", large);
		return false;
	}
	while (large - small > 8) {
		unsigned middle = (small + large) / 16 * 8;

		if (!is_extra(bench, middle, &answer))
			return false;
		if (answer)
			large = middle;
		else
			small = middle;
	}
	tare_bench_put_range(bench, TARE_PROFILE_graph_param_small, small, small, large - 1,
	                     "graphs of %d kernels, sizes of parameters in turn", PROBE_NODES);
	return true;
}

static bool find_small(struct tare_bench *bench)
{
	CUcontext context = tare_bench_context(bench);
	bool is_found = context && search_small(bench);

	tare_bench_end_context(bench, context);
	return is_found;
}

static void find_share(struct tare_bench *bench)
{
	static const int parts[] = { 16, 8, 5, 4, 3, 2, 1 };
	struct series *s = tare_xcalloc(1, sizeof(*s));
	struct tare_fit_law law = {
		.step = (int64_t)bench->known.graph_step, .divisor = 100, .slope_least = 1, .slope_most = PERCENT_MOST
	};
	struct tare_fit fit;
	char room[48];

	if (run_series(bench, TARE_PTX_PARAMETERS, PARAMS_LARGE, parts, sizeof(parts) / sizeof(parts[0]), PARAMS_MOST, s)) {
		for (size_t i = 0; i < s->count; i++) {
			s->points[i] = beyond_nodes(bench, s->points[i].n, s->points[i].low);
			s->points[i].n *= PARAMS_LARGE;
		}
		tare_fit_steps(&law, s->points, s->count, &fit);
		tare_bench_put_range(bench, TARE_PROFILE_graph_param_percent, (uint64_t)fit.slope, (uint64_t)fit.slope_low,
		                     (uint64_t)fit.slope_high, "%zu graphs of kernels with %d bytes of parameters%s", s->count,
		                     PARAMS_LARGE, tare_fit_miss(&fit, room));
		tare_bench_put_range(bench, TARE_PROFILE_graph_param_free, (uint64_t)fit.free, (uint64_t)fit.free_low,
		                     (uint64_t)fit.free_high, "%zu graphs of kernels with %d bytes of parameters%s", s->count,
		                     PARAMS_LARGE, tare_fit_miss(&fit, room));
	}
	free(s);
}

void tare_probe_parameters(struct tare_bench *bench)
{
	if (tare_bench_needs(bench, TARE_PROFILE_graph_node) && find_small(bench))
		find_share(bench);
}
