/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_CODE_H
#define TARE_RECORDER_PYTHON_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "recorder/python/layout.h"
#include "recorder/python/memory.h"

/* What a code object says of itself. */
struct tare_python_code {
	uintptr_t name, file, table; /* PyUnicode, PyUnicode, PyBytes */
	int first;
};

static inline bool tare_python_code_load(const struct tare_python_layout *l, uintptr_t code,
                                         struct tare_python_code *out, enum tare_python_trust trust)
{
	return tare_python_load(code + l->name, &out->name, trust) && tare_python_load(code + l->file, &out->file, trust) &&
	       tare_python_load(code + l->table, &out->table, trust) &&
	       tare_python_load_int(code + l->first, &out->first, trust);
}

/* The line of the instruction at byte `at`; 0 where it has none. */
int tare_python_code_line(const struct tare_python_layout *l, const struct tare_python_code *code, int at,
                          enum tare_python_trust trust);

/*
 * Where the characters of a string lie and how many bytes they are; false: not a string we can read.
 * struct PyASCIIObject: bits of `state` are interned (2), kind (3), compact (1), ascii (1). Strings that
 * are not compact were made by code of before 3.3 and name nothing.
 */
static inline bool tare_python_characters(const struct tare_python_layout *l, uintptr_t text, uintptr_t *at,
                                          size_t *bytes, unsigned int *width, enum tare_python_trust trust)
{
	enum { UTF8_LENGTH_AND_POINTER = 16, WSTR_LENGTH = 8, ASCII_WITHOUT_WSTR = 40, TEXT_MAX = 1 << 16 };
	uint64_t length;
	unsigned int state;
	int word;

	if (!tare_python_load(text + TARE_PYTHON_SIZE, &length, trust) ||
	    !tare_python_load_int(text + TARE_PYTHON_STATE, &word, trust) || length > TEXT_MAX)
		return false;
	state = (unsigned int)word;
	*width = state >> 2 & 7;
	if (!(state >> 5 & 1) || (*width != 1 && *width != 2 && *width != 4))
		return false;
	*at = text + l->ascii;
	if (!(state >> 6 & 1)) /* PyCompactUnicodeObject */
		*at += UTF8_LENGTH_AND_POINTER + (l->ascii > ASCII_WITHOUT_WSTR ? WSTR_LENGTH : 0);
	*bytes = length * *width;
	return tare_python_may_load(*at, *bytes, trust);
}

/* A string as UTF-8, cut off at `size` - 1 bytes between two characters, NUL-terminated. */
bool tare_python_text(const struct tare_python_layout *l, uintptr_t text, char *out, size_t size,
                      enum tare_python_trust trust);

/*
 * lines.c: the line of the instruction at byte `at` of a code object whose first line is `first`, by its line
 * table; negative where the compiler gave it none. `at` < 0, a frame that has not begun, is at `first`.
 * Reads nothing behind `size`, whatever the table holds.
 */
int tare_python_line(enum tare_python_lines kind, const uint8_t *table, size_t size, int first, int at);

#endif
