/* SPDX-License-Identifier: Apache-2.0 */
/* A table for a screen: cells are made as rows come, and lined up when the last one is there. */
#include "base/emit_table.h"

#include "base/array.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row as it will stand, without padding. */
struct text_row {
	const char **cells; /* NULL: a line of text, or a rule when that is empty */
	const char *line;
};

struct tare_emit_text_rows {
	struct text_row *rows;
	size_t count, cap;
	size_t *widths;
};

static const char gap[] = "  ";
static const char unknown_text[] = "–";
static const char mib[] = "MiB";

static bool is_size(enum tare_column_kind kind)
{
	return kind == TARE_COL_BYTES || kind == TARE_COL_CHANGE;
}

/* Sizes, counts and times are int64_t in text; a larger unsigned one is shown by its own branch. */
static int64_t cell_int(const struct tare_cell *c)
{
	if (c->type == TARE_CELL_UINT)
		return c->u > INT64_MAX ? INT64_MAX : (int64_t)c->u;
	return c->i;
}

static void add_count(const struct tare_cell *c, struct tare_str *out)
{
	char buf[TARE_UNITS_TEXT_MAX];
	uint64_t size = c->u;

	if (c->type == TARE_CELL_INT && c->i < 0) {
		tare_str_add_char(out, '-');
		size = 0 - size;
	}
	tare_str_add(out, tare_units_count(buf, size));
}

static void add_cell(const struct tare_cell *c, const struct tare_column *column, bool is_blank,
		     struct tare_str *out)
{
	char buf[TARE_UNITS_TEXT_MAX], address[TARE_ADDRESS_MAX];

	if (c->type == TARE_CELL_UNKNOWN || (c->type == TARE_CELL_NUMBER && !isfinite(c->number))) {
		tare_str_add(out, is_blank ? "" : unknown_text);
		return;
	}
	if (c->type == TARE_CELL_TEXT) {
		tare_text_add_name(out, c->text);
		return;
	}
	switch (column->kind) {
	case TARE_COL_BYTES:
		tare_str_add(out, tare_units_mib(buf, cell_int(c)));
		break;
	case TARE_COL_CHANGE:
		tare_units_mib(buf, cell_int(c));
		tare_str_addf(out, "%s%s", buf[0] == '-' ? "" : "+", buf);
		break;
	case TARE_COL_DURATION:
		tare_str_add(out, tare_units_duration(buf, cell_int(c)));
		break;
	case TARE_COL_NUMBER:
		tare_str_addf(out, "%.2f", c->number);
		break;
	case TARE_COL_PERCENT:
		tare_str_addf(out, "%.1f %%", c->number * 100);
		break;
	case TARE_COL_FLAG:
		tare_str_add(out, cell_int(c) ? "yes" : "");
		break;
	case TARE_COL_ADDRESS:
		tare_str_add(out, tare_cell_address(address, c));
		break;
	case TARE_COL_COUNT:
	case TARE_COL_TEXT:
		add_count(c, out);
		break;
	}
}

static void add_head(const struct tare_emit_table *t, size_t column, struct tare_str *out)
{
	tare_text_add_name(out, t->columns[column].head);
	if (!t->title && is_size(t->columns[column].kind))
		tare_str_addf(out, "%s%s", t->columns[column].head[0] ? " " : "", mib);
}

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	(void)e;
	t->text = tare_arena_alloc(&t->arena, sizeof(*t->text));
	t->text->widths = tare_arena_alloc(&t->arena, t->column_count * sizeof(size_t));
}

static struct text_row *add(struct tare_emit_text_rows *t)
{
	t->rows = tare_array_reserve(t->rows, &t->cap, t->count + 1, sizeof(*t->rows));
	t->rows[t->count] = (struct text_row){ 0 };
	return &t->rows[t->count++];
}

/* Keeps the text of a cell, and its width. */
static const char *keep(struct tare_emit_table *t, size_t column, const struct tare_str *text)
{
	size_t n = tare_str_columns(tare_str_text(text));

	if (n > t->text->widths[column])
		t->text->widths[column] = n;
	return tare_arena_strdup(&t->arena, tare_str_text(text));
}

/* `from` NULL: the heads. */
static const char **make_cells(struct tare_emit_table *t, const struct tare_emit_row *from)
{
	const char **cells = tare_arena_alloc(&t->arena, t->column_count * sizeof(*cells));
	struct tare_str text = { 0 };

	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		tare_str_cut(&text, 0);
		if (!from) {
			add_head(t, c, &text);
		} else {
			if (c == 0)
				tare_str_add_repeat(&text, gap, from->indent);
			add_cell(&from->cells[c], &t->columns[c],
				 from->is_blank || t->columns[c].is_blank, &text);
		}
		cells[c] = keep(t, c, &text);
	}
	tare_str_free(&text);
	return cells;
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	const char **cells = make_cells(t, row);

	(void)e;
	add(t->text)->cells = cells;
}

static void add_line(struct tare_emit *e, struct tare_emit_table *t, const char *line)
{
	(void)e;
	add(t->text)->line = tare_arena_strdup(&t->arena, line);
}

static size_t total_width(const struct tare_emit_table *t)
{
	size_t total = 0;

	for (size_t c = 0; c < t->column_count; c++)
		if (t->columns[c].head)
			total += t->text->widths[c] + (total ? sizeof(gap) - 1 : 0);
	return total;
}

/* Blanks at the end of a line are left out. */
static void draw_row(const struct tare_emit_table *t, const char *const *cells,
		     struct tare_str *out)
{
	size_t pending = 0;
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		size_t pad;

		if (!t->columns[c].head)
			continue;
		pad = t->text->widths[c] - tare_str_columns(cells[c]);
		pending += is_first ? 0 : sizeof(gap) - 1;
		is_first = false;
		if (t->columns[c].kind != TARE_COL_TEXT)
			pending += pad;
		if (cells[c][0]) {
			tare_str_add_repeat(out, " ", pending);
			pending = 0;
		}
		tare_str_add(out, cells[c]);
		if (t->columns[c].kind == TARE_COL_TEXT)
			pending += pad;
	}
	tare_str_add_char(out, '\n');
}

static void draw_title(const struct tare_emit_table *t, size_t total, struct tare_str *out)
{
	size_t columns = tare_str_columns(t->title), unit = sizeof(mib) - 1;
	bool has_size = false;

	for (size_t c = 0; c < t->column_count; c++)
		has_size = has_size || (t->columns[c].head && is_size(t->columns[c].kind));
	tare_text_add_name(out, t->title);
	if (has_size) {
		tare_str_add_repeat(out, " ",
				    columns + unit + 2 < total ? total - columns - unit : 2);
		tare_str_add(out, mib);
	}
	tare_str_add_char(out, '\n');
}

static void draw_line(const char *line, size_t total, struct tare_str *out)
{
	if (line[0])
		tare_text_add_lines(out, line, strlen(line));
	else
		tare_str_add_repeat(out, "─", total);
	tare_str_add_char(out, '\n');
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	const char **heads = make_cells(t, NULL);
	size_t total = total_width(t);

	if (t->title)
		draw_title(t, total, e->out);
	draw_row(t, heads, e->out);
	for (size_t r = 0; r < t->text->count; r++) {
		const struct text_row *row = &t->text->rows[r];

		if (row->cells)
			draw_row(t, row->cells, e->out);
		else
			draw_line(row->line, total, e->out);
	}
	free(t->text->rows);
}

const struct tare_renderer tare_render_text = {
	.table = begin,
	.row = add_row,
	.line = add_line,
	.end = end,
};
