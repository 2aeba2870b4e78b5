/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the simulated cuDNN. Programs build a graph of operations out of descriptors and ask for an execution plan,
 * of which only the workspace is memory. The descriptors keep their attributes; where the program's own libcudnn lies
 * on this machine, each has a twin there, which answers for the simulated card without a device (documented since
 * cuDNN 9.8). Numbers are those of cuDNN 9's interface.
 */
#ifndef TARE_SIM_CUDNN_H
#define TARE_SIM_CUDNN_H

#include "simgpu/libs/lib.h"

enum {
	CUDNN_SUCCESS = 0,
	CUDNN_BAD_PARAMETER = SIM_VERSION >= 9 ? 2000 : 3,
	CUDNN_NOT_SUPPORTED = SIM_VERSION >= 9 ? 3000 : 9,
	CUDNN_NO_MEMORY = SIM_VERSION >= 9 ? 4003 : 2,

	CUDNN_DEVICE = 38, /* kinds of descriptors */
	CUDNN_ENGINE_HEURISTICS = 4,
	CUDNN_PLAN = 5,
	CUDNN_CONVOLVE = 10,
	CUDNN_CONVOLVE_FILTER = 11,
	CUDNN_CONVOLVE_DATA = 12,
	CUDNN_GRAPH = 15,
	CUDNN_VARIANT_PACK = 16,
	CUDNN_MULTIPLY = 19, /* matrices */
	CUDNN_ATTEND = 41,
	CUDNN_ATTEND_BACK = 43,

	CUDNN_HANDLE = 0, /* kinds of attributes */
	CUDNN_INT64 = 3,
	CUDNN_DOUBLE = 5,
	CUDNN_POINTER = 6,
	CUDNN_DESCRIPTOR = 15,
	CUDNN_CHAR = 24,
	CUDNN_BOOLEAN = 2,
	CUDNN_FRACTION = 26,
};

/* What was set of a descriptor. */
struct cudnn_attribute {
	int name, type;
	int64_t count;
	void *values;
	struct cudnn_attribute *next;
};

struct cudnn_descriptor {
	int kind;
	struct cudnn_attribute *attributes;
	void *twin;        /* of the real library; NULL: none */
	char *convolution; /* the convolution that it is, is about or runs, in one line; NULL: none, or more than one */
	int64_t workspace; /* of a plan, or of any plan for the graph that it is or is about; -1: not known here */
	bool has_run;
};

const struct cudnn_attribute *cudnn_attribute(const struct cudnn_descriptor *descriptor, int name);
/* A convolution's operation in one line (docs/SIMGPU.md); NULL: it is none. */
char *cudnn_convolution(const struct cudnn_descriptor *operation);
/* The workspace of every plan for a graph, which is attention; -1: it is not. */
int64_t cudnn_attention(const struct cudnn_descriptor *graph);
/* The workspace of a plan. `twin`: what the real library said without a device; -1: nothing. */
int64_t cudnn_workspace(const struct cudnn_descriptor *plan, int64_t twin);

/* The program's own libcudnn. */
struct cudnn_real {
	int (*create)(int kind, void **descriptor);
	int (*destroy)(void *descriptor);
	int (*finalize)(void *descriptor);
	int (*set)(void *descriptor, int name, int type, int64_t count, const void *values);
	int (*get)(void *descriptor, int name, int type, int64_t wanted, int64_t *count, void *values);
	size_t (*version)(void);
	void *device; /* the descriptor of the card */
};
/* NULL: it is not there, or does not answer, or there is no device yet. */
const struct cudnn_real *cudnn_real(void);
/* 0: it is not there. Also before there is a device. */
size_t cudnn_real_version(void);

#endif
