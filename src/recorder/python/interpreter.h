/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_INTERPRETER_H
#define TARE_RECORDER_PYTHON_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/elf/objects.h"
#include "recorder/python/layout.h"

/*
 * The Python interpreter in this process, found by its symbols and trusted only after a check against
 * its own public functions.
 */

/* What is used at every block of a tensor comes first. */
struct tare_python {
	struct tare_python_layout layout;
	bool has_versions;          /* each code object has a number that no other ever has */
	bool counts_deaths;         /* of code objects */
	void *(*own_state)(void);   /* PyGILState_GetThisThreadState: a look into thread-specific data */
	int (*is_finalizing)(void); /* NULL up to 3.6 … */
	void *(*first_interpreter)(void), *(*next_interpreter)(void *);
	void *(*holder)(void);                   /* the thread state that runs: this thread's only if it has the GIL */
	uintptr_t cell_type, code_type, runtime; /* &PyCell_Type, &PyCode_Type, &_PyRuntime (from 3.7 on) */
	void *const *finalizing;                 /* … which has a variable */
	struct tare_code eval;                   /* the function that runs Python; empty where it is not exported */
};

/* The checked interpreter, or NULL: there is none, or not yet, or one we cannot read. */
const struct tare_python *tare_python_interpreter(void);

/*
 * Is it there, checked, and of a library that is never unloaded? Nothing is looked for, and nothing called: for where
 * any lock may be held.
 */
bool tare_python_is_to_stay(void);
/* Checks it there, if the program itself is one. */
void tare_python_try_program(void);
/* The same, and it is taking the program down. */
bool tare_python_is_finalizing(void);
/* Where the code lies in which it runs Python. */
const struct tare_code *tare_python_eval(void);

/*
 * Code at `caller` asks the dynamic linker for PyInit_…: an interpreter that imports an extension
 * module, on a thread that runs Python and has the GIL. The best moment for the check.
 */
void tare_python_imports(uintptr_t caller);

/*
 * collector.c: does this thread run inside Python's cyclic collector? CPython 3.8 to 3.13; false where nobody knows.
 * A collection that lets another thread run Python meanwhile counts as that thread's too.
 */
bool tare_python_is_collecting(void);

/* deaths.c: counts the deaths of code objects from now on. `type`: &PyCode_Type. False: they cannot be counted. */
bool tare_python_deaths_start(uintptr_t type);

/* How many there were, after a start that worked; unknown: somebody else has taken them over. */
#define TARE_PYTHON_DEATHS_UNKNOWN UINT64_MAX
uint64_t tare_python_deaths(void);

/*
 * module.c: host memory that the loading of an extension module makes resident. For this the recorder owns dlopen. Which
 * libraries dlopen finds depends on who calls it, so ours reads and then jumps on; what was read is compared when
 * the same frame of the interpreter asks for the module's PyInit_ function, which is the next thing it does.
 */

/* The interpreter looks up a PyInit_ function; `frame`: the stack of the caller, as at its call of dlopen. */
void tare_module_loaded(uintptr_t frame);

/*
 * line_phase.c: `tare run --phase FILE:LINE`: lines of a Python program as phases, without an edit. Where it was not
 * asked for, no interpreter is touched.
 *
 * The interpreter is found by the names it exports, never linked. Its first look-up of a PyInit_
 * function is where it surely holds its lock and is about to run on: from there one call is left with
 * it (Py_AddPendingCall), which it makes in its main thread between two of its own instructions. That
 * runs line_phase_code.py, a page of Python that has the interpreter tell of lines: sys.monitoring from 3.12 on,
 * for the functions that hold the lines; sys.settrace before, unless the program traces itself.
 */

/* Somebody looks up a symbol whose name begins with PyInit_: the interpreter's lock is held. */
void tare_line_phase_see_init(void);

#endif
