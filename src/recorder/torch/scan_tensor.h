/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tensors say in a scan: by PyTorch's own structures (impl.h) where these can be read, else by functions in C
 * of the class below torch.Tensor. The latter are for tensors of exactly torch.Tensor and Parameter only, and not
 * while the program overrides functions of torch, or traces: then nothing is known of any tensor.
 */
#ifndef TARE_RECORDER_TORCH_SCAN_TENSOR_H
#define TARE_RECORDER_TORCH_SCAN_TENSOR_H

#include "recorder/torch/impl.h"
#include "recorder/torch/scan_api.h"

struct tare_scan_tensors {
	const struct tare_scan_api *py;
	struct py_object *base, *tensor, *parameter; /* classes; not ours to release */
	struct tare_torch torch;
	bool may_call;
	struct py_object *data_ptr, *storage_offset, *element_size; /* functions of tensors; ours */
	struct py_object *grad, *is_leaf, *requires_grad;           /* getters; ours */
	struct py_object *shape, *dtype;                            /* the same; or NULL */
	uint32_t failures;
};

/*
 * A piece of memory of a tensor. One of a class that only wraps others (DTensor, quantized weights) has theirs, each
 * under the name of its attribute: a text of C (`slot`) or of Python (`key`).
 */
struct tare_scan_part {
	uint64_t at;
	const char *slot;
	struct py_object *key;
};

enum { TARE_SCAN_PARTS = 8 };

/* Pre: py is set, and the classes tensor and parameter. False: nothing can be known of tensors now. */
bool tare_scan_tensors_open(struct tare_scan_tensors *t, struct py_object *torch_c);
void tare_scan_tensors_close(struct tare_scan_tensors *t);

/* Is it exactly torch.Tensor or Parameter? */
static inline bool tare_scan_is_plain(const struct tare_scan_tensors *t, const struct py_object *object)
{
	struct py_object *type = tare_scan_type(object);

	return type == t->tensor || type == t->parameter;
}

/* Is it one that can be asked? */
bool tare_scan_is_tensor(struct tare_scan_tensors *t, struct py_object *object);

/* All of these: pre: it is one that can be asked. */

/* Returns how many; of one that is freed, or wraps nothing, 0. */
int tare_scan_parts(struct tare_scan_tensors *t, struct py_object *tensor,
                    struct tare_scan_part parts[TARE_SCAN_PARTS]);
/* Of the first part; 0: it has none. */
uint64_t tare_scan_memory(struct tare_scan_tensors *t, struct py_object *tensor);
/* Does it only wrap others? */
bool tare_scan_is_wrapper(struct tare_scan_tensors *t, struct py_object *tensor);
/* scan_shape.c: id of "float32 [64, 3, 7, 7]" in the log; 0: it does not say. Asks nothing but plain tensors. */
uint32_t tare_scan_shape(struct tare_scan_tensors *t, struct py_object *tensor);
/* enum tare_scanned_flag */
uint32_t tare_scan_flags(struct tare_scan_tensors *t, struct py_object *tensor);
/*
 * Parts of its gradient. Who is the first to ask by a function makes an object in Python of it, which lives on:
 * then only of what `was_asked` before.
 */
int tare_scan_gradient(struct tare_scan_tensors *t, struct py_object *tensor, bool was_asked,
                       struct tare_scan_part parts[TARE_SCAN_PARTS]);
/* Are gradients of all tensors known? */
static inline bool tare_scan_reads(const struct tare_scan_tensors *t)
{
	return t->torch.storage_in_impl != 0;
}

#endif
