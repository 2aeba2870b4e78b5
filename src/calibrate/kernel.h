/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of ptx.h in the current context. */
#ifndef TARE_CALIBRATE_KERNEL_H
#define TARE_CALIBRATE_KERNEL_H

#include "calibrate/probe.h"
#include "calibrate/ptx.h"

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

#endif
