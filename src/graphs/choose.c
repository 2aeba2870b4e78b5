/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which sizes to capture, so that padding costs least. */
#include "graphs/choose.h"

#include <stdlib.h>

struct table {
	const struct tare_choose_size *sizes;
	size_t count;
	double *weights; /* [i]: sum of the weights of sizes before i */
	double *best;    /* [k * count + i]: cost of sizes 0…i with k + 1 graphs, the last of size i */
	size_t *from;    /* [k * count + i]: size of the graph before the last, `count`: none */
};

/* Cost of sizes `first` to i if all of them run as size i. */
static double cost_of(const struct table *t, size_t first, size_t i)
{
	return (t->weights[i + 1] - t->weights[first]) * t->sizes[i].cost;
}

static void fill(struct table *t, size_t k, size_t i)
{
	double *best = &t->best[k * t->count + i];
	size_t *from = &t->from[k * t->count + i], j;

	*best = cost_of(t, 0, i);
	*from = t->count;
	for (j = 0; k && j < i; j++) {
		double cost = t->best[(k - 1) * t->count + j] + cost_of(t, j + 1, i);

		if (cost < *best) {
			*best = cost;
			*from = j;
		}
	}
}

static double padding_of(const struct table *t, const struct tare_choose_plan *plan)
{
	double asked = 0, run = 0;
	size_t i, at = 0;

	for (i = 0; i < t->count; i++) {
		while (plan->sizes[at] < i)
			at++;
		asked += t->sizes[i].weight * (double)t->sizes[i].size;
		run += t->sizes[i].weight * (double)t->sizes[plan->sizes[at]].size;
	}
	return run > 0 ? 1 - asked / run : 0;
}

static int read_plan(const struct table *t, size_t k, struct tare_choose_plan *plan)
{
	size_t i, at = t->count - 1, level = k, n = 0;

	plan->sizes = calloc(k + 1, sizeof(size_t));
	if (!plan->sizes)
		return -1;
	for (;; level--) {
		plan->sizes[n++] = at;
		at = t->from[level * t->count + at];
		if (at == t->count)
			break;
	}
	plan->graphs = n; /* fewer where more would not help */
	for (i = 0; i < n / 2; i++) {
		size_t swap = plan->sizes[i];

		plan->sizes[i] = plan->sizes[n - 1 - i];
		plan->sizes[n - 1 - i] = swap;
	}
	plan->cost = t->best[k * t->count + t->count - 1] / t->weights[t->count];
	plan->padding = padding_of(t, plan);
	return 0;
}

int tare_choose(const struct tare_choose_size *sizes, size_t count, size_t graphs_max, struct tare_choose_plan *plans)
{
	struct table t = { .sizes = sizes, .count = count };
	size_t i, k;
	int rc = -1;

	t.weights = calloc(count + 1, sizeof(*t.weights));
	t.best = calloc(count * graphs_max + 1, sizeof(*t.best));
	t.from = calloc(count * graphs_max + 1, sizeof(*t.from));
	if (!t.weights || !t.best || !t.from)
		goto out;
	for (i = 0; i < count; i++)
		t.weights[i + 1] = t.weights[i] + sizes[i].weight;
	rc = 0;
	for (k = 0; !rc && k < graphs_max; k++) {
		for (i = 0; i < count; i++)
			fill(&t, k, i);
		rc = read_plan(&t, k, &plans[k]);
	}
out:
	free(t.weights);
	free(t.best);
	free(t.from);
	return rc;
}
