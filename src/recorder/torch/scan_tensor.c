/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tensors in a scan: their memory, parts, flags and gradients. */
#include "recorder/torch/scan_tensor.h"

#include <string.h>

#include "recorder/recorder.h"
#include "record/format.h"

enum { FAILURES_MAX = 8, DEPTH_MAX = 3, SLOTS_MAX = 32, CLASSES_MAX = 16 };
enum { TYPE_BASE = 48, TYPE_MEMBERS = 72, MEMBER_OBJECT = 16 }; /* Py_tp_base, Py_tp_members, T_OBJECT_EX */

/* PyMemberDef: an attribute of a class with __slots__. */
struct member {
	const char *name;
	int type;
	intptr_t offset;
	int flags;
	const char *doc;
};

static struct py_object *call(const struct tare_scan_tensors *t, struct py_object *function, struct py_object *argument)
{
	return tare_scan_call(t->py, function, argument);
}

static bool is_true(const struct tare_scan_tensors *t, struct py_object *answer)
{
	return tare_scan_is_true(t->py, answer);
}

/* ---- by functions ---- */

static bool get_number(struct tare_scan_tensors *t, struct py_object *function, struct py_object *tensor, uint64_t *out)
{
	struct py_object *answer = call(t, function, tensor);

	*out = 0;
	if (!answer) {
		t->failures++;
		return false;
	}
	*out = t->py->PyLong_AsUnsignedLongLong(answer);
	tare_scan_release(t->py, answer);
	if (!t->py->PyErr_Occurred())
		return true;
	t->py->PyErr_Clear();
	return false;
}

/* Where the memory of a tensor begins, of which it may be a part. 0: it has none, or does not say. */
static uint64_t called_memory(struct tare_scan_tensors *t, struct py_object *tensor)
{
	uint64_t at, offset, size;

	if (t->failures >= FAILURES_MAX || !get_number(t, t->data_ptr, tensor, &at) || !at ||
	    !get_number(t, t->storage_offset, tensor, &offset))
		return 0;
	if (offset && !get_number(t, t->element_size, tensor, &size))
		return 0;
	return offset ? at - offset * size : at;
}

/* ---- by what PyTorch keeps ---- */

static bool is_below_base(const struct tare_scan_tensors *t, struct py_object *object)
{
	return tare_scan_is_plain(t, object) || t->py->PyType_IsSubtype(tare_scan_type(object), t->base);
}

/* Found in an earlier scan. Scans are of the main thread only. */
static struct tare_torch known;

static void recall(struct tare_torch *t)
{
	if (known.tensor_table != t->tensor_table || known.gradient != t->gradient)
		return;
	t->impl_in_object = known.impl_in_object;
	t->storage_in_impl = known.storage_in_impl;
	t->object_in_impl = known.object_in_impl;
}

/* What is found has to be what PyTorch says itself, where it can be asked. */
static void learn(struct tare_scan_tensors *t, struct py_object *tensor)
{
	if (tare_scan_reads(t) || !tare_scan_is_plain(t, tensor) || !tare_torch_learn(&t->torch, tensor))
		return;
	if (t->may_call && tare_torch_memory(&t->torch, tare_torch_impl(&t->torch, tensor)) != called_memory(t, tensor))
		t->torch = (struct tare_torch){ .tensor_table = 0 };
	known = t->torch;
}

struct search {
	struct tare_scan_tensors *t;
	struct tare_scan_part *parts;
	int count, depth;
};

static void add_parts(struct search *s, struct py_object *tensor, const struct tare_scan_part *as);

static void add_inner(struct search *s, struct py_object *value, const char *slot, struct py_object *key)
{
	struct tare_scan_part as = { .slot = slot, .key = key };

	if (value && is_below_base(s->t, value))
		add_parts(s, value, &as);
}

static void add_slots(struct search *s, struct py_object *object)
{
	struct py_object *type = tare_scan_type(object);
	const struct member *m;
	int classes, i;

	for (classes = 0; type && type != s->t->tensor && classes < CLASSES_MAX; classes++) {
		m = (const struct member *)s->t->py->PyType_GetSlot(type, TYPE_MEMBERS);
		for (i = 0; m && i < SLOTS_MAX && m[i].name; i++)
			if (m[i].type == MEMBER_OBJECT)
				add_inner(s, *(struct py_object **)((char *)object + m[i].offset), m[i].name, NULL);
		type = (struct py_object *)s->t->py->PyType_GetSlot(type, TYPE_BASE);
	}
	if (s->t->py->PyErr_Occurred())
		s->t->py->PyErr_Clear();
}

static void add_attributes(struct search *s, struct py_object *object)
{
	struct py_object *names = s->t->py->PyObject_GenericGetDict(object, NULL), *key, *value;
	intptr_t place = 0;

	if (!names)
		s->t->py->PyErr_Clear();
	while (names && s->t->py->PyDict_Next(names, &place, &key, &value))
		add_inner(s, value, NULL, key);
	tare_scan_release(s->t->py, names);
}

static void add_parts(struct search *s, struct py_object *tensor, const struct tare_scan_part *as)
{
	uintptr_t impl = tare_torch_impl(&s->t->torch, tensor);
	uint64_t at = impl ? tare_torch_memory(&s->t->torch, impl) : 0;

	if (!impl || s->count >= TARE_SCAN_PARTS)
		return;
	if (at) {
		s->parts[s->count] = *as;
		s->parts[s->count++].at = at;
		return;
	}
	if (tare_scan_is_plain(s->t, tensor) || s->depth >= DEPTH_MAX)
		return;
	s->depth++;
	add_slots(s, tensor);
	add_attributes(s, tensor);
	s->depth--;
}

static int read_parts(struct tare_scan_tensors *t, struct py_object *tensor,
                      struct tare_scan_part parts[TARE_SCAN_PARTS])
{
	struct search s = { .t = t, .parts = parts };
	const struct tare_scan_part as = { .at = 0 };

	add_parts(&s, tensor, &as);
	return s.count;
}

/* ---- either way ---- */

bool tare_scan_is_tensor(struct tare_scan_tensors *t, struct py_object *object)
{
	learn(t, object);
	if (tare_scan_reads(t))
		return is_below_base(t, object);
	return t->may_call && tare_scan_is_plain(t, object);
}

int tare_scan_parts(struct tare_scan_tensors *t, struct py_object *tensor, struct tare_scan_part parts[TARE_SCAN_PARTS])
{
	if (tare_scan_reads(t))
		return read_parts(t, tensor, parts);
	parts[0] = (struct tare_scan_part){ .at = called_memory(t, tensor) };
	return parts[0].at != 0;
}

uint64_t tare_scan_memory(struct tare_scan_tensors *t, struct py_object *tensor)
{
	struct tare_scan_part parts[TARE_SCAN_PARTS];

	return tare_scan_parts(t, tensor, parts) ? parts[0].at : 0;
}

bool tare_scan_is_wrapper(struct tare_scan_tensors *t, struct py_object *tensor)
{
	uintptr_t impl;

	if (tare_scan_is_plain(t, tensor))
		return false;
	impl = tare_torch_impl(&t->torch, tensor);
	return impl && !tare_torch_memory(&t->torch, impl);
}

uint32_t tare_scan_flags(struct tare_scan_tensors *t, struct py_object *tensor)
{
	bool is_leaf, requires_grad;
	uintptr_t impl;

	if (tare_scan_reads(t)) {
		impl = tare_torch_impl(&t->torch, tensor);
		is_leaf = impl && tare_torch_is_leaf(&t->torch, impl);
		requires_grad = impl && tare_torch_requires_grad(&t->torch, impl);
	} else {
		is_leaf = is_true(t, call(t, t->is_leaf, tensor));
		requires_grad = is_true(t, call(t, t->requires_grad, tensor));
	}
	return (is_leaf ? TARE_SCANNED_LEAF : 0) | (requires_grad ? TARE_SCANNED_REQUIRES_GRAD : 0);
}

static int read_gradient(struct tare_scan_tensors *t, struct py_object *tensor,
                         struct tare_scan_part parts[TARE_SCAN_PARTS])
{
	uintptr_t impl = tare_torch_impl(&t->torch, tensor);
	uintptr_t gradient = impl ? tare_torch_gradient(&t->torch, impl) : 0;
	struct py_object *object;

	if (!gradient)
		return 0;
	parts[0] = (struct tare_scan_part){ .at = tare_torch_memory(&t->torch, gradient) };
	if (parts[0].at)
		return 1;
	object = tare_torch_object(&t->torch, gradient); /* one that wraps others has one: they are its attributes */
	return object && is_below_base(t, object) ? read_parts(t, object, parts) : 0;
}

/* Only of a leaf: asking another makes torch warn. */
int tare_scan_gradient(struct tare_scan_tensors *t, struct py_object *tensor, bool was_asked,
                       struct tare_scan_part parts[TARE_SCAN_PARTS])
{
	struct py_object *grad;
	int count = 0;

	if (tare_scan_reads(t))
		return read_gradient(t, tensor, parts);
	grad = was_asked && is_true(t, call(t, t->is_leaf, tensor)) ? call(t, t->grad, tensor) : NULL;
	if (grad && tare_scan_is_plain(t, grad))
		count = tare_scan_parts(t, grad, parts);
	tare_scan_release(t->py, grad);
	return count;
}

/* ---- begin and end of a scan ---- */

/* A mode that overrides functions of torch would see our calls; a trace would record them. */
static bool is_disturbed(const struct tare_scan_tensors *t, struct py_object *torch_c)
{
	struct py_object *state = tare_scan_builtin(t->py, torch_c, "_get_tracing_state");
	struct py_object *depth = tare_scan_builtin(t->py, torch_c, "_len_torch_function_stack");

	if (state && is_true(t, call(t, state, NULL)))
		return true;
	return depth && is_true(t, call(t, depth, NULL));
}

static struct py_object *method(const struct tare_scan_tensors *t, struct py_object *base, const char *name)
{
	struct py_object *function = t->py->PyObject_GetAttrString(base, name);

	if (!function)
		t->py->PyErr_Clear();
	return function;
}

static struct py_object *getter(const struct tare_scan_tensors *t, struct py_object *base, const char *name)
{
	struct py_object *attribute = method(t, base, name);
	struct py_object *get = attribute ? method(t, attribute, "__get__") : NULL;

	tare_scan_release(t->py, attribute);
	return get;
}

/* Of the class in C below torch.Tensor, where a program can put nothing. */
static bool find_functions(struct tare_scan_tensors *t)
{
	t->data_ptr = method(t, t->base, "data_ptr");
	t->storage_offset = method(t, t->base, "storage_offset");
	t->element_size = method(t, t->base, "element_size");
	t->grad = getter(t, t->base, "grad");
	t->is_leaf = getter(t, t->base, "is_leaf");
	t->requires_grad = getter(t, t->base, "requires_grad");
	t->shape = getter(t, t->base, "shape");
	t->dtype = getter(t, t->base, "dtype");
	return t->data_ptr && t->storage_offset && t->element_size && t->grad && t->is_leaf && t->requires_grad;
}

/* Tests see what is known without. */
static bool may_read(void)
{
	return likely(!tare_config.disabled_hook) || strcmp(tare_config.disabled_hook, "c10::TensorImpl") != 0;
}

bool tare_scan_tensors_open(struct tare_scan_tensors *t, struct py_object *torch_c)
{
	t->base = tare_scan_item(t->py, torch_c, "TensorBase");
	if (!t->base)
		t->base = tare_scan_item(t->py, torch_c, "_TensorBase"); /* up to 2.0 */
	if (!t->base)
		return false;
	t->may_call = !is_disturbed(t, torch_c) && find_functions(t);
	if (may_read() && tare_torch_find(&t->torch))
		recall(&t->torch);
	else
		t->torch = (struct tare_torch){ .tensor_table = 0 };
	return t->may_call || t->torch.tensor_table;
}

void tare_scan_tensors_close(struct tare_scan_tensors *t)
{
	tare_scan_release(t->py, t->data_ptr);
	tare_scan_release(t->py, t->storage_offset);
	tare_scan_release(t->py, t->element_size);
	tare_scan_release(t->py, t->grad);
	tare_scan_release(t->py, t->is_leaf);
	tare_scan_release(t->py, t->requires_grad);
	tare_scan_release(t->py, t->shape);
	tare_scan_release(t->py, t->dtype);
}
