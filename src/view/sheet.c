/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a tree whose rows have a value at each of several instants. */
#include "view/sheet.h"

#include "base/xalloc.h"

#include <stdlib.h>

static const struct tare_column label = TARE_COLUMN(tare_sheet_row, label, "label", "", TEXT);
static const struct tare_column word =
	TARE_COLUMN(tare_sheet_row, word, "evidence", "", TEXT, .is_blank = true, .is_quiet = true);

void tare_sheet_begin(struct tare_sheet *s, struct tare_emit *e, size_t cell_nr)
{
	*s = (struct tare_sheet){ .e = e, .cell_nr = cell_nr, .label_head = "" };
	s->heads = tare_xcalloc(cell_nr, sizeof(*s->heads));
	s->columns = tare_xcalloc(cell_nr + 2, sizeof(*s->columns));
	s->row = tare_xcalloc(1, sizeof(*s->row) + cell_nr * sizeof(s->row->cells[0]));
}

void tare_sheet_open(struct tare_sheet *s, const char *title, enum tare_column_kind kind)
{
	s->columns[0] = label;
	s->columns[0].head = s->label_head;
	for (size_t i = 0; i < s->cell_nr; i++)
		s->columns[i + 1] = (struct tare_column){
			.key = "bytes", /* that of the first is what --sort means */
			.head = tare_str_text(&s->heads[i]),
			.kind = kind,
			.type = TARE_FIELD_VALUE,
			.offset = offsetof(struct tare_sheet_row, cells) + i * sizeof(struct tare_value),
		};
	s->columns[s->cell_nr + 1] = word;
	s->columns[s->cell_nr + 1].head = s->word_head;
	tare_emit_shape(s->e, TARE_SHAPE_TREE, "rows", title, s->columns, s->cell_nr + (s->word_head ? 2 : 1));
}

void tare_sheet_add(struct tare_sheet *s, struct tare_row_look look)
{
	tare_emit_add_as(s->e, s->row, look);
	tare_str_cut(&s->row->label, 0);
	s->row->word = NULL;
	for (size_t i = 0; i < s->cell_nr; i++)
		s->row->cells[i] = (struct tare_value){ 0 };
}

void tare_sheet_end(struct tare_sheet *s)
{
	tare_emit_table_end(s->e);
	for (size_t i = 0; i < s->cell_nr; i++)
		tare_str_free(&s->heads[i]);
	tare_str_free(&s->row->label);
	free(s->heads);
	free(s->columns);
	free(s->row);
}
