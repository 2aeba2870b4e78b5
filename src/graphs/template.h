/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A captured graph, kept on the host: the driver's graph, and our copy of what its nodes are given.
 * The copy says in which nodes two templates differ, and whose memory a graph reads.
 */
#ifndef TARE_GRAPHS_TEMPLATE_H
#define TARE_GRAPHS_TEMPLATE_H

#include "graphs/driver.h"

#include <stdbool.h>

struct tare_template_node {
	CUgraphNode node;
	int type;
	CUDA_KERNEL_NODE_PARAMS kernel; /* of a kernel node; kernelParams is the driver's */
	size_t bytes, offset;           /* of its parameters, in the template's bytes */
};

struct tare_template {
	CUgraph graph; /* ours */
	struct tare_template_node *nodes;
	size_t nodes_nr;
	size_t kernels;
	unsigned char *bytes; /* parameters of all nodes, one after the other */
	size_t bytes_nr;
	/*
	 * What an update does not change or silently ignores: types, edges, cluster dimensions and
	 * such. Equal signatures may share an executable graph, if the driver agrees.
	 */
	uint64_t signature;
	bool is_fixed;  /* can be in no update: memory nodes, nodes that the device updates */
	bool is_opaque; /* parameters that we could not copy: nodes are never compared */
	unsigned refs;
};

/* Takes the graph over, also when it fails. */
int tare_template_make(CUgraph graph, struct tare_template **out);
void tare_template_drop(struct tare_template *tmpl);

/* The number of nodes given something else; SIZE_MAX: cannot be said, or not only kernels differ. */
size_t tare_template_differences(const struct tare_template *a, const struct tare_template *b);
bool tare_node_differs(const struct tare_template *a, const struct tare_template *b, size_t i);

/* Calls `seen` for every word among the parameters that could be an address, until it returns non-0. */
int tare_template_each_word(const struct tare_template *tmpl, int (*seen)(uint64_t word, void *arg),
			    void *arg);

#endif
