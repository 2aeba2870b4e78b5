/* SPDX-License-Identifier: Apache-2.0 */
/* Variables are read where Python has them; no attribute is asked for that a program could have defined. */
#include "recorder/torch/scan_say.h"

#include <string.h>

#include "recorder/python/code.h"
#include "recorder/python/memory.h"
#include "recorder/python/stack.h"
#include "recorder/python/walk.h"

enum { FRAMES_MAX = 32, VARIABLES_MAX = 256, PATH = 512, CELL_CONTENT = 16, TAGS = 7 };

static bool text_of(const struct tare_scan *s, struct py_object *text, char *out, size_t size)
{
	return text && tare_scan_type(text) == s->text_type &&
	       tare_python_text(&s->py->python->layout, (uintptr_t)text, out, size, TARE_PYTHON_TRUST);
}

/* Names that begin with an underscore are nobody's to read, or the last answer of a shell. */
static void see(const struct tare_scan_variables *v, struct py_object *name, struct py_object *value)
{
	char first[PATH];

	if (value && text_of(v->scan, name, first, sizeof(first)) && first[0] != '_')
		v->see(v, name, value);
}

static void see_dict(const struct tare_scan_variables *v, struct py_object *dict)
{
	struct py_object *name, *value;
	intptr_t place = 0;

	while (tare_scan_is_dict(v->scan, dict) && v->scan->py->PyDict_Next(dict, &place, &name, &value))
		see(v, name, value);
}

/* What it calls `results` is told as that, not as self.results. A module's own members are told elsewhere. */
static void see_self(const struct tare_scan_variables *v, struct py_object *self)
{
	const struct tare_scan_api *py = v->scan->py;
	struct py_object *names;

	if (v->module && py->PyType_IsSubtype(tare_scan_type(self), v->module))
		return;
	names = py->PyObject_GenericGetDict(self, NULL);
	if (!names)
		py->PyErr_Clear();
	see_dict(v, names);
	tare_scan_release(py, names);
}

/* ---- frames ---- */

static bool is_of_library(const char *path)
{
	return !strncmp(path, "<frozen", 7) || strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") ||
	       strstr(path, "/lib/python3");
}

/* What a variable has that inner functions use, too, is in a cell. */
static struct py_object *value_at(const struct tare_python *p, uint64_t frame, intptr_t i)
{
	uint64_t value = tare_python_word(frame + p->layout.locals + (uint64_t)i * 8) & ~(uint64_t)TAGS;

	if (value && tare_python_word(value + TARE_PYTHON_TYPE) == p->cell_type)
		value = tare_python_word(value + CELL_CONTENT);
	return (struct py_object *)(uintptr_t)value;
}

/* Variables of a function in the order of their places: its own, those that inner functions use, too, and those of outer functions. */
static const char *const kinds_of_variables[] = { "co_varnames", "co_cellvars", "co_freevars" };
enum { KINDS_OF_VARIABLES = sizeof(kinds_of_variables) / sizeof(kinds_of_variables[0]), CELLS = 1 };
enum { ARGUMENTS_ARE_CELLS = 11 }; /* 3.11: a cell of an argument has no place of its own */

static bool has_name(const struct tare_scan_api *py, struct py_object *names, intptr_t count, struct py_object *name)
{
	for (intptr_t i = 0; i < count && i < VARIABLES_MAX; i++)
		if (py->PyTuple_GetItem(names, i) == name)
			return true;
	return false;
}

static __attribute__((noinline)) bool is_self(const struct tare_scan *s, struct py_object *name)
{
	char text[PATH];

	return text_of(s, name, text, sizeof(text)) && !strcmp(text, "self");
}

static void see_local(const struct tare_scan_variables *v, struct py_object *name, struct py_object *value)
{
	/* First what it has: the name that is told first stays, and `self` says nothing. */
	if (value && is_self(v->scan, name))
		see_self(v, value);
	see(v, name, value);
}

static void see_locals(const struct tare_scan_variables *v, uint64_t frame, uintptr_t code)
{
	const struct tare_scan_api *py = v->scan->py;
	struct py_object *names[KINDS_OF_VARIABLES];
	intptr_t counts[KINDS_OF_VARIABLES], place = 0;

	for (int kind = 0; kind < KINDS_OF_VARIABLES; kind++) {
		names[kind] = py->PyObject_GetAttrString((struct py_object *)code, kinds_of_variables[kind]);
		counts[kind] = names[kind] ? py->PyTuple_Size(names[kind]) : 0;
		for (intptr_t i = 0; i < counts[kind] && i < VARIABLES_MAX && place < VARIABLES_MAX; i++) {
			struct py_object *name = py->PyTuple_GetItem(names[kind], i);

			if (kind != CELLS || py->python->layout.minor < ARGUMENTS_ARE_CELLS ||
			    !has_name(py, names[0], counts[0], name))
				see_local(v, name, value_at(py->python, frame, place++));
		}
		if (py->PyErr_Occurred())
			py->PyErr_Clear();
	}
	for (int kind = 0; kind < KINDS_OF_VARIABLES; kind++)
		tare_scan_release(py, names[kind]);
}

/* The code of a function of the program; 0: it is none. On a stack of its own: the path is long. */
static __attribute__((noinline)) uintptr_t code_of_program(const struct tare_scan *s, uint64_t frame)
{
	const struct tare_python *p = s->py->python;
	char path[PATH];
	uintptr_t code;

	if (tare_python_is_internal(&p->layout, frame))
		return 0;
	code = tare_python_code_of(tare_python_word(frame + p->layout.code));
	if (!code || tare_python_word(code + TARE_PYTHON_TYPE) != p->code_type)
		return 0;
	if (!text_of(s, (struct py_object *)tare_python_word(code + p->layout.file), path, sizeof(path)))
		return 0;
	return is_of_library(path) ? 0 : code;
}

/* The outermost function first: what a program calls its model in main() says more than what a helper calls it. */
static void see_frames(const struct tare_scan_variables *v)
{
	uint64_t frames[FRAMES_MAX], frame = tare_python_frame();
	int n = 0;

	for (; frame && n < FRAMES_MAX; frame = tare_python_word(frame + v->scan->py->python->layout.back))
		if (code_of_program(v->scan, frame))
			frames[n++] = frame;
	while (n-- > 0)
		see_locals(v, frames[n], code_of_program(v->scan, frames[n]));
}

void tare_scan_each_variable(const struct tare_scan_variables *v)
{
	see_dict(v, tare_scan_module(v->scan->py, "__main__"));
	see_frames(v);
}
