/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text_table.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_LABEL = 24, GAP = 2 };

struct tare_text_table_row *tare_text_table_add(struct tare_text_table *t)
{
	struct tare_text_table_row *row;

	t->rows = tare_array_reserve(t->rows, &t->cap, t->count + 1, sizeof(*t->rows));
	row = &t->rows[t->count++];
	*row = (struct tare_text_table_row){
		.cells = tare_xcalloc((size_t)t->column_nr, sizeof(*row->cells)),
		.word = "",
	};
	return row;
}

void tare_text_table_rule(struct tare_text_table *t)
{
	tare_text_table_add(t)->is_rule = true;
}

static size_t column_width(const struct tare_text_table *t, int column)
{
	size_t width = 0;

	for (size_t i = 0; i < t->count; i++) {
		size_t n = tare_str_columns(tare_str_text(&t->rows[i].cells[column]));

		width = n > width ? n : width;
	}
	return width + GAP;
}

static size_t word_width(const struct tare_text_table *t)
{
	size_t width = 0;

	for (size_t i = 0; i < t->count; i++) {
		size_t n = tare_str_columns(t->rows[i].word);

		width = n > width ? n : width;
	}
	return width ? width + GAP : 0;
}

/* Without the labels. */
static size_t fixed_width(const struct tare_text_table *t)
{
	size_t width = word_width(t);

	for (int i = 0; i < t->column_nr; i++)
		width += column_width(t, i);
	return width;
}

static size_t label_width(const struct tare_text_table *t, const struct tare_text_style *style)
{
	size_t limit = (size_t)style->width;
	size_t fixed = fixed_width(t), width = MIN_LABEL;

	for (size_t i = 0; i < t->count; i++) {
		size_t n = tare_str_columns(tare_str_text(&t->rows[i].label));

		width = n > width ? n : width;
	}
	if (width + fixed > limit)
		width = limit > fixed + MIN_LABEL ? limit - fixed : MIN_LABEL;
	return width;
}

int tare_text_table_width(const struct tare_text_table *t, const struct tare_text_style *style)
{
	return (int)(label_width(t, style) + fixed_width(t));
}

/* The bytes that the first `columns` code points of a text take. */
static size_t bytes_of(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return i;
}

static void add_label(struct tare_str *out, const char *label, size_t width)
{
	size_t n = tare_str_columns(label);

	if (n > width) {
		tare_str_add_n(out, label, bytes_of(label, width - 1));
		tare_str_add(out, "…");
		return;
	}
	tare_str_add(out, label);
	tare_str_add_repeat(out, " ", width - n);
}

static void draw_row(struct tare_str *out, const struct tare_text_table *t,
		     const struct tare_text_table_row *row, size_t label,
		     const struct tare_text_style *style)
{
	struct tare_str line = { 0 };

	add_label(&line, tare_str_text(&row->label), label);
	for (int i = 0; i < t->column_nr; i++) {
		const char *cell = tare_str_text(&row->cells[i]);

		tare_str_add_repeat(&line, " ", column_width(t, i) - tare_str_columns(cell));
		tare_str_add(&line, cell);
	}
	while (!row->word[0] && line.len && line.data[line.len - 1] == ' ')
		tare_str_cut(&line, line.len - 1);
	tare_text_tone(out, tare_str_text(&line), row->tone, style);
	tare_str_free(&line);
	if (row->word[0]) {
		tare_str_add_repeat(out, " ", GAP);
		tare_text_tone(out, row->word, TARE_TONE_QUIET, style);
	}
	tare_str_add_char(out, '\n');
}

void tare_text_table_draw(struct tare_str *out, const struct tare_text_table *t,
			  const struct tare_text_style *style)
{
	size_t label = label_width(t, style), width = label + fixed_width(t);

	for (size_t i = 0; i < t->count; i++) {
		if (!t->rows[i].is_rule) {
			draw_row(out, t, &t->rows[i], label, style);
			continue;
		}
		tare_str_add(out, "  ");
		tare_str_add_repeat(out, "─", width - 2);
		tare_str_add_char(out, '\n');
	}
}

void tare_text_table_free(struct tare_text_table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		tare_str_free(&t->rows[i].label);
		for (int c = 0; c < t->column_nr; c++)
			tare_str_free(&t->rows[i].cells[c]);
		free(t->rows[i].cells);
	}
	free(t->rows);
	*t = (struct tare_text_table){ 0 };
}
