/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps that autograd goes back through (torch::autograd::Node): in a call of which module each was made. So what a
 * backward pass makes for one is of that module.
 */
#ifndef TARE_RECORDER_TORCH_NODE_H
#define TARE_RECORDER_TORCH_NODE_H

#include "recorder/torch/module.h"

/* What a thread's backward pass is at. */
struct tare_node_now {
	uint64_t key;   /* of the node, or 0 */
	uint64_t frame; /* of Python, innermost when it began */
};

/* The calling thread begins to evaluate a node; returns what it was at before, and goes back to that. */
struct tare_node_now tare_node_enter(const void *node);
void tare_node_leave(struct tare_node_now before);

/*
 * For which module the calling thread makes a block inside of a backward pass; `here`: by its frames. It is that where
 * a call goes on inside of the node, as one that is made again for a checkpoint.
 */
struct tare_module_seen tare_node_module(uint64_t here);

#endif
