/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree whose rows have a value at each of several instants: a label, a column for each, and a word behind them.
 *
 *     struct tare_sheet s;
 *
 *     tare_sheet_begin(&s, e, 2);
 *     tare_str_add(&s.heads[0], "AT PEAK");
 *     …
 *     tare_sheet_open(&s, "GPU 0  NVIDIA H200", TARE_COL_BYTES);
 *     tare_str_add(&s.row->label, "used");
 *     s.row->cells[0] = tare_value_of(TARE_COL_BYTES, bytes);
 *     tare_sheet_add(&s, (struct tare_row_look){ .tone = TARE_TONE_STRONG });  // and begins the next row
 *     tare_sheet_end(&s);
 */
#ifndef TARE_VIEW_SHEET_H
#define TARE_VIEW_SHEET_H

#include "base/emit.h"

struct tare_sheet_row {
	struct tare_str label;
	const char *word;          /* NULL: none */
	struct tare_value cells[]; /* one per instant; not known, unless it is set */
};

struct tare_sheet {
	struct tare_emit *e;
	size_t cell_nr;
	struct tare_str *heads;
	const char *label_head; /* "" unless it is set */
	const char *word_head;  /* NULL unless it is set: rows have no word */
	struct tare_column *columns;
	struct tare_sheet_row *row; /* the one that is being filled in */
};

void tare_sheet_begin(struct tare_sheet *s, struct tare_emit *e, size_t cell_nr);
/* `kind`: BYTES where the unit is to stand beside the title, which may be NULL. */
void tare_sheet_open(struct tare_sheet *s, const char *title, enum tare_column_kind kind);
void tare_sheet_add(struct tare_sheet *s, struct tare_row_look look);
void tare_sheet_end(struct tare_sheet *s);

#endif
