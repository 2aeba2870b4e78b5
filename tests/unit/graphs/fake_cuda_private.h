/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fake driver share. */
#ifndef TARE_TESTS_GRAPHS_FAKE_CUDA_PRIVATE_H
#define TARE_TESTS_GRAPHS_FAKE_CUDA_PRIVATE_H

#include "fake_cuda.h"

#include <pthread.h>

enum { NODES_MAX = 600 };

struct node {
	int type;
	struct fake_kernel *kernel;
	unsigned grid, cluster;
	unsigned char values[FAKE_PARAMS][64];
	void *pointers[FAKE_PARAMS];
	CUDA_MEMCPY3D copy;
	CUDA_MEMSET_NODE_PARAMS set;
	bool depends_on_all;
	struct graph *graph;
	size_t index;
	bool is_updatable; /* by the card */
};
struct graph {
	struct node *nodes[NODES_MAX];
	size_t count;
	bool is_spoilt;
	struct exec *exec; /* of updatable nodes, which are instantiated once */
};
struct exec {
	/* a copy of what it was instantiated from, with the current parameters */
	struct graph *shape;
	struct graph *from;
};

extern pthread_mutex_t fake_lock;

/* Every entry point begins with this. */
CUresult fake_enter(void);
#define ENTER()                                                                                                        \
	do {                                                                                                               \
		CUresult entered = fake_enter();                                                                               \
		if (entered != CUDA_SUCCESS)                                                                                   \
			return entered;                                                                                            \
	} while (0)
/* What frees works on a lost device too, as closing the context would. */
#define ENTER_FREE()                                                                                                   \
	do {                                                                                                               \
		fake_enter();                                                                                                  \
	} while (0)

/* fake_cuda_graphs.c */
struct node *fake_add_node(struct graph *graph, int type);
void fake_point(struct node *node);
struct graph *fake_copy_graph(const struct graph *graph);
void fake_free_graph(struct graph *graph);

#endif
