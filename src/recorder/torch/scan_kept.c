/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which variable keeps a tensor, in a list, a dictionary or an object of a class of the program; and which holds a module.
 * Objects are looked into by the function of their type that Python's own collector calls, which runs no bytecode.
 */
#include "recorder/torch/scan_say.h"

/* EACH, ALL: objects that are looked at behind one variable, and in a scan; TOLD: tensors. */
enum { DEPTH = 6, EACH = 8000, ALL = 60000, TOLD = 2000 };
enum { TYPE_TRAVERSE = 71, FLAG_HEAP_TYPE = 1 << 9, FLAG_COLLECTED = 1 << 14 }; /* Py_tp_traverse */
enum { SLOTS_OF_ALL_TYPES = 10 }; /* 3.10: PyType_GetSlot answers of types of C, too */

typedef int traverse_fn(struct py_object *object, py_visit_fn *visit, void *arg);

static const struct {
	const char *module, *name;
} containers[] = {
	{ "builtins", "list" },
	{ "builtins", "tuple" },
	{ "builtins", "set" },
	{ "collections", "deque" },
};
enum { CONTAINERS = sizeof(containers) / sizeof(containers[0]) };

struct kept {
	struct tare_scan_variables v;                      /* first: what is seen gets it */
	struct py_object *types[CONTAINERS], *module_type; /* of Python's modules */
	uint32_t all, told;                                /* so far */
};

/* One variable. */
struct search {
	struct kept *of;
	struct py_object *name;
	uint32_t each;
	int depth;
};

static void tell(struct search *k, struct py_object *tensor)
{
	struct tare_scan *s = k->of->v.scan;
	uint64_t at = tare_scan_memory(&s->tensors, tensor);

	if (!at || tare_scan_is_wrapper(&s->tensors, tensor))
		return;
	k->of->told++;
	tare_scan_say_memory(s, at, tare_scan_flags(&s->tensors, tensor) | TARE_SCANNED_KEPT,
	                     (struct tare_scan_about){ .role = TARE_SCANNED_TENSOR,
	                                               .key = k->name,
	                                               .shape = tare_scan_shape(&s->tensors, tensor) });
}

/* Modules and optimizers tell of their own; classes, functions and Python's modules lead to all of the program. */
static bool is_container(const struct kept *all, struct py_object *type)
{
	const struct tare_scan *s = all->v.scan;
	struct py_object *class_of_classes = tare_scan_type(s->dict_type);
	unsigned long flags;
	int i;

	for (i = 0; i < CONTAINERS; i++)
		if (type == all->types[i])
			return true;
	if (s->py->PyType_IsSubtype(type, s->dict_type))
		return true;
	flags = s->py->PyType_GetFlags(type);
	return flags & FLAG_HEAP_TYPE && flags & FLAG_COLLECTED && !s->py->PyType_IsSubtype(type, class_of_classes) &&
	       !s->py->PyType_IsSubtype(type, all->module_type) && !s->py->PyType_IsSubtype(type, all->v.module) &&
	       (!all->v.optimizer || !s->py->PyType_IsSubtype(type, all->v.optimizer));
}

static int look(struct py_object *object, void *arg);

static void look_into(struct search *k, struct py_object *object)
{
	traverse_fn *traverse;

	if (k->depth >= DEPTH || !is_container(k->of, tare_scan_type(object)))
		return;
	*(void **)&traverse = k->of->v.scan->py->PyType_GetSlot(tare_scan_type(object), TYPE_TRAVERSE);
	if (!traverse)
		return;
	k->depth++;
	traverse(object, look, k);
	k->depth--;
}

/* Not 0: no more. */
static int look(struct py_object *object, void *arg)
{
	struct search *k = arg;
	struct tare_scan_tensors *t = &k->of->v.scan->tensors;

	if (k->each++ >= EACH || k->of->all++ >= ALL || k->of->told >= TOLD)
		return 1;
	if (tare_scan_type(object) == t->parameter)
		return 0;
	if (tare_scan_is_tensor(t, object))
		tell(k, object);
	else
		look_into(k, object);
	return 0;
}

static void see_kept(const struct tare_scan_variables *v, struct py_object *name, struct py_object *value)
{
	struct search k = { .of = (struct kept *)v, .name = name };

	look_into(&k, value);
}

void tare_scan_kept(struct tare_scan *s, struct py_object *module, struct py_object *optimizer)
{
	struct py_object *builtins = tare_scan_item(s->py, s->py->PyImport_GetModuleDict(), "builtins");
	struct py_object *type_of_types = tare_scan_type(s->dict_type);
	struct kept all = { .v = { s, module, optimizer, see_kept },
		                .module_type = builtins ? tare_scan_type(builtins) : NULL };
	int i;

	if (s->py->python->layout.minor < SLOTS_OF_ALL_TYPES || !s->py->PyType_GetFlags || !builtins)
		return;
	for (i = 0; i < CONTAINERS; i++) {
		struct py_object *type =
			tare_scan_item(s->py, tare_scan_module(s->py, containers[i].module), containers[i].name);

		if (type && tare_scan_type(type) == type_of_types)
			all.types[i] = type;
	}
	tare_scan_each_variable(&all.v);
	if (s->py->PyErr_Occurred())
		s->py->PyErr_Clear();
}

static void see_root(const struct tare_scan_variables *v, struct py_object *name, struct py_object *value)
{
	if (v->scan->py->PyType_IsSubtype(tare_scan_type(value), v->module))
		tare_scan_say_memory(v->scan, (uint64_t)(uintptr_t)value, 0,
		                     (struct tare_scan_about){ .role = TARE_SCANNED_MODULE, .key = name });
}

void tare_scan_roots(struct tare_scan *s, struct py_object *module)
{
	const struct tare_scan_variables v = { .scan = s, .module = module, .see = see_root };

	tare_scan_each_variable(&v);
}
