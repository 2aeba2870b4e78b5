/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that the loading of an extension module makes resident. For this the recorder owns dlopen. Which
 * libraries dlopen finds depends on who calls it, so ours reads and then jumps on; what was read is compared when
 * the same frame of the interpreter asks for the module's PyInit_ function, which is the next thing it does.
 */
#ifndef TARE_RECORDER_PYTHON_MODULE_H
#define TARE_RECORDER_PYTHON_MODULE_H

#include <stdint.h>

/* The interpreter looks up a PyInit_ function; `frame`: the stack of the caller, as at its call of dlopen. */
void tare_module_loaded(uintptr_t frame);

#endif
