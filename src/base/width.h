/* SPDX-License-Identifier: Apache-2.0 */
/* How many columns of a terminal a text takes: characters of East Asia and pictures take two. */
#ifndef TARE_BASE_WIDTH_H
#define TARE_BASE_WIDTH_H

#include "base/str.h"

#include <stddef.h>

/* Columns: never fewer than a terminal takes for a character that is shown as itself. */
size_t tare_width_text(const char *text);

/*
 * Adds a name as tare_text_add_name() does, in exactly so many columns: cut with "…" at its end, or filled with blanks.
 * `is_right`: the blanks stand before it.
 */
void tare_width_add(struct tare_str *out, const char *name, size_t columns, int is_right);

#endif
