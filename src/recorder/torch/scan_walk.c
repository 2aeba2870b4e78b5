/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan: every object that Python's cyclic collector knows is looked at once. Names are told as the
 * objects have them, a module at a time; dotted paths are made of them when the recording is read.
 */
#include <string.h>

#include "recorder/base/scratch.h"
#include "recorder/torch/module.h"
#include "recorder/torch/scan.h"
#include "recorder/torch/scan_say.h"

enum { KINDS = 512, VISIBLE_MAX = 4000 };

enum kind { NONE, TENSOR, MODULE, OPTIMIZER, FLAT, SHARDED };

struct walk {
	struct tare_scan s;
	/* by kind, not ours to release; NULL: it is not imported */
	struct py_object *classes[SHARDED + 1];
	uint32_t visible;
	struct {
		struct py_object *type;
		enum kind kind;
	} kinds[KINDS];
};

static struct py_object *item(const struct walk *w, struct py_object *dict, const char *name)
{
	return tare_scan_item(w->s.py, dict, name);
}

static struct py_object *module_dict(const struct walk *w, const char *name)
{
	return tare_scan_module(w->s.py, name);
}

static struct py_object *builtin(const struct walk *w, struct py_object *dict, const char *name)
{
	return tare_scan_builtin(w->s.py, dict, name);
}

static struct py_object *call(const struct walk *w, struct py_object *function)
{
	return tare_scan_call(w->s.py, function, NULL);
}

static void release(const struct walk *w, struct py_object *object)
{
	tare_scan_release(w->s.py, object);
}

/* ---- tensors ---- */

/* Tensors that this tensor wraps are recorded by themselves: Python holds them, too. */
static void scan_tensor(struct walk *w, struct py_object *tensor)
{
	struct tare_scan_tensors *t = &w->s.tensors;
	uint32_t flags;
	uint64_t at;

	if (!tare_scan_is_tensor(t, tensor))
		return;
	if (tare_scan_type(tensor) != t->parameter && w->visible++ >= VISIBLE_MAX) {
		w->s.result->flags |= TARE_SCAN_CUT;
		return;
	}
	at = tare_scan_memory(t, tensor);
	if (!at)
		return;
	flags = tare_scan_flags(t, tensor);
	if (!tare_scan_is_wrapper(t, tensor))
		tare_scan_say_memory(&w->s, at, flags,
		                     (struct tare_scan_about){ .role = TARE_SCANNED_TENSOR,
		                                               .shape = tare_scan_shape(t, tensor) });
	if (flags == (TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD))
		tare_scan_say_gradient(&w->s, tensor, at, false);
}

/* ---- modules and optimizers ---- */

static void scan_members(struct walk *w, struct py_object *names, const char *which, uint64_t owner, uint32_t role)
{
	struct py_object *dict = item(w, names, which), *key, *value;
	struct tare_scan_about about = { .of = owner, .role = role };
	intptr_t place = 0;

	if (!tare_scan_is_dict(&w->s, dict))
		return;
	while (w->s.py->PyDict_Next(dict, &place, &key, &value)) {
		about.key = key;
		if (role != TARE_SCANNED_MODULE)
			tare_scan_say(&w->s, value, about);
		else if (w->s.py->PyType_IsSubtype(tare_scan_type(value), w->classes[MODULE]))
			tare_scan_say_memory(&w->s, (uint64_t)(uintptr_t)value, 0, about);
	}
}

static void scan_module(struct walk *w, struct py_object *names, uint64_t owner)
{
	tare_scan_say_module(&w->s, owner);
	scan_members(w, names, "_parameters", owner, TARE_SCANNED_PARAMETER);
	scan_members(w, names, "_buffers", owner, TARE_SCANNED_BUFFER);
	scan_members(w, names, "_modules", owner, TARE_SCANNED_MODULE);
}

/* {parameter: {"exp_avg": tensor, …}} */
static void scan_optimizer(struct walk *w, struct py_object *names)
{
	struct py_object *states = item(w, names, "state"), *key, *value;
	struct tare_scan_about about = { .role = TARE_SCANNED_STATE };
	intptr_t place = 0, inner;
	struct py_object *tensor;

	if (!tare_scan_is_dict(&w->s, states))
		return;
	while (w->s.py->PyDict_Next(states, &place, &key, &value)) {
		if (!tare_scan_is_dict(&w->s, value))
			continue;
		about.of = tare_scan_is_tensor(&w->s.tensors, key) ? tare_scan_memory(&w->s.tensors, key) : 0;
		if (about.of && !tare_scan_reads(&w->s.tensors)) /* else each tensor tells its own */
			tare_scan_say_gradient(&w->s, key, about.of, true);
		for (inner = 0; w->s.py->PyDict_Next(value, &inner, &about.key, &tensor);)
			tare_scan_say(&w->s, tensor, about);
	}
}

static enum kind kind_of(struct walk *w, struct py_object *type)
{
	size_t slot = (uintptr_t)type / 64 % KINDS;
	enum kind kind;

	if (w->kinds[slot].type == type)
		return w->kinds[slot].kind;
	for (kind = SHARDED; kind != NONE; kind--)
		if (w->classes[kind] && w->s.py->PyType_IsSubtype(type, w->classes[kind]))
			break;
	w->kinds[slot].type = type;
	w->kinds[slot].kind = kind;
	return kind;
}

static void scan_names(struct walk *w, struct py_object *object, enum kind kind)
{
	struct py_object *names = w->s.py->PyObject_GenericGetDict(object, NULL);

	if (!names)
		w->s.py->PyErr_Clear();
	else if (kind == MODULE)
		scan_module(w, names, (uint64_t)(uintptr_t)object);
	else if (kind == OPTIMIZER)
		scan_optimizer(w, names);
	else if (kind == FLAT)
		tare_scan_flat(&w->s, names);
	else
		tare_scan_sharded(&w->s, names);
	release(w, names);
}

static int see(struct py_object *object, void *arg)
{
	struct walk *w = arg;
	enum kind kind = kind_of(w, tare_scan_type(object));

	w->s.result->objects++;
	if (w->s.result->only_modules && kind != MODULE)
		return 1;
	if (kind == TENSOR)
		scan_tensor(w, object);
	else if (kind != NONE)
		scan_names(w, object, kind);
	return 1;
}

/* ---- the scan ---- */

/* Variables that keep tensors come first, and roots last: of two names of one thing in one scan the first is taken. */
static void begin(struct walk *w)
{
	if (!w->s.result->only_modules)
		tare_scan_kept(&w->s, w->classes[MODULE], w->classes[OPTIMIZER]);
}

static void end(struct walk *w)
{
	tare_scan_roots(&w->s, w->classes[MODULE]);
	tare_pool_self_report(w->s.py);
}

/* Up to 3.11 an allocation may start a collection, which would run finalizers of the program here. */
static void scan_list(struct walk *w)
{
	struct py_object *gc = module_dict(w, "gc"), *list = NULL;
	struct py_object *enable = builtin(w, gc, "enable"), *disable = builtin(w, gc, "disable");
	struct py_object *get_objects = builtin(w, gc, "get_objects");
	bool was_enabled = tare_scan_is_true(w->s.py, call(w, builtin(w, gc, "isenabled")));
	intptr_t count, i;

	if (!enable || !disable || !get_objects)
		return;
	if (was_enabled)
		release(w, call(w, disable));
	list = call(w, get_objects);
	count = list ? w->s.py->PyList_Size(list) : 0;
	begin(w);
	for (i = 0; i < count; i++)
		see(w->s.py->PyList_GetItem(list, i), w);
	end(w);
	release(w, list);
	if (was_enabled)
		release(w, call(w, enable));
}

/* Where FSDP's classes are moved from version to version. */
static const struct {
	enum kind kind;
	const char *module, *name;
} places[] = {
	{ MODULE, "torch.nn.modules.module", "Module" },
	{ OPTIMIZER, "torch.optim.optimizer", "Optimizer" },
	{ FLAT, "torch.distributed.fsdp._flat_param", "FlatParamHandle" },
	{ FLAT, "torch.distributed.fsdp.flat_param", "FlatParamHandle" },
	{ SHARDED, "torch.distributed.fsdp._fully_shard._fsdp_param", "FSDPParam" },
	{ SHARDED, "torch.distributed._composable.fsdp._fsdp_param", "FSDPParam" },
};

/* A program may have put anything under that name. */
static struct py_object *class_of(const struct walk *w, const char *module, const char *name)
{
	struct py_object *class = item(w, module_dict(w, module), name);
	struct py_object *type = tare_scan_type(w->s.dict_type); /* of types: `type` */

	return class && w->s.py->PyType_IsSubtype(tare_scan_type(class), type) ? class : NULL;
}

static bool find_classes(struct walk *w)
{
	struct py_object *modules = w->s.py->PyImport_GetModuleDict(), *version;
	size_t i;

	if (!modules)
		return false;
	w->s.dict_type = tare_scan_type(modules);
	version = item(w, module_dict(w, "sys"), "version");
	if (!version)
		return false;
	w->s.text_type = tare_scan_type(version);
	w->s.tensors.tensor = class_of(w, "torch", "Tensor");
	w->s.tensors.parameter = class_of(w, "torch.nn.parameter", "Parameter");
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!w->classes[places[i].kind])
			w->classes[places[i].kind] = class_of(w, places[i].module, places[i].name);
	return w->s.tensors.tensor && w->s.tensors.parameter && w->classes[MODULE];
}

static bool is_ending(const struct tare_python *p)
{
	return p->is_finalizing ? p->is_finalizing() != 0 : *p->finalizing != NULL;
}

static bool walk_all(struct walk *w)
{
	const struct tare_scan_api *py = w->s.py;
	struct py_object *torch_c;

	if (!find_classes(w))
		return false;
	torch_c = module_dict(w, "torch._C");
	if (!torch_c || !tare_scan_tensors_open(&w->s.tensors, torch_c)) {
		tare_scan_tensors_close(&w->s.tensors);
		return false;
	}
	w->classes[TENSOR] = w->s.tensors.base;
	if (py->PyUnstable_GC_VisitObjects) {
		begin(w);
		py->PyUnstable_GC_VisitObjects(see, w);
		end(w);
	} else {
		scan_list(w);
	}
	if (w->s.result->only_modules)
		w->s.result->flags |= TARE_SCAN_MODULES;
	else if (tare_scan_reads(&w->s.tensors))
		w->s.result->flags |= TARE_SCAN_GRADIENTS;
	tare_scan_tensors_close(&w->s.tensors);
	return true;
}

bool tare_scan_walk(struct tare_scan_result *result)
{
	const struct tare_scan_api *py = tare_scan_api();
	struct walk *w;
	bool is_done = false;

	if (!py || py->PyErr_Occurred() || is_ending(py->python))
		return false;
	w = tare_scratch_take(sizeof(*w));
	if (w) {
		w->s.py = w->s.tensors.py = py;
		w->s.result = result;
		tare_modules_forget();
		is_done = walk_all(w);
	}
	tare_scratch_give(w, sizeof(*w));
	return is_done;
}
