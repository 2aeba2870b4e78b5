/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_STACK_H
#define TARE_RECORDER_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

enum { TARE_PYTHON_FRAMES = 128 }; /* of a deeper stack, the innermost */

/*
 * The id of the calling thread's Python stack in the log; written there the first time. 0: the thread
 * runs no Python, it is not to be recorded, or its frames cannot be read.
 */
uint32_t tare_python_stack(void);

/* The same, and the module of PyTorch that is being called, the innermost: the address of its object, 0: none. */
struct tare_python_here {
	uint64_t module;
	uint32_t stack;
};
struct tare_python_here tare_python_here(void);

/* The innermost frame of the calling thread, 0: none that can be read. */
uint64_t tare_python_frame(void);

/*
 * Shows each frame of the calling thread, the innermost first, until `see` returns true; false: it did for none. Nothing is
 * written to the log. `file` is good during the call.
 */
bool tare_python_see(bool (*see)(void *arg, const char *file, int line), void *arg);

/* The module alone. */
uint64_t tare_python_module(void);

#endif
