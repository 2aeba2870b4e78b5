/* SPDX-License-Identifier: Apache-2.0 */
/* What a scan tells, for the files that look at modules, optimizers and what shards parameters. */
#ifndef TARE_RECORDER_TORCH_SCAN_SAY_H
#define TARE_RECORDER_TORCH_SCAN_SAY_H

#include "recorder/torch/scan.h"
#include "recorder/torch/scan_tensor.h"
#include "record/format.h"

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

#endif
