/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_TABLE_H
#define TARE_FIT_TABLE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A table of texts. CSV as spreadsheets and scripts write it: with or without a byte order mark,
 * quotes and CR; parted by commas, semicolons or tabs (the head says which); lines that begin with
 * '#' and empty lines are remarks. A row may be shorter than the head, not longer.
 */
struct tare_table {
	size_t column_count, row_count;
	const char **columns;
	const char **cells; /* row_count × column_count; NULL: empty */
};

int tare_table_parse(const char *name, const char *text, size_t len, struct tare_arena *arena, struct tare_table *out,
                     struct tare_err *err);
int tare_table_read(const char *path, struct tare_arena *arena, struct tare_table *out,
                    struct tare_err *err); /* "-": standard input */

#define TARE_TABLE_NONE ((size_t)-1)
size_t tare_table_column(const struct tare_table *t, const char *name); /* or TARE_TABLE_NONE */
/* That it has no such column, and which one may have been meant. */
int tare_table_no_column(const struct tare_table *t, const char *name, struct tare_err *err);

static inline const char *tare_table_cell(const struct tare_table *t, size_t row, size_t column)
{
	return t->cells[row * t->column_count + column];
}

/* The whole text is a decimal number up to 1e100. "" and NULL are not, nor are "nan" and "0x10". */
bool tare_table_number(const char *text, double *out);

/* Nothing is known there: it is empty, NaN, NA, null, infinite, or a number too great to reckon with. */
bool tare_table_is_missing(const char *text);

/* The rows whose cell in `column` is `value` (as a text, or the same number). */
void tare_table_where(struct tare_table *t, size_t column, const char *value);

#endif
