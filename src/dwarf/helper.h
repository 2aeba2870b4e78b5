/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that reads debug information for us. Whatever a damaged file makes it do, it ends, and the report has no lines of that
 * file; its memory goes with it.
 */
#ifndef TARE_DWARF_HELPER_H
#define TARE_DWARF_HELPER_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* A question: an address of a file, which the helper knows by this number once it was told its path. */
struct tare_dwarf_question {
	uint64_t address;
	uint32_t file;
	uint32_t path_len; /* of what follows; 0: it knows the file */
};

/* An answer: the length of what follows, frames one after the other: this, then the texts. */
struct tare_dwarf_answer {
	uint32_t line, function_len, file_len; /* a length of UINT32_MAX: not known */
};

enum {
	TARE_DWARF_FRAMES = 64,         /* at one address; those further out are left out */
	TARE_DWARF_ANSWER = 1 << 20,    /* bytes */
	TARE_DWARF_PATIENCE = 20 * 1000 /* ms for one answer */
};

/* Asks the helper, which is started where there is none. False: it had to be ended, or there is none. */
bool tare_dwarf_ask(const struct tare_dwarf_question *question, const char *path, struct tare_str *answer);
/* Counts up with every helper, which knows no file. */
uint32_t tare_dwarf_helper_number(void);
void tare_dwarf_helper_end(void);

#endif
