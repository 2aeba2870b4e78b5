/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_GRAPHS_CHOOSE_H
#define TARE_GRAPHS_CHOOSE_H

#include <stddef.h>
#include <stdint.h>

/* A size that requests had, how often, and what a step of that size costs. */
struct tare_choose_size {
	uint64_t size;
	double weight; /* > 0 */
	double cost;   /* never less than the cost of a smaller size */
};

/* What the best `graphs` sizes to capture cost: every request runs as the next size captured. */
struct tare_choose_plan {
	size_t graphs;
	double cost;    /* mean per request */
	double padding; /* share of all rows computed that no request asked for */
	size_t *sizes;  /* indices, ascending; the caller's to free */
};

/*
 * The exact optimum for every number of graphs from 1 to `graphs_max` (at most `count`), by dynamic
 * programming in O(graphs_max · count²). Sizes are ascending. plans has room for graphs_max.
 * Returns 0, or -1: no memory.
 */
int tare_choose(const struct tare_choose_size *sizes, size_t count, size_t graphs_max, struct tare_choose_plan *plans);

#endif
