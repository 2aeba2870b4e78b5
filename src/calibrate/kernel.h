/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CALIBRATE_KERNEL_H
#define TARE_CALIBRATE_KERNEL_H

#include "base/str.h"
#include "calibrate/probe.h"

/*
 * Kernels as PTX, which the driver compiles for whatever GPU it has. The simulated driver reads
 * what they need from the same text.
 */
enum tare_ptx {
	TARE_PTX_PLAIN,
	TARE_PTX_STACK, /* `size` bytes of local memory, a multiple of 4 */
	TARE_PTX_PRINTF,
	TARE_PTX_MALLOC,
	TARE_PTX_ASSERT,
	TARE_PTX_PARAMETERS, /* `size` bytes of them, a multiple of 8 */
	TARE_PTX_CODE,       /* `size` instructions, an even number */
};

/* The name of the kernel in all of them. */
#define TARE_PTX_KERNEL "tare_kernel"

void tare_ptx_write(struct tare_str *out, enum tare_ptx what, unsigned size);

/* One of them in the current context. */
struct tare_kernel {
	CUmodule module;
	CUfunction function;
};

/* False: bench->failure says why. */
bool tare_kernel_load(struct tare_bench *bench, enum tare_ptx what, unsigned size, struct tare_kernel *out);
/* Runs one thread of the kernel, and waits for it; every parameter is 0. */
bool tare_kernel_launch(struct tare_bench *bench, CUfunction function);

/* A block of zeros, larger than any kernel's parameters. */
extern void *const tare_kernel_zeros[2];

/* graph.c: `count` kernels, one after the other. */
bool tare_graph_add_kernels(struct tare_bench *bench, CUgraph graph, CUfunction function, int count);
/* Instantiates and launches it, and waits: whichever of them takes the memory. */
bool tare_graph_run(struct tare_bench *bench, CUgraph graph, CUgraphExec *exec);

#endif
