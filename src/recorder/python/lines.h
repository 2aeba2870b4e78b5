/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_LINES_H
#define TARE_RECORDER_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "recorder/python/layout.h"

/*
 * The line of the instruction at byte `at` of a code object whose first line is `first`, by its line
 * table; negative where the compiler gave it none. `at` < 0, a frame that has not begun, is at `first`.
 * Reads nothing behind `size`, whatever the table holds.
 */
int tare_python_line(enum tare_python_lines kind, const uint8_t *table, size_t size, int first, int at);

#endif
