/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a kernel of ptx.c into the current context, and launches it. */
#include "calibrate/kernel.h"

static char zeros[8192];
void *const tare_kernel_zeros[2] = { zeros, zeros };

bool tare_kernel_load(struct tare_bench *bench, enum tare_ptx what, unsigned size, struct tare_kernel *out)
{
	struct tare_str text = { 0 };
	bool is_loaded;

	tare_ptx_write(&text, what, size);
	is_loaded = TARE_DO(bench, cuModuleLoadData, &out->module, tare_str_text(&text)) &&
	            TARE_DO(bench, cuModuleGetFunction, &out->function, out->module, TARE_PTX_KERNEL);
	tare_str_free(&text);
	return is_loaded;
}

bool tare_kernel_launch(struct tare_bench *bench, CUfunction function)
{
	return TARE_DO(bench, cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, NULL, (void **)tare_kernel_zeros, NULL) &&
	       TARE_DO(bench, cuCtxSynchronize);
}
