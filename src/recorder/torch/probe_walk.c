/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sweep: every object that Python's cyclic collector knows is looked at once. Names are told as the
 * objects have them, a module at a time; dotted paths are made of them when the recording is read.
 */
#include <string.h>

#include "recorder/emit.h"
#include "recorder/python/code.h"
#include "recorder/recorder.h"
#include "recorder/torch/probe.h"
#include "recorder/torch/probe_api.h"

enum { KINDS = 512, ENTRIES_MAX = 20000, VISIBLE_MAX = 4000, FAILURES_MAX = 8, NAME_BYTES = 256 };

enum kind { NONE, MODULE, OPTIMIZER, TENSOR };

struct walk {
	const struct tare_probe_api *py;
	struct py_object *text_type, *dict_type; /* exact */
	struct py_object *module, *optimizer, *tensor, *parameter; /* classes; not ours to release */
	struct py_object *data_ptr, *storage_offset, *element_size; /* functions of tensors; ours */
	struct py_object *grad, *is_leaf, *requires_grad; /* getters; ours */
	uint32_t visible, failures;
	struct tare_probe_result *result;
	struct {
		struct py_object *type;
		enum kind kind;
	} kinds[KINDS];
};

static struct py_object *item(const struct walk *w, struct py_object *dict, const char *name)
{
	return tare_probe_item(w->py, dict, name);
}

static struct py_object *module_dict(const struct walk *w, const char *name)
{
	return tare_probe_module(w->py, name);
}

static struct py_object *builtin(const struct walk *w, struct py_object *dict, const char *name)
{
	return tare_probe_builtin(w->py, dict, name);
}

static struct py_object *call(const struct walk *w, struct py_object *function, struct py_object *argument)
{
	return tare_probe_call(w->py, function, argument);
}

static void release(const struct walk *w, struct py_object *object)
{
	tare_probe_release(w->py, object);
}

static bool is_true(const struct walk *w, struct py_object *answer)
{
	return tare_probe_is_true(w->py, answer);
}

/* ---- tensors ---- */

static bool get_number(struct walk *w, struct py_object *function, struct py_object *tensor, uint64_t *out)
{
	struct py_object *answer = call(w, function, tensor);

	*out = 0;
	if (!answer) {
		w->failures++;
		return false;
	}
	*out = w->py->PyLong_AsUnsignedLongLong(answer);
	release(w, answer);
	if (!w->py->PyErr_Occurred())
		return true;
	w->py->PyErr_Clear();
	return false;
}

/* Where the memory of a tensor begins, of which it may be a part. 0: it has none, or does not say. */
static uint64_t memory_of(struct walk *w, struct py_object *tensor)
{
	uint64_t at, offset, size;

	if (w->failures >= FAILURES_MAX || !get_number(w, w->data_ptr, tensor, &at) || !at ||
	    !get_number(w, w->storage_offset, tensor, &offset))
		return 0;
	if (offset && !get_number(w, w->element_size, tensor, &size))
		return 0;
	return offset ? at - offset * size : at;
}

static bool is_plain_tensor(const struct walk *w, struct py_object *object)
{
	struct py_object *type = tare_probe_type(object);

	return type == w->tensor || type == w->parameter;
}

static void say(struct walk *w, uint64_t at, uint64_t of, uint32_t role, uint32_t flags, uint32_t name)
{
	struct tare_rec_probe rec;

	if (w->result->entries >= ENTRIES_MAX) {
		w->result->flags |= TARE_SWEEP_CUT;
		return;
	}
	memset(&rec, 0, sizeof(rec));
	rec.at = at;
	rec.of = of;
	rec.role = (uint16_t)role;
	rec.flags = (uint16_t)flags;
	rec.name = name;
	tare_emit_probe(&rec);
	w->result->entries++;
}

static uint32_t name_of(const struct walk *w, struct py_object *key)
{
	char text[NAME_BYTES];

	if (tare_probe_type(key) != w->text_type ||
	    !tare_python_text(&w->py->python->layout, (uintptr_t)key, text, sizeof(text), TARE_PYTHON_TRUST))
		return 0;
	return tare_emit_string(text);
}

/*
 * Only of what an optimizer has asked for its gradient before: whoever is the first to ask makes an object
 * in Python of it, which lives on. And only of a leaf: asking another makes torch warn.
 */
static void see_gradient(struct walk *w, struct py_object *tensor, uint64_t memory)
{
	struct py_object *grad = is_true(w, call(w, w->is_leaf, tensor)) ? call(w, w->grad, tensor) : NULL;
	uint64_t at = grad && is_plain_tensor(w, grad) ? memory_of(w, grad) : 0;

	if (at)
		say(w, at, memory, TARE_PROBE_GRADIENT, 0, 0);
	release(w, grad);
}

static void see_tensor(struct walk *w, struct py_object *tensor)
{
	bool is_leaf, requires_grad;
	uint64_t at;

	if (tare_probe_type(tensor) == w->tensor && w->visible++ >= VISIBLE_MAX) {
		w->result->flags |= TARE_SWEEP_CUT;
		return;
	}
	at = memory_of(w, tensor);
	if (!at)
		return;
	is_leaf = is_true(w, call(w, w->is_leaf, tensor));
	requires_grad = is_true(w, call(w, w->requires_grad, tensor));
	say(w, at, 0, TARE_PROBE_TENSOR,
	    (is_leaf ? TARE_PROBE_LEAF : 0) | (requires_grad ? TARE_PROBE_REQUIRES_GRAD : 0), 0);
}

/* ---- modules and optimizers ---- */

static bool is_dict(const struct walk *w, struct py_object *object)
{
	return object && w->py->PyType_IsSubtype(tare_probe_type(object), w->dict_type);
}

static void see_members(struct walk *w, struct py_object *names, const char *which, uint64_t owner, uint32_t role)
{
	struct py_object *dict = item(w, names, which), *key, *value;
	intptr_t place = 0;

	if (!is_dict(w, dict))
		return;
	while (w->py->PyDict_Next(dict, &place, &key, &value)) {
		uint64_t at = (uint64_t)(uintptr_t)value;

		if (role == TARE_PROBE_MODULE ? !w->py->PyType_IsSubtype(tare_probe_type(value), w->module)
					      : !is_plain_tensor(w, value) || !(at = memory_of(w, value)))
			continue;
		say(w, at, owner, role, 0, name_of(w, key));
	}
}

static void see_module(struct walk *w, struct py_object *names, uint64_t owner)
{
	see_members(w, names, "_parameters", owner, TARE_PROBE_PARAMETER);
	see_members(w, names, "_buffers", owner, TARE_PROBE_BUFFER);
	see_members(w, names, "_modules", owner, TARE_PROBE_MODULE);
}

/* {parameter: {"exp_avg": tensor, …}} */
static void see_optimizer(struct walk *w, struct py_object *names)
{
	struct py_object *states = item(w, names, "state"), *key, *value;
	intptr_t place = 0;

	if (!is_dict(w, states))
		return;
	while (w->py->PyDict_Next(states, &place, &key, &value)) {
		struct py_object *name, *tensor;
		intptr_t inner = 0;
		uint64_t of;

		if (!is_dict(w, value))
			continue;
		of = is_plain_tensor(w, key) ? memory_of(w, key) : 0;
		if (of)
			see_gradient(w, key, of);
		while (w->py->PyDict_Next(value, &inner, &name, &tensor)) {
			uint64_t at = is_plain_tensor(w, tensor) ? memory_of(w, tensor) : 0;

			if (at)
				say(w, at, of, TARE_PROBE_STATE, 0, name_of(w, name));
		}
	}
}

static enum kind kind_of(struct walk *w, struct py_object *type)
{
	size_t slot = (uintptr_t)type / 64 % KINDS;
	enum kind kind = NONE;

	if (w->kinds[slot].type == type)
		return w->kinds[slot].kind;
	if (type == w->tensor || type == w->parameter)
		kind = TENSOR;
	else if (w->module && w->py->PyType_IsSubtype(type, w->module))
		kind = MODULE;
	else if (w->optimizer && w->py->PyType_IsSubtype(type, w->optimizer))
		kind = OPTIMIZER;
	w->kinds[slot].type = type;
	w->kinds[slot].kind = kind;
	return kind;
}

static void see_names(struct walk *w, struct py_object *object, enum kind kind)
{
	struct py_object *names = w->py->PyObject_GenericGetDict(object, NULL);

	if (!names)
		w->py->PyErr_Clear();
	else if (kind == MODULE)
		see_module(w, names, (uint64_t)(uintptr_t)object);
	else
		see_optimizer(w, names);
	release(w, names);
}

static int see(struct py_object *object, void *arg)
{
	struct walk *w = arg;
	enum kind kind = kind_of(w, tare_probe_type(object));

	w->result->objects++;
	if (kind == TENSOR)
		see_tensor(w, object);
	else if (kind != NONE)
		see_names(w, object, kind);
	return 1;
}

/* ---- the sweep ---- */

/* Up to 3.11 an allocation may start a collection, which would run finalizers of the program here. */
static void see_list(struct walk *w)
{
	struct py_object *gc = module_dict(w, "gc"), *list = NULL;
	struct py_object *enable = builtin(w, gc, "enable"), *disable = builtin(w, gc, "disable");
	struct py_object *get_objects = builtin(w, gc, "get_objects");
	bool was_enabled = is_true(w, call(w, builtin(w, gc, "isenabled"), NULL));
	intptr_t count, i;

	if (!enable || !disable || !get_objects)
		return;
	if (was_enabled)
		release(w, call(w, disable, NULL));
	list = call(w, get_objects, NULL);
	count = list ? w->py->PyList_Size(list) : 0;
	for (i = 0; i < count; i++)
		see(w->py->PyList_GetItem(list, i), w);
	release(w, list);
	tare_pool_witness(w->py);
	if (was_enabled)
		release(w, call(w, enable, NULL));
}

static bool find_types(struct walk *w)
{
	struct py_object *modules = w->py->PyImport_GetModuleDict();
	struct py_object *version;

	if (!modules)
		return false;
	w->dict_type = tare_probe_type(modules);
	version = item(w, module_dict(w, "sys"), "version");
	if (!version)
		return false;
	w->text_type = tare_probe_type(version);
	w->tensor = item(w, module_dict(w, "torch"), "Tensor");
	w->parameter = item(w, module_dict(w, "torch.nn.parameter"), "Parameter");
	w->module = item(w, module_dict(w, "torch.nn.modules.module"), "Module");
	w->optimizer = item(w, module_dict(w, "torch.optim.optimizer"), "Optimizer");
	return w->tensor && w->parameter && w->module;
}

/* A mode that overrides functions of torch would see our calls; a trace would record them. */
static bool is_disturbed(const struct walk *w, struct py_object *torch_c)
{
	struct py_object *state = builtin(w, torch_c, "_get_tracing_state");
	struct py_object *depth = builtin(w, torch_c, "_len_torch_function_stack");

	if (state && is_true(w, call(w, state, NULL)))
		return true;
	return depth && is_true(w, call(w, depth, NULL));
}

static struct py_object *getter(const struct walk *w, struct py_object *base, const char *name)
{
	struct py_object *attribute = w->py->PyObject_GetAttrString(base, name);
	struct py_object *get = attribute ? w->py->PyObject_GetAttrString(attribute, "__get__") : NULL;

	if (!get)
		w->py->PyErr_Clear();
	release(w, attribute);
	return get;
}

static struct py_object *method(const struct walk *w, struct py_object *base, const char *name)
{
	struct py_object *function = w->py->PyObject_GetAttrString(base, name);

	if (!function)
		w->py->PyErr_Clear();
	return function;
}

/* Of the class in C below torch.Tensor, where a program can put nothing. */
static bool find_functions(struct walk *w, struct py_object *torch_c)
{
	struct py_object *base = item(w, torch_c, "TensorBase");

	if (!base)
		base = item(w, torch_c, "_TensorBase"); /* up to 2.0 */
	if (!base)
		return false;
	w->data_ptr = method(w, base, "data_ptr");
	w->storage_offset = method(w, base, "storage_offset");
	w->element_size = method(w, base, "element_size");
	w->grad = getter(w, base, "grad");
	w->is_leaf = getter(w, base, "is_leaf");
	w->requires_grad = getter(w, base, "requires_grad");
	return w->data_ptr && w->storage_offset && w->element_size && w->grad && w->is_leaf && w->requires_grad;
}

static void release_functions(const struct walk *w)
{
	release(w, w->data_ptr);
	release(w, w->storage_offset);
	release(w, w->element_size);
	release(w, w->grad);
	release(w, w->is_leaf);
	release(w, w->requires_grad);
}

static bool is_ending(const struct tare_python *p)
{
	return p->is_finalizing ? p->is_finalizing() != 0 : *p->finalizing != NULL;
}

bool tare_probe_walk(struct tare_probe_result *result)
{
	const struct tare_probe_api *py = tare_probe_api();
	struct py_object *torch_c;
	struct walk w;
	bool is_ready;

	if (!py || py->PyErr_Occurred() || is_ending(py->python))
		return false;
	memset(&w, 0, sizeof(w));
	w.py = py;
	w.result = result;
	if (!find_types(&w))
		return false;
	torch_c = module_dict(&w, "torch._C");
	if (!torch_c || is_disturbed(&w, torch_c))
		return false;
	is_ready = find_functions(&w, torch_c);
	if (is_ready && py->PyUnstable_GC_VisitObjects) {
		py->PyUnstable_GC_VisitObjects(see, &w);
		tare_pool_witness(py);
	} else if (is_ready) {
		see_list(&w);
	}
	release_functions(&w);
	return is_ready;
}
