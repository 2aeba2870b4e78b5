/* SPDX-License-Identifier: Apache-2.0 */
/* A table as lines of comma-separated values below their keys, row by row. */
#include "base/emit_table.h"

#include "base/text.h"

static void add_cell(struct tare_str *out, const struct tare_cell *c)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_cell_write(&text, c);
	if (c->type == TARE_CELL_TEXT)
		tare_text_add_csv(out, tare_str_text(&text));
	else
		tare_str_add(out, tare_str_text(&text));
}

/* Without cells, the keys. */
static void add_line_of(struct tare_str *out, const struct tare_emit_table *t, const struct tare_cell *cells)
{
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].key || t->columns[c].nested)
			continue;
		if (!is_first)
			tare_str_add_char(out, ',');
		is_first = false;
		if (cells)
			add_cell(out, &cells[c]);
		else
			tare_text_add_csv(out, t->columns[c].key);
	}
	tare_str_add_char(out, '\n');
}

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	if (e->has_table)
		tare_str_add_char(e->out, '\n');
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

const struct tare_renderer tare_render_csv = { .table = begin, .row = add_row, .end = end };
