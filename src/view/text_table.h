/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table on a terminal: a column of labels, columns of numbers, a word behind them. It is as narrow
 * as its content allows and no wider than the style says, as long as labels can give way.
 */
#ifndef TARE_VIEW_TEXT_TABLE_H
#define TARE_VIEW_TEXT_TABLE_H

#include "base/print.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct tare_text_table_row {
	struct tare_str label;
	struct tare_str *cells; /* one per column, may be empty */
	const char *word;       /* behind the numbers, or "" */
	enum tare_text_tone tone;
	bool is_rule; /* a line across the table instead */
};

struct tare_text_table {
	int column_nr;
	struct tare_text_table_row *rows;
	size_t count, cap;
};

/* The row is good until the next one is added. */
struct tare_text_table_row *tare_text_table_add(struct tare_text_table *t);
void tare_text_table_rule(struct tare_text_table *t);

/* Columns the table will take; what stands above it may align with that. */
int tare_text_table_width(const struct tare_text_table *t, const struct tare_text_style *style);
void tare_text_table_draw(struct tare_str *out, const struct tare_text_table *t,
			  const struct tare_text_style *style);
void tare_text_table_free(struct tare_text_table *t);

#endif
