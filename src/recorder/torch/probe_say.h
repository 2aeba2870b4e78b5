/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep tells, for the files that look at modules, optimizers and what shards parameters. */
#ifndef TARE_RECORDER_TORCH_PROBE_SAY_H
#define TARE_RECORDER_TORCH_PROBE_SAY_H

#include "recorder/torch/probe.h"
#include "recorder/torch/probe_tensor.h"
#include "trace/format.h"

struct tare_probe_sweep {
	const struct tare_probe_api *py;
	struct py_object *text_type, *dict_type; /* exact */
	struct tare_probe_tensors tensors;
	struct tare_probe_result *result;
};

/* Each piece of memory that a tensor has; `key` is its name in Python, or NULL. */
struct tare_probe_about {
	uint64_t of;
	uint32_t role;
	struct py_object *key;
};
void tare_probe_say(struct tare_probe_sweep *s, struct py_object *tensor,
		    struct tare_probe_about about);
/* The same of the tensor's gradient, see tare_probe_gradient. */
void tare_probe_say_gradient(struct tare_probe_sweep *s, struct py_object *tensor, uint64_t of,
			     bool was_asked);
/* One piece of memory. */
void tare_probe_say_memory(struct tare_probe_sweep *s, uint64_t at, uint32_t flags,
			   struct tare_probe_about about);

static inline bool tare_probe_is_dict(const struct tare_probe_sweep *s, struct py_object *object)
{
	return object && s->py->PyType_IsSubtype(tare_probe_type(object), s->dict_type);
}

/* probe_fsdp.c: of an object of FSDP that keeps a flat parameter, and of one that keeps a sharded one: its attributes. */
void tare_probe_see_flat(struct tare_probe_sweep *s, struct py_object *names);
void tare_probe_see_sharded(struct tare_probe_sweep *s, struct py_object *names);

#endif
