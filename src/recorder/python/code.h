/* SPDX-License-Identifier: Apache-2.0 */
/* What a code object says of itself. */
#ifndef TARE_RECORDER_PYTHON_CODE_H
#define TARE_RECORDER_PYTHON_CODE_H

#include <stddef.h>

#include "recorder/python/layout.h"
#include "recorder/python/memory.h"

struct tare_python_code {
	uintptr_t name, file, table; /* PyUnicode, PyUnicode, PyBytes */
	int first;
};

static inline bool tare_python_code_load(const struct tare_python_layout *l, uintptr_t code,
					 struct tare_python_code *out, enum tare_python_trust trust)
{
	return tare_python_load(code + l->name, &out->name, trust) &&
	       tare_python_load(code + l->file, &out->file, trust) &&
	       tare_python_load(code + l->table, &out->table, trust) &&
	       tare_python_load_int(code + l->first, &out->first, trust);
}

/* The line of the instruction at byte `at`; 0 where it has none. */
int tare_python_code_line(const struct tare_python_layout *l, const struct tare_python_code *code, int at,
			  enum tare_python_trust trust);

/* Where the characters of a string lie and how many bytes they are; false: not a string we can read. */
bool tare_python_characters(const struct tare_python_layout *l, uintptr_t text, uintptr_t *at, size_t *bytes,
			    unsigned int *width, enum tare_python_trust trust);

/* A string as UTF-8, cut off at `size` - 1 bytes between two characters, NUL-terminated. */
bool tare_python_text(const struct tare_python_layout *l, uintptr_t text, char *out, size_t size,
		      enum tare_python_trust trust);

#endif
