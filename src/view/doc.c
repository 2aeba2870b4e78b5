/* SPDX-License-Identifier: Apache-2.0 */
#include "view/doc.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static const char *format(struct tare_doc *d, const char *fmt, va_list ap)
{
	struct tare_str text = { 0 };
	const char *out;

	tare_str_vaddf(&text, fmt, ap);
	out = tare_arena_strdup(&d->memory, tare_str_text(&text));
	tare_str_free(&text);
	return out;
}

static struct tare_doc_block *add(struct tare_doc *d, enum tare_doc_kind kind)
{
	d->blocks =
		tare_array_reserve(d->blocks, &d->block_cap, d->block_nr + 1, sizeof(*d->blocks));
	d->blocks[d->block_nr] = (struct tare_doc_block){ .kind = kind };
	return &d->blocks[d->block_nr++];
}

#define TEXT_BLOCK(NAME, KIND)                                                                     \
	void tare_doc_##NAME(struct tare_doc *d, const char *fmt, ...)                             \
	{                                                                                          \
		struct tare_doc_block *block = add(d, TARE_DOC_##KIND);                            \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, fmt);                                                                 \
		block->text = format(d, fmt, ap);                                                  \
		va_end(ap);                                                                        \
	}
TEXT_BLOCK(title, TITLE)
TEXT_BLOCK(heading, HEADING)
TEXT_BLOCK(paragraph, PARAGRAPH)
TEXT_BLOCK(item, ITEM)

void tare_doc_table(struct tare_doc *d, const struct tare_doc_column *columns, size_t count)
{
	struct tare_doc_block *block = add(d, TARE_DOC_TABLE);
	struct tare_doc_column *copy = tare_arena_alloc(&d->memory, count * sizeof(*copy));

	memcpy(copy, columns, count * sizeof(*copy));
	block->columns = copy;
	block->column_nr = count;
	d->cells = NULL;
	d->cell_nr = 0;
}

void tare_doc_cell(struct tare_doc *d, const char *fmt, ...)
{
	const struct tare_doc_block *block = &d->blocks[d->block_nr - 1];
	va_list ap;

	if (!d->cells) {
		d->cells = tare_arena_alloc(&d->memory, block->column_nr * sizeof(char *));
		for (size_t i = 0; i < block->column_nr; i++)
			d->cells[i] = "";
	}
	if (d->cell_nr == block->column_nr)
		return;
	va_start(ap, fmt);
	d->cells[d->cell_nr++] = format(d, fmt, ap);
	va_end(ap);
}

void tare_doc_row(struct tare_doc *d, enum tare_text_tone tone)
{
	struct tare_doc_block *block = &d->blocks[d->block_nr - 1];

	if (!d->cells)
		return;
	block->rows = tare_array_reserve(block->rows, &block->row_cap, block->row_nr + 1,
					 sizeof(*block->rows));
	block->rows[block->row_nr++] = (struct tare_doc_row){ d->cells, tone };
	d->cells = NULL;
	d->cell_nr = 0;
}

void tare_doc_bars(struct tare_doc *d, const char *const *names, size_t count, double limit,
		   const char *limit_text)
{
	struct tare_doc_block *block = add(d, TARE_DOC_BARS);

	block->names = tare_arena_alloc(&d->memory, count * sizeof(char *) + 1);
	for (size_t i = 0; i < count; i++)
		block->names[i] = tare_arena_strdup(&d->memory, names[i]);
	block->column_nr = count;
	block->limit = limit;
	block->limit_text = tare_arena_strdup(&d->memory, limit_text ? limit_text : "");
}

void tare_doc_bar(struct tare_doc *d, const char *label, const char *value, const double *parts)
{
	struct tare_doc_block *block = &d->blocks[d->block_nr - 1];
	struct tare_doc_bar *bar;

	block->bars = tare_array_reserve(block->bars, &block->row_cap, block->row_nr + 1,
					 sizeof(*block->bars));
	bar = &block->bars[block->row_nr++];
	bar->label = tare_arena_strdup(&d->memory, label);
	bar->value = tare_arena_strdup(&d->memory, value);
	bar->parts = tare_arena_alloc(&d->memory, block->column_nr * sizeof(double) + 1);
	memcpy(bar->parts, parts, block->column_nr * sizeof(double));
}

void tare_doc_free(struct tare_doc *d)
{
	for (size_t i = 0; i < d->block_nr; i++) {
		free(d->blocks[i].rows);
		free(d->blocks[i].bars);
	}
	free(d->blocks);
	tare_arena_free(&d->memory);
	*d = (struct tare_doc){ 0 };
}

/* ---- text ---- */

static void add_name(struct tare_str *out, const char *text)
{
	tare_text_add_name(out, text);
}

/* Columns that a cell takes once its control characters are shown. */
static size_t width_of(const char *text)
{
	struct tare_str name = { 0 };
	size_t n;

	add_name(&name, text);
	n = tare_str_columns(tare_str_text(&name));
	tare_str_free(&name);
	return n;
}

static void add_cell(struct tare_str *out, const char *text, size_t width, bool is_number,
		     bool is_last)
{
	size_t blank = width - width_of(text);

	if (is_number)
		tare_str_add_repeat(out, " ", blank);
	add_name(out, text);
	if (!is_number && !is_last)
		tare_str_add_repeat(out, " ", blank);
}

static void text_table(struct tare_str *out, const struct tare_doc_block *b,
		       const struct tare_text_style *style)
{
	size_t *widths = tare_xcalloc(b->column_nr + 1, sizeof(*widths));
	struct tare_str line = { 0 };

	for (size_t c = 0; c < b->column_nr; c++) {
		widths[c] = width_of(b->columns[c].head);
		for (size_t r = 0; r < b->row_nr; r++)
			if (width_of(b->rows[r].cells[c]) > widths[c])
				widths[c] = width_of(b->rows[r].cells[c]);
	}
	for (size_t r = 0; r <= b->row_nr; r++) {
		tare_str_cut(&line, 0);
		for (size_t c = 0; c < b->column_nr; c++) {
			tare_str_add(&line, c ? "  " : "");
			add_cell(&line, r ? b->rows[r - 1].cells[c] : b->columns[c].head, widths[c],
				 b->columns[c].is_number, c + 1 == b->column_nr);
		}
		tare_text_tone(out, tare_str_text(&line),
			       r ? b->rows[r - 1].tone : TARE_TONE_STRONG, style);
		tare_str_add_char(out, '\n');
	}
	tare_str_free(&line);
	free(widths);
}

static void text_wrapped(struct tare_str *out, const char *text, size_t indent,
			 const struct tare_text_style *style)
{
	struct tare_str name = { 0 };

	add_name(&name, text);
	tare_str_add_wrapped(out, tare_str_text(&name), indent, indent, (size_t)style->width);
	tare_str_add_char(out, '\n');
	tare_str_free(&name);
}

static void text_heading(struct tare_str *out, const char *text,
			 const struct tare_text_style *style)
{
	struct tare_str name = { 0 };

	add_name(&name, text);
	tare_text_tone(out, tare_str_text(&name), TARE_TONE_STRONG, style);
	tare_str_add_char(out, '\n');
	tare_str_free(&name);
}

void tare_doc_text(struct tare_str *out, const struct tare_doc *d,
		   const struct tare_text_style *style)
{
	size_t start = out->len;

	for (size_t i = 0; i < d->block_nr; i++) {
		const struct tare_doc_block *b = &d->blocks[i];
		bool is_apart =
			i &&
			!(b->kind == TARE_DOC_ITEM && d->blocks[i - 1].kind == TARE_DOC_ITEM) &&
			d->blocks[i - 1].kind != TARE_DOC_HEADING &&
			d->blocks[i - 1].kind != TARE_DOC_TITLE && b->kind != TARE_DOC_BARS;

		if (is_apart)
			tare_str_add_char(out, '\n');
		switch (b->kind) {
		case TARE_DOC_TITLE:
		case TARE_DOC_HEADING:
			text_heading(out, b->text, style);
			break;
		case TARE_DOC_PARAGRAPH:
			text_wrapped(out, b->text, 0, style);
			break;
		case TARE_DOC_ITEM:
			tare_str_add(out, "- ");
			text_wrapped(out, b->text, 2, style);
			break;
		case TARE_DOC_TABLE:
			text_table(out, b, style);
			break;
		case TARE_DOC_BARS:
			break;
		}
	}
	if (!style->is_utf8)
		tare_text_to_ascii(out, start);
}
