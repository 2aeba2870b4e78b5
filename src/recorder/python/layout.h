/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_LAYOUT_H
#define TARE_RECORDER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum tare_python_lines { TARE_PYTHON_LNOTAB, TARE_PYTHON_LINES, TARE_PYTHON_LOCATIONS };
enum { TARE_PYTHON_NONE = 0xffff };

/* One version's row of layout.def; or what the interpreter says of itself. */
struct tare_python_layout {
	uint16_t minor;
	uint16_t ascii; /* sizeof(PyASCIIObject) */
	uint16_t thread, frame, nested;
	uint16_t back, code, at, owner, locals;
	uint16_t file, name, first, table, version, instructions;
	uint16_t interpreter, interpreter_id; /* of the thread state, of that: whose `version` it is, or NONE */
	uint8_t unit;                         /* bytes of code that `at` counts */
	uint8_t lines;                        /* enum tare_python_lines */
};

/* The same in every version: heads of strings and bytes. */
enum {
	TARE_PYTHON_TYPE = 8,
	TARE_PYTHON_SIZE = 16,
	TARE_PYTHON_HASH = 24,
	TARE_PYTHON_STATE = 32,
	TARE_PYTHON_BYTES = 32,
	TARE_PYTHON_FINISHING = 600, /* of _PyRuntime of 3.8: takes no pending calls any more */
	TARE_PYTHON_TRACEABLE = 16,  /* before the instructions, from 3.12 on: where tracing begins */
};

enum tare_python_told {
	TARE_PYTHON_OK,
	TARE_PYTHON_UNKNOWN_VERSION,
	TARE_PYTHON_BAD_OFFSETS,
	TARE_PYTHON_FREE_THREADED
};

/*
 * The layout of CPython 3.`minor`. `runtime` is the address of _PyRuntime, readable for a page; only
 * asked where the version tells its own offsets.
 */
enum tare_python_told tare_python_layout_of(unsigned int minor, const void *runtime, struct tare_python_layout *out);

#endif
