/* SPDX-License-Identifier: Apache-2.0 */
/* Python's pickle, protocol 4, as far as a memory snapshot needs it: dictionaries, lists, numbers and texts. */
#ifndef TARE_EXPORT_PICKLER_H
#define TARE_EXPORT_PICKLER_H

#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct tare_pickler {
	struct tare_str *out;
	struct tare_strmap texts; /* that were written: 1 + their number */
	uint32_t remembered;      /* values that have a number */
};

void tare_pickler_begin(struct tare_pickler *p, struct tare_str *out);
void tare_pickler_end(struct tare_pickler *p);

/* What stands between open and close: items of a list, or keys and values of a dictionary. */
void tare_pickler_open(struct tare_pickler *p, char bracket);  /* '[' or '{' */
void tare_pickler_close(struct tare_pickler *p, char bracket); /* ']' or '}' */
void tare_pickler_text(struct tare_pickler *p, const char *text);
void tare_pickler_int(struct tare_pickler *p, int64_t value);
void tare_pickler_uint(struct tare_pickler *p, uint64_t value);
void tare_pickler_flag(struct tare_pickler *p, bool value);
void tare_pickler_pair(struct tare_pickler *p); /* the last two values become a tuple */

/* The last value gets a number, by which it may stand once more. */
uint32_t tare_pickler_remember(struct tare_pickler *p);
void tare_pickler_again(struct tare_pickler *p, uint32_t number);

#endif
