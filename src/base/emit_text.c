/* SPDX-License-Identifier: Apache-2.0 */
/* A report for a screen: cells are made as rows come, and lined up when the last one is there. */
#include "base/emit_table.h"

#include "base/array.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* A row as it will stand, without padding. */
struct text_row {
	const char **cells; /* NULL: a line of text, or a rule when that is empty */
	const char *line;
	enum tare_text_tone tone;
};

struct tare_emit_text_rows {
	struct text_row *rows;
	size_t count, cap;
	size_t *widths;
};

/* Of a tree: where labels may be cut, and what its rules leave free. */
enum { LEAST_LABEL = 24, RULE_INDENT = 2 };

static const char gap[] = "  ";
static const char mib[] = "MiB";

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
	struct tare_str name = { 0 };
	const char *kept;
	size_t n;

	tare_text_add_name(&name, tare_str_text(text));
	n = tare_str_columns(tare_str_text(&name));
	if (n > t->text->widths[column])
		t->text->widths[column] = n;
	kept = tare_arena_strdup(&t->arena, tare_str_text(&name));
	tare_str_free(&name);
	return kept;
}

static void add_indent(struct tare_str *out, const struct tare_row_look *look)
{
	size_t levels = look->level;

	if (look->mark && levels) {
		tare_str_add(out, look->mark);
		levels--;
	}
	tare_str_add_repeat(out, gap, levels);
}

static void add_head(const struct tare_emit_table *t, size_t column, struct tare_str *out)
{
	if (t->title)
		tare_str_add(out, t->columns[column].head);
	else
		tare_column_read(out, &t->columns[column], " ");
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
				add_indent(&text, &from->look);
			tare_cell_read(&text, &from->cells[c],
				       from->look.is_blank || t->columns[c].is_blank);
		}
		cells[c] = keep(t, c, &text);
	}
	tare_str_free(&text);
	return cells;
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	const char **cells = make_cells(t, row);
	struct text_row *made = add(t->text);

	(void)e;
	made->cells = cells;
	made->tone = row->look.tone;
}

static void add_line(struct tare_emit *e, struct tare_emit_table *t, const char *line)
{
	(void)e;
	add(t->text)->line = tare_arena_strdup(&t->arena, line);
}

static size_t total_width(const struct tare_emit_table *t)
{
	size_t total = 0;
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		/* A last column of nothing, such as a word behind the figures, takes no room. */
		if (!t->columns[c].head || (!is_first && !t->text->widths[c]))
			continue;
		total += t->text->widths[c] + (is_first ? 0 : sizeof(gap) - 1);
		is_first = false;
	}
	return total;
}

/* A tree is no wider than the screen, as long as its labels can give way. */
static void fit_label(struct tare_emit *e, struct tare_emit_table *t)
{
	size_t *label = &t->text->widths[0], limit = (size_t)e->style.width, others;

	if (*label < LEAST_LABEL)
		*label = LEAST_LABEL;
	others = total_width(t) - *label;
	if (*label + others > limit)
		*label = limit > others + LEAST_LABEL ? limit - others : LEAST_LABEL;
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

static void add_cell(struct tare_str *out, const char *cell, size_t width)
{
	if (tare_str_columns(cell) > width) {
		tare_str_add_n(out, cell, bytes_of(cell, width - 1));
		tare_str_add(out, "…");
	} else {
		tare_str_add(out, cell);
	}
}

/* Blanks at the end of a line are left out. */
static void draw_row(struct tare_emit *e, const struct tare_emit_table *t, const char *const *cells,
		     enum tare_text_tone tone)
{
	struct tare_str line = { 0 };
	size_t pending = 0;
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		size_t pad, width = t->text->widths[c];

		if (!t->columns[c].head)
			continue;
		pad = tare_str_columns(cells[c]) < width ? width - tare_str_columns(cells[c]) : 0;
		pending += is_first ? 0 : sizeof(gap) - 1;
		is_first = false;
		if (t->columns[c].kind != TARE_COL_TEXT)
			pending += pad;
		if (t->columns[c].is_quiet && cells[c][0]) {
			tare_text_tone(e->out, tare_str_text(&line), tone, &e->style);
			tare_str_cut(&line, 0);
			tone = TARE_TONE_QUIET;
		}
		if (cells[c][0]) {
			tare_str_add_repeat(&line, " ", pending);
			pending = 0;
		}
		add_cell(&line, cells[c], width);
		if (t->columns[c].kind == TARE_COL_TEXT)
			pending += pad;
	}
	tare_text_tone(e->out, tare_str_text(&line), tone, &e->style);
	tare_str_add_char(e->out, '\n');
	tare_str_free(&line);
}

static void draw_title(struct tare_emit *e, const struct tare_emit_table *t, size_t total)
{
	size_t columns = tare_str_columns(t->title), unit = sizeof(mib) - 1;
	struct tare_str line = { 0 };
	bool has_size = false;

	for (size_t c = 0; c < t->column_count; c++)
		has_size =
			has_size || (t->columns[c].head && tare_kind_is_size(t->columns[c].kind));
	tare_text_add_name(&line, t->title);
	if (has_size) {
		tare_str_add_repeat(&line, " ",
				    columns + unit + 2 < total ? total - columns - unit : 2);
		tare_str_add(&line, mib);
	}
	tare_text_tone(e->out, tare_str_text(&line), TARE_TONE_STRONG, &e->style);
	tare_str_add_char(e->out, '\n');
	tare_str_free(&line);
}

static void draw_line(struct tare_str *out, const struct tare_emit_table *t, const char *line,
		      size_t total)
{
	size_t indent = t->shape == TARE_SHAPE_TREE ? RULE_INDENT : 0;

	if (line[0]) {
		tare_text_add_lines(out, line, strlen(line));
	} else {
		tare_str_add_repeat(out, " ", indent);
		tare_str_add_repeat(out, "─", total - indent);
	}
	tare_str_add_char(out, '\n');
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	const char **heads = make_cells(t, NULL);
	size_t total;

	if (t->shape == TARE_SHAPE_TREE)
		fit_label(e, t);
	total = total_width(t);
	if (t->title)
		draw_title(e, t, total);
	if (t->series)
		tare_chart_spark(e->out, t->series->chart, total, t->series->title);
	draw_row(e, t, heads, TARE_TONE_QUIET);
	for (size_t r = 0; r < t->text->count; r++) {
		const struct text_row *row = &t->text->rows[r];

		if (row->cells)
			draw_row(e, t, row->cells, row->tone);
		else
			draw_line(e->out, t, row->line, total);
	}
	free(t->text->rows);
}

static void add_chart(struct tare_emit *e, const struct tare_chart *chart)
{
	if (chart->shape != TARE_SHAPE_SERIES)
		return;
	if (chart->title)
		tare_text_toned(e, chart->title, TARE_TONE_STRONG);
	tare_chart_spark(e->out, chart, (size_t)e->style.width, NULL);
}

static void finish(struct tare_emit *e)
{
	if (!e->style.is_utf8)
		tare_text_to_ascii(e->out, e->start);
}

const struct tare_renderer tare_render_text = {
	.table = begin,
	.row = add_row,
	.line = add_line,
	.end = end,
	.block = tare_text_block,
	.chart = add_chart,
	.finish = finish,
};
