/* SPDX-License-Identifier: Apache-2.0 */
/* Marks lines of a Python program as phases, for `--phase FILE:LINE`. */
#include "recorder/python/interpreter.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "recorder/base/environment.h"
#include "recorder/base/parts.h"
#include "recorder/base/plib.h"
#include "recorder/elf/elfsym.h"
#include "recorder/elf/libdl.h"
#include "recorder/log/degraded.h"
#include "recorder/phase/phase.h"
#include "recorder/recorder.h"
#include "recorder/unwind/unwind_stack.h"

#define SPECS_MAX     64
#define PY_FILE_INPUT 257
#define PY_EVAL_INPUT 258
#define METH_O        8

/* Made of line_phase_code.py. */
static const char code[] = {
#include "line_phase_code.inc"
	, '\0'
};

struct py_object;
struct py_method {
	const char *name;
	struct py_object *(*function)(struct py_object *self, struct py_object *argument);
	int flags;
	const char *doc;
};

#define PYTHON_API_MAP(X)                                                                                              \
	X(int, Py_IsInitialized, (void))                                                                                   \
	X(int, Py_AddPendingCall, (int (*)(void *), void *))                                                               \
	X(struct py_object *, PyDict_New, (void))                                                                          \
	X(int, PyDict_SetItemString, (struct py_object *, const char *, struct py_object *))                               \
	X(struct py_object *, PyEval_GetBuiltins, (void))                                                                  \
	X(struct py_object *, PyCFunction_NewEx, (struct py_method *, struct py_object *, struct py_object *))             \
	X(struct py_object *, PyUnicode_FromString, (const char *))                                                        \
	X(struct py_object *, PyRun_StringFlags, (const char *, int, struct py_object *, struct py_object *, void *))      \
	X(void, PyErr_Clear, (void))                                                                                       \
	X(long, PyLong_AsLong, (struct py_object *))                                                                       \
	X(struct py_object *, PyLong_FromLong, (long))                                                                     \
	X(void, Py_DecRef, (struct py_object *))

static struct {
#define PYTHON_API(result, name, params) result(*name) params;
	PYTHON_API_MAP(PYTHON_API)
#undef PYTHON_API
} py;

static bool is_wanted;
static char specs[1024]; /* one per line; each ends with a NUL once it was taken apart */
static const char *spec_of[SPECS_MAX];
static int spec_nr;
static uint32_t is_asked;           /* the call is left with the interpreter */
static struct py_object *installed; /* what the code left, once it has run */

void tare_line_phase_start(void)
{
	const char *wanted = tare_environment("TARE_PHASES");
	char *at;

	if (!wanted || !tare_config.enabled || tare_config.nop)
		return;
	tare_plib_format(specs, sizeof(specs), "%s", wanted);
	for (at = specs; *at && spec_nr < SPECS_MAX;) {
		spec_of[spec_nr++] = at;
		while (*at && *at != '\n')
			at++;
		if (*at)
			*at++ = '\0';
	}
	is_wanted = spec_nr > 0;
}

static bool find_interpreter(void)
{
	struct tare_elf_object library;
	bool is_library = tare_elf_find_object("libpython3", &library);

#define PYTHON_API(result, name, params)                                                                               \
	*(void **)&py.name = tare_resolve_dlsym(RTLD_DEFAULT, #name);                                                      \
	if (!py.name && is_library)                                                                                        \
		*(void **)&py.name = tare_elf_symbol(&library, #name, NULL);                                                   \
	if (!py.name)                                                                                                      \
		return false;
	PYTHON_API_MAP(PYTHON_API)
#undef PYTHON_API
	return true;
}

/* Called by the Python code: n > 0: the n-th line begins; -1: the innermost one ends. */
static struct py_object *on_line(struct py_object *self, struct py_object *argument)
{
	struct tare_phase phase = { .source = TARE_PHASE_BY_LINE };
	long n = py.PyLong_AsLong(argument);

	(void)self;
	if (n > 0 && n <= spec_nr) {
		phase.what = TARE_PHASE_PUSH;
		phase.name = spec_of[n - 1];
		tare_phase_add(&phase);
	} else if (n < 0) {
		phase.what = TARE_PHASE_POP;
		tare_phase_add(&phase);
	} else {
		tare_degraded("--phase has no effect in this program, because it traces itself with "
		              "sys.settrace (or another tool has taken every place in sys.monitoring)",
		              NULL);
	}
	return py.PyLong_FromLong(0);
}

static struct py_method method = { "tare_line", on_line, METH_O, NULL };

static void set(struct py_object *dict, const char *name, struct py_object *value)
{
	if (!value)
		return;
	py.PyDict_SetItemString(dict, name, value);
	py.Py_DecRef(value);
}

/* In the interpreter's main thread, its lock held, between two of its instructions. */
static int install(void *arg)
{
	struct py_object *names = py.PyDict_New(), *result;
	char wanted[sizeof(specs)];

	(void)arg;
	if (!names)
		return 0;
	tare_plib_format(wanted, sizeof(wanted), "%s", tare_environment("TARE_PHASES"));
	py.PyDict_SetItemString(names, "__builtins__", py.PyEval_GetBuiltins());
	set(names, "record", py.PyCFunction_NewEx(&method, NULL, NULL));
	set(names, "wanted", py.PyUnicode_FromString(wanted));
	result = py.PyRun_StringFlags(code, PY_FILE_INPUT, names, names, NULL);
	if (!result) {
		py.PyErr_Clear();
		tare_degraded("--phase has no effect: this Python could not be asked to tell of lines", NULL);
	} else {
		py.Py_DecRef(result);
		__atomic_store_n(&installed, names, __ATOMIC_RELEASE); /* for good */
		return 0;
	}
	py.Py_DecRef(names);
	return 0;
}

/* A program that traces itself later takes our place without a word. */
static int check(void *names)
{
	struct py_object *result;

	if (!tare_stack_has(TARE_STACK_FOREIGN))
		return 0; /* the next module asks again */
	result = py.PyRun_StringFlags("check and check()", PY_EVAL_INPUT, names, names, NULL);

	if (result)
		py.Py_DecRef(result);
	else
		py.PyErr_Clear();
	return 0;
}

void tare_line_phase_see_init(void)
{
	uint32_t none = 0;

	if (!is_wanted)
		return;
	if (!__atomic_compare_exchange_n(&is_asked, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		struct py_object *names = __atomic_load_n(&installed, __ATOMIC_ACQUIRE);

		if (names)
			py.Py_AddPendingCall(check, names);
		return;
	}
	if (!find_interpreter()) {
		tare_degraded("--phase has no effect: the Python interpreter of this program does not "
		              "export what it takes",
		              NULL);
		return;
	}
	if (!py.Py_IsInitialized() || py.Py_AddPendingCall(install, NULL) != 0)
		__atomic_store_n(&is_asked, 0, __ATOMIC_RELEASE); /* at the next module */
}
