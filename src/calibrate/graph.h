/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs, as the probes of them need. */
#ifndef TARE_CALIBRATE_GRAPH_H
#define TARE_CALIBRATE_GRAPH_H

#include "calibrate/kernel.h"

/* `count` kernels, one after the other. */
bool tare_graph_add_kernels(struct tare_bench *bench, CUgraph graph, CUfunction function, int count);
/* Instantiates and launches it, and waits: whichever of them takes the memory. */
bool tare_graph_run(struct tare_bench *bench, CUgraph graph, CUgraphExec *exec);

#endif
