/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors as PyTorch's C++ keeps them (c10::TensorImpl): their memory, their gradients and what autograd knows of
 * them, read where it lies. Nothing of Python is called, so no mode, no subclass and no tracer of the program can
 * notice, and no object is made.
 *
 * Where things lie depends on the version of PyTorch. They are looked for in a first tensor, where the kernel is
 * asked before anything is read, and are known by the virtual tables of their classes, which are exported; and
 * every later read looks at the virtual table first. What is not of exactly these classes is not read.
 */
#ifndef TARE_RECORDER_TORCH_IMPL_H
#define TARE_RECORDER_TORCH_IMPL_H

#include <stdbool.h>
#include <stdint.h>

struct py_object;

enum { TARE_TORCH_LIBRARIES = 5 };

struct tare_torch {
	uintptr_t tensor_table, storage_tables[TARE_TORCH_LIBRARIES];
	const uintptr_t *(*gradient)(uintptr_t impl);
	bool (*requires_grad)(uintptr_t impl);
	/* Offsets; 0: not known. */
	uint8_t impl_in_object, storage_in_impl, object_in_impl;
	uint8_t tries; /* tensors in which they were not found */
};

/* Finds the library's functions and tables. */
bool tare_torch_find(struct tare_torch *t);

/* Finds where things lie, in an object whose class is below TensorBase. Returns whether that is known now. */
bool tare_torch_learn(struct tare_torch *t, const struct py_object *tensor);

/* All of these: pre: tare_torch_learn has said yes. `impl` is what tare_torch_impl gave. */

/* Pre: the object's class is below TensorBase. 0: it is none that can be read. */
uintptr_t tare_torch_impl(const struct tare_torch *t, const struct py_object *tensor);
/* Where the memory begins of which it is a part, or 0: it has none of its own. */
uint64_t tare_torch_memory(const struct tare_torch *t, uintptr_t impl);
bool tare_torch_is_leaf(const struct tare_torch *t, uintptr_t impl);
bool tare_torch_requires_grad(const struct tare_torch *t, uintptr_t impl);
/* 0: it has none. */
uintptr_t tare_torch_gradient(const struct tare_torch *t, uintptr_t impl);
/* The object that Python has for it, or NULL. */
struct py_object *tare_torch_object(const struct tare_torch *t, uintptr_t impl);

#endif
