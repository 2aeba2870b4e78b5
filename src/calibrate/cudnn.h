/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuDNN on a card, by what cuDNN documents: which workspace the first plan of its instant heuristic takes for a convolution,
 * which is the one that PyTorch runs unless it is told to try several.
 */
#ifndef TARE_CALIBRATE_CUDNN_H
#define TARE_CALIBRATE_CUDNN_H

#include "simgpu/libs/conv.h"

struct tare_cudnn {
	size_t (*version)(void);
	int (*make_handle)(void **handle);
	int (*create)(int kind, void **descriptor);
	int (*destroy)(void *descriptor);
	int (*finalize)(void *descriptor);
	int (*set)(void *descriptor, int name, int type, int64_t count, const void *values);
	int (*get)(void *descriptor, int name, int type, int64_t wanted, int64_t *count, void *values);
	void *handle;
};

/* libcudnn.so.9 by this path or name, on the device whose context is current. False: `why` says why. */
bool tare_cudnn_open(struct tare_cudnn *dnn, const char *file, char *why, size_t size);
/* The workspace in bytes; -1: it has no plan for this. */
int64_t tare_cudnn_workspace(struct tare_cudnn *dnn, const struct sim_conv *conv);

#endif
