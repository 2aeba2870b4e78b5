/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as lines of cells with a tab between them, below their keys, row by row; an empty line between tables. Nothing is
 * quoted: what a name has of tabs and line ends becomes "?".
 */
#include "base/emit_table.h"

#include "base/text.h"

/* Without cells, the keys. */
static void add_line_of(struct tare_str *out, const struct tare_emit_table *t, const struct tare_cell *cells)
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
		tare_str_add(out, is_first ? "" : "\t");
		tare_text_add_name(out, tare_str_text(&text));
		is_first = false;
	}
	tare_str_add_char(out, '\n');
}

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	tare_str_add(e->out, e->has_table ? "\n" : "");
	add_line_of(e->out, t, NULL);
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	add_line_of(e->out, t, row->cells);
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	(void)e, (void)t;
}

const struct tare_renderer tare_render_tsv = { .table = begin, .row = add_row, .end = end };
