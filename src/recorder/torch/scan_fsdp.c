/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters that are sharded: the part that a process keeps, and where they are whole for as long as they are
 * needed. Modules have the one at one moment and the other at the next, under the same name; FSDP's own objects
 * have both.
 */
#include "recorder/torch/scan_say.h"

enum { PARAMETERS_MAX = 4096 };

static struct py_object *item(const struct tare_scan *s, struct py_object *names, const char *name)
{
	return tare_scan_item(s->py, names, name);
}

static uint64_t memory_of(struct tare_scan *s, struct py_object *names, const char *name)
{
	struct py_object *tensor = item(s, names, name);

	return tensor && tare_scan_is_tensor(&s->tensors, tensor) ? tare_scan_memory(&s->tensors, tensor) : 0;
}

/* What is in an object's own dictionary; the caller releases it. */
static struct py_object *names_of(const struct tare_scan *s, struct py_object *object)
{
	struct py_object *names = object ? s->py->PyObject_GenericGetDict(object, NULL) : NULL;

	if (object && !names)
		s->py->PyErr_Clear();
	return names;
}

static void say(struct tare_scan *s, uint64_t at, uint32_t role, uint64_t of)
{
	struct tare_scan_about about = { .of = of, .role = role };

	if (at != of)
		tare_scan_say_memory(s, at, 0, about);
}

/* One of those that lie in a flat parameter: (name, module, …). */
static void scan_one_of_flat(struct tare_scan *s, uint64_t shard, struct py_object *info)
{
	struct tare_scan_about about = { .role = TARE_SCANNED_PARAMETER };

	about.key = s->py->PyTuple_GetItem(info, 0);
	about.of = (uint64_t)(uintptr_t)(about.key ? s->py->PyTuple_GetItem(info, 1) : NULL);
	if (about.of)
		tare_scan_say_memory(s, shard, 0, about);
	else
		s->py->PyErr_Clear();
}

static void scan_those_of_flat(struct tare_scan *s, uint64_t shard, struct py_object *infos)
{
	intptr_t count = infos ? s->py->PyList_Size(infos) : 0, i;
	bool is_list = count >= 0;

	if (!is_list) {
		s->py->PyErr_Clear();
		count = s->py->PyTuple_Size(infos);
	}
	if (count < 0)
		s->py->PyErr_Clear();
	for (i = 0; i < count && i < PARAMETERS_MAX; i++)
		scan_one_of_flat(s, shard, is_list ? s->py->PyList_GetItem(infos, i) : s->py->PyTuple_GetItem(infos, i));
}

/* A FlatParamHandle's flat_param. */
void tare_scan_flat(struct tare_scan *s, struct py_object *handle)
{
	struct py_object *flat = item(s, handle, "flat_param");
	struct py_object *names = names_of(s, flat);
	uint64_t shard;

	if (!names || !tare_scan_is_tensor(&s->tensors, flat)) {
		tare_scan_release(s->py, names);
		return;
	}
	shard = memory_of(s, names, "_local_shard");
	if (!shard) /* before the first forward, and where parameters are not sharded */
		shard = tare_scan_memory(&s->tensors, flat);
	scan_those_of_flat(s, shard, item(s, names, "_param_infos"));
	say(s, memory_of(s, names, "_full_param_padded"), TARE_SCANNED_GATHERED, shard);
	say(s, memory_of(s, names, "_full_prec_full_param_padded"), TARE_SCANNED_GATHERED, shard);
	say(s, memory_of(s, names, "_mp_shard"), TARE_SCANNED_GATHERED, shard);
	say(s, memory_of(s, names, "_saved_grad_shard"), TARE_SCANNED_GRADIENT, shard);
	say(s, memory_of(s, names, "_cpu_grad"), TARE_SCANNED_GRADIENT, shard);
	tare_scan_say_gradient(s, flat, shard, false);
	tare_scan_release(s->py, names);
}

/* An FSDPParam of fully_shard(), with the module that has it and its name there. */
void tare_scan_sharded(struct tare_scan *s, struct py_object *names)
{
	struct py_object *info = names_of(s, item(s, names, "_module_info"));
	struct py_object *whole = item(s, names, "all_gather_outputs");
	uint64_t shard = memory_of(s, names, "_sharded_param_data");
	struct tare_scan_about about = { .role = TARE_SCANNED_PARAMETER };
	intptr_t count, i;

	about.key = item(s, info, "param_name");
	about.of = (uint64_t)(uintptr_t)item(s, info, "module");
	if (about.key && about.of)
		tare_scan_say_memory(s, shard, 0, about);
	count = whole ? s->py->PyList_Size(whole) : 0;
	for (i = 0; i < count && i < TARE_SCAN_PARTS; i++)
		tare_scan_say(s, s->py->PyList_GetItem(whole, i),
		              (struct tare_scan_about){ .of = shard, .role = TARE_SCANNED_GATHERED });
	if (count < 0)
		s->py->PyErr_Clear();
	tare_scan_say(s, item(s, names, "unsharded_accumulated_grad"),
	              (struct tare_scan_about){ .of = shard, .role = TARE_SCANNED_GRADIENT });
	tare_scan_release(s->py, info);
}
