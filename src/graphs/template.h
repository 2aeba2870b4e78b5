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
	CUDA_KERNEL_NODE_PARAMS kernel; /* of a kernel node; kernelParams belongs to the driver */
	size_t bytes, offset;           /* where its parameters are in the template's `bytes` */
};

struct tare_template {
	CUgraph graph; /* belongs to the template */
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
	/* no update takes it: it has memory nodes, or nodes that the device updates */
	bool is_fixed;
	bool is_opaque; /* it has parameters that could not be copied: nodes are never compared */
	unsigned refs;
	void *rows; /* what the card reads of it, in pinned memory; device.h */
};

/* The graph belongs to the template from here on, also if this fails. */
int tare_template_make(CUgraph graph, struct tare_template **out);
void tare_template_drop(struct tare_template *tmpl);

/*
 * The number of nodes with other parameters; SIZE_MAX: not known, or other nodes than kernels differ.
 */
size_t tare_template_differences(const struct tare_template *a, const struct tare_template *b);
bool tare_node_differs(const struct tare_template *a, const struct tare_template *b, size_t i);

/* Calls `seen` for every word among the parameters that could be an address, until it returns non-0. */
int tare_template_each_word(const struct tare_template *tmpl, int (*seen)(uint64_t word, void *arg), void *arg);

#endif
