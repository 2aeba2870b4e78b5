/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python interpreter in this process, found by its symbols and trusted only after a check against
 * its own public functions.
 */
#ifndef TARE_RECORDER_PYTHON_INTERPRETER_H
#define TARE_RECORDER_PYTHON_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/python/layout.h"

struct tare_python {
	struct tare_python_layout layout;
	uintptr_t code_type, cell_type,
		runtime;    /* &PyCode_Type, &PyCell_Type, &_PyRuntime (from 3.7 on) */
	bool has_versions;  /* each code object has a number that no other ever has */
	bool counts_deaths; /* of code objects */
	void *(*own_state)(
		void); /* PyGILState_GetThisThreadState: a look into thread-specific data */
	void *(*holder)(
		void); /* the thread state that runs: this thread's only if it has the GIL */
	void *(*first_interpreter)(void), *(*next_interpreter)(void *);
	int (*is_finalizing)(void); /* NULL up to 3.6 … */
	void *const *finalizing;    /* … which has a variable */
};

/* The checked interpreter, or NULL: there is none, or not yet, or one we cannot read. */
const struct tare_python *tare_python_interpreter(void);

/*
 * Code at `caller` asks the dynamic linker for PyInit_…: an interpreter that imports an extension
 * module, on a thread that runs Python and has the GIL. The best moment for the check.
 */
void tare_python_imports(uintptr_t caller);

#endif
