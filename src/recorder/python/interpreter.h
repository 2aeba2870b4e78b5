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

#endif
