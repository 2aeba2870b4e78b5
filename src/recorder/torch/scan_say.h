/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_SCAN_SAY_H
#define TARE_RECORDER_TORCH_SCAN_SAY_H

#include "record/format.h"
#include "recorder/torch/scan.h"
#include "recorder/torch/scan_tensor.h"

/* What a scan tells, for the files that look at modules, optimizers and what shards parameters. */
struct tare_scan {
	const struct tare_scan_api *py;
	struct py_object *text_type, *dict_type; /* exact */
	struct tare_scan_tensors tensors;
	struct tare_scan_result *result;
	uint32_t modules; /* MODULE records */
};

/* Each piece of memory that a tensor has; `key` is its name in Python, or NULL. */
struct tare_scan_about {
	uint64_t of;
	uint32_t role;
	struct py_object *key;
	uint32_t shape; /* string id, 0: not known */
};
void tare_scan_say(struct tare_scan *s, struct py_object *tensor, struct tare_scan_about about);
/* The same of the tensor's gradient, see tare_scan_gradient. */
void tare_scan_say_gradient(struct tare_scan *s, struct py_object *tensor, uint64_t of, bool was_asked);
/* One piece of memory. */
void tare_scan_say_memory(struct tare_scan *s, uint64_t at, uint32_t flags, struct tare_scan_about about);

/* A module, with its class. */
void tare_scan_say_module(struct tare_scan *s, uint64_t module);

static inline bool tare_scan_is_dict(const struct tare_scan *s, struct py_object *object)
{
	return object && s->py->PyType_IsSubtype(tare_scan_type(object), s->dict_type);
}

/* scan_fsdp.c: of an object of FSDP that keeps a flat parameter, and of one that keeps a sharded one: its attributes. */
void tare_scan_flat(struct tare_scan *s, struct py_object *names);
void tare_scan_sharded(struct tare_scan *s, struct py_object *names);

/*
 * scan_variables.c: what variables of the program are called that hold modules and keep tensors: those of `__main__`, of the functions
 * of the program that the main thread is in, and of the objects called `self` there. Functions of libraries have none that
 * a reader of the program would know. Pre: the GIL is held by the calling thread, and Python collects no garbage.
 */
struct tare_scan_variables {
	struct tare_scan *scan;
	struct py_object *module, *optimizer; /* classes, or NULL */
	/* of a variable: `name` is a text of Python, `value` is borrowed */
	void (*see)(const struct tare_scan_variables *v, struct py_object *name, struct py_object *value);
};

void tare_scan_each_variable(const struct tare_scan_variables *v);

/* scan_kept.c: tensors in lists, dictionaries and objects of the program are told with the variable that has these. */
void tare_scan_kept(struct tare_scan *s, struct py_object *module, struct py_object *optimizer);
/* Modules that are in no other have the name of a variable. */
void tare_scan_roots(struct tare_scan *s, struct py_object *module);

#endif
