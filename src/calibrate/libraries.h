/* SPDX-License-Identifier: Apache-2.0 */
/* Records what cuDNN takes for convolutions on a GPU, as a table that the simulated cuDNN looks them up in. */
#ifndef TARE_CALIBRATE_LIBRARIES_H
#define TARE_CALIBRATE_LIBRARIES_H

#include "base/err.h"
#include "base/str.h"
#include "simgpu/libs/conv_table.h"

struct tare_libraries_options {
	int device;        /* as CUDA counts */
	int processes;     /* that ask at once; 0: as many as pay */
	const char *cudnn; /* the path of a libcudnn.so.9, or NULL */
	const char *sim;   /* a profile of the simulated GPU, or NULL */
};

struct tare_libraries {
	struct sim_conv_table table; /* what was answered */
	char cudnn[1024];            /* the library that did */
	size_t asked;                /* different convolutions */
	size_t not_understood;       /* lines that are none */
	size_t refused;              /* cuDNN has no plan for them */
	size_t lost;                 /* cuDNN crashed or hung on them */
	char how[200];               /* it did; empty if it did not */
	int64_t ns;
};

/* `keys`: a convolution a line (docs/SIMGPU.md, "cuDNN"); of an answer what is after " = " is not looked at. */
int tare_libraries_record(const struct tare_libraries_options *options, const struct tare_str *keys,
                          struct tare_libraries *out, struct tare_err *err);
void tare_libraries_free(struct tare_libraries *libraries);

#endif
