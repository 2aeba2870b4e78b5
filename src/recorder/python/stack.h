/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_STACK_H
#define TARE_RECORDER_PYTHON_STACK_H

#include <stdint.h>

enum { TARE_PYTHON_FRAMES = 128 }; /* of a deeper stack, the innermost */

/*
 * The id of the calling thread's Python stack in the log; written there the first time. 0: the thread
 * runs no Python, it is not to be recorded, or its frames cannot be read.
 */
uint32_t tare_python_stack(void);

#endif
