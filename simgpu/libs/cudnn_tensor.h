/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the simulated cuDNN: descriptors of tensors and filters of its older interface, which keep what they are told. */
#ifndef TARE_SIM_CUDNN_TENSOR_H
#define TARE_SIM_CUDNN_TENSOR_H

#include "simgpu/libs/cudnn.h"

enum { CUDNN_DIMENSIONS = 8 };

struct cudnn_tensor {
	int type, format, dimensions;
	int size[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS];
};

/* A handle's own bytes, made when they are first asked for; NULL: no handle, or no memory. */
void *cudnn_more(struct sim_handle *handle, size_t bytes);
/* Bytes of an element. */
size_t cudnn_element(int type);

#endif
