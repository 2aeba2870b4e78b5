/* SPDX-License-Identifier: Apache-2.0 */
/* A table as it will stand on a screen; only emit_text*.c use this. */
#ifndef TARE_BASE_EMIT_TEXT_H
#define TARE_BASE_EMIT_TEXT_H

#include "base/emit_table.h"

/* A row as it will stand, without padding. */
struct tare_screen_row {
	const char **cells; /* NULL: a line of text, or a rule when that is empty */
	const char *line;
	struct tare_row_look look;
	bool is_label_alone;
};

struct tare_text_width {
	size_t shown;  /* as wide as it will stand */
	size_t head;   /* columns of its head … */
	size_t word;   /* … and of the longest word in it */
	size_t widest; /* of its other cells */
	bool is_left_out;
	bool goes_on; /* what is cut at its end would not be told apart: it goes on on the next line */
};

struct tare_emit_text_rows {
	struct tare_screen_row *rows;
	size_t count, cap;
	struct tare_text_width *widths;
	const char **heads;
};

#define TARE_TEXT_GAP "  "

/* Does the column stand on the screen? */
static inline bool tare_text_is_shown(const struct tare_emit_table *t, size_t column)
{
	return t->columns[column].head && !t->text->widths[column].is_left_out;
}

/* The column that stands at the left; none: their number. */
static inline size_t tare_text_first(const struct tare_emit_table *t)
{
	size_t c = 0;

	while (c < t->column_count && !tare_text_is_shown(t, c))
		c++;
	return c;
}

size_t tare_text_total(const struct tare_emit_table *t);

/*
 * Makes the columns as wide as they will stand. Where there is a screen nothing is wider than it, as far as that goes: heads
 * take several lines, texts are cut, and last of all columns at the right are left out. Returns how many were.
 */
size_t tare_text_fit(struct tare_emit *e, struct tare_emit_table *t);

#endif
