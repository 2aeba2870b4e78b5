/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A convolution as cuDNN is asked for it, and the line that it is written as:
 *     fwd|bwd_data|bwd_filter W X Y PADS STRIDES DILATIONS COMPUTE        W, X, Y: TYPE:DIMS/STRIDES
 * Types are numbers of cudnnDataType_t (0 float, 2 half, 9 bfloat16). Nothing here needs more than libc.
 */
#ifndef TARE_SIM_CONV_H
#define TARE_SIM_CONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_CONV_RANK = 5, SIM_CONV_KEY = 512 };

enum sim_conv_direction { SIM_CONV_FORWARD, SIM_CONV_DATA, SIM_CONV_FILTER };

struct sim_conv_tensor {
	int64_t dims[SIM_CONV_RANK], strides[SIM_CONV_RANK];
};

struct sim_conv {
	enum sim_conv_direction direction;
	int type, compute;
	int rank;                       /* of the tensors: 3, 4 or 5 */
	struct sim_conv_tensor w, x, y; /* filter, image, result; of gradients, what they are the gradient of */
	int64_t pads[SIM_CONV_RANK], strides[SIM_CONV_RANK], dilations[SIM_CONV_RANK];
	int64_t groups;
	bool channels_last;
};

/* Reads a line, up to " =" or its end. False: it is none. */
bool sim_conv_parse(const char *line, struct sim_conv *conv);
/*
 * Writes the line by which it is known. The stride of a dimension of size 1 says nothing, so it is written as
 * PyTorch would have it: what the dimensions inside it take. Returns its length, or 0 where there is no room.
 */
size_t sim_conv_key(const struct sim_conv *conv, char *key, size_t size);

#endif
