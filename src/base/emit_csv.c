/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as lines of values below their keys, row by row; an empty line between tables. CSV has commas between them, and quotes
 * what needs it; TSV has tabs and quotes nothing: what a name has of tabs and line ends becomes "?".
 */
#include "base/emit_table.h"

#include "base/text.h"

/* Without cells, the keys. */
static void add_line_of(struct tare_emit *e, const struct tare_emit_table *t, const struct tare_cell *cells)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].key || t->columns[c].nested)
			continue;
		tare_str_cut(&text, 0);
		if (cells)
			tare_cell_write(&text, &cells[c]);
		else
			tare_str_add(&text, t->columns[c].key);
		tare_str_add(e->out, is_first ? "" : e->format == TARE_EMIT_TSV ? "\t" : ",");
		if (e->format == TARE_EMIT_TSV)
			tare_text_add_name(e->out, tare_str_text(&text));
		else if (!cells || cells[c].type == TARE_CELL_TEXT)
			tare_text_add_csv(e->out, tare_str_text(&text));
		else
			tare_str_add(e->out, tare_str_text(&text));
		is_first = false;
	}
	tare_str_add_char(e->out, '\n');
}

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	tare_str_add(e->out, e->has_table ? "\n" : "");
	add_line_of(e, t, NULL);
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	add_line_of(e, t, row->cells);
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	(void)e, (void)t;
}

const struct tare_renderer tare_render_csv = { .table = begin, .row = add_row, .end = end };
