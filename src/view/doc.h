/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as headings, paragraphs, lists, tables and bars, written once and rendered as text for a terminal,
 * Markdown and HTML, so that the three cannot disagree.
 *
 *     struct tare_doc d = { 0 };
 *
 *     tare_doc_heading(&d, "Configurations");
 *     tare_doc_table(&d, columns, 3);
 *     tare_doc_cell(&d, "%d", batch);
 *     …
 *     tare_doc_row(&d, TARE_TONE_PLAIN);
 *     tare_doc_text(&out, &d, &style);
 *     tare_doc_free(&d);
 *
 * Texts may hold anything: each renderer escapes what it must.
 */
#ifndef TARE_VIEW_DOC_H
#define TARE_VIEW_DOC_H

#include "base/arena.h"
#include "base/str.h"
#include "view/text_table.h"

#include <stdint.h>

enum tare_doc_kind {
	TARE_DOC_TITLE,
	TARE_DOC_HEADING,
	TARE_DOC_PARAGRAPH,
	TARE_DOC_ITEM,
	TARE_DOC_TABLE,
	TARE_DOC_BARS
};

struct tare_doc_column {
	const char *head; /* kept by reference until the document is freed */
	bool is_number;
};

struct tare_doc_row {
	const char **cells; /* one per column */
	enum tare_text_tone tone;
};

/* A bar of several parts, in HTML only; the same parts have the same colour in every bar. */
struct tare_doc_bar {
	const char *label, *value;
	double *parts; /* one per name */
};

struct tare_doc_block {
	enum tare_doc_kind kind;
	const char *text;
	const struct tare_doc_column *columns;
	const char **names; /* of bars' parts */
	size_t column_nr;   /* of columns or names */
	struct tare_doc_row *rows;
	struct tare_doc_bar *bars;
	size_t row_nr, row_cap; /* of rows or bars */
	double limit;           /* bars: a line there, above 0 */
	const char *limit_text;
};

struct tare_doc {
	struct tare_doc_block *blocks;
	size_t block_nr, block_cap;
	const char **cells; /* of the row being built */
	size_t cell_nr;
	struct tare_arena memory;
};

void tare_doc_title(struct tare_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tare_doc_heading(struct tare_doc *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tare_doc_paragraph(struct tare_doc *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tare_doc_item(struct tare_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Columns are copied, their heads are not. */
void tare_doc_table(struct tare_doc *d, const struct tare_doc_column *columns, size_t count);
void tare_doc_cell(struct tare_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tare_doc_row(struct tare_doc *d, enum tare_text_tone tone); /* missing cells are empty */

void tare_doc_bars(struct tare_doc *d, const char *const *names, size_t count, double limit,
		   const char *limit_text);
void tare_doc_bar(struct tare_doc *d, const char *label, const char *value, const double *parts);

void tare_doc_text(struct tare_str *out, const struct tare_doc *d,
		   const struct tare_text_style *style);
void tare_doc_markdown(struct tare_str *out, const struct tare_doc *d);
void tare_doc_html(struct tare_str *out,
		   const struct tare_doc *d); /* a whole page, nothing outside it is needed */
void tare_doc_free(struct tare_doc *d);

#endif
