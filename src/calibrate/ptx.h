/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as PTX, which the driver compiles for whatever GPU it has. The simulated driver reads
 * what they need from the same text.
 */
#ifndef TARE_CALIBRATE_PTX_H
#define TARE_CALIBRATE_PTX_H

#include "base/str.h"

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

#endif
