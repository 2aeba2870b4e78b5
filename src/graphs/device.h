/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switching by the card: one kernel sets grids and parameters of all nodes of an executable graph, whose nodes are
 * "device-updatable" (CUDA 12.4). The host launches it in front of the graph and does nothing per node. Functions, blocks and
 * shared memory stay, so these are part of what a group shares. The kernel calls the device's own runtime, libcudadevrt.a, which
 * comes with every toolkit and with PyTorch; without it executable graphs are switched by the host.
 */
#ifndef TARE_GRAPHS_DEVICE_H
#define TARE_GRAPHS_DEVICE_H

#include "graphs/template.h"

struct tare_switcher {
	CUmodule module;
	CUfunction apply; /* NULL: the host switches */
	CUstream stream;
	unsigned *failed; /* nodes that the kernel could not set */
};

/* An executable graph whose nodes the card can set. */
struct tare_device_exec {
	CUgraphExec exec;
	CUgraph graph;            /* that it was instantiated of; has the nodes */
	CUgraphDeviceNode *nodes; /* in memory that the card reads */
};

/* `runtime`: the path of libcudadevrt.a. */
int tare_device_init(struct tare_switcher *device, const char *runtime);
void tare_device_fini(struct tare_switcher *device);

/* Is the template one of kernels alone, all of whose parameters are known? */
bool tare_device_takes(const struct tare_template *tmpl);
/* What templates must have in common to be set in one executable graph. */
uint64_t tare_device_signature(const struct tare_template *tmpl);

/* Both: -1, and nothing is left, where the driver does not do it with this graph. No replay may run. */
int tare_device_make(struct tare_switcher *device, struct tare_template *tmpl, struct tare_device_exec *made);
int tare_device_try(struct tare_switcher *device, struct tare_template *tmpl, const struct tare_device_exec *exec);
void tare_device_drop(struct tare_device_exec *exec);

/* Enqueues the kernel that makes the executable graph do what the template says. */
int tare_device_switch(struct tare_switcher *device, const struct tare_template *tmpl,
                       const struct tare_device_exec *exec, CUstream stream);

#endif
