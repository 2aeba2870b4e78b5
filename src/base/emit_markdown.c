/* SPDX-License-Identifier: Apache-2.0 */
/* A report as Markdown with tables as GitHub has them, row by row. */
#include "base/emit_table.h"

#include "base/text.h"

static const char indent[] = "&nbsp;&nbsp;"; /* a cell's own blanks are dropped */

static void add_cell(struct tare_str *out, const char *text, const struct tare_row_look *look, bool is_first)
{
	bool is_strong = look->tone == TARE_TONE_STRONG && text[0];

	tare_str_add_char(out, ' ');
	if (is_first)
		tare_str_add_repeat(out, indent, look->level);
	tare_str_add(out, is_strong ? "**" : "");
	if (is_first && look->mark && look->mark[0] != ' ')
		tare_text_add_markdown(out, look->mark, false);
	tare_text_add_markdown(out, text, false);
	tare_str_add(out, is_strong ? "** |" : " |");
}

static void add_heads(struct tare_emit *e, struct tare_emit_table *t)
{
	const struct tare_row_look plain = { 0 };
	TARE_FREED_BY(tare_str_free) struct tare_str head = { 0 };

	if (t->is_begun)
		return;
	t->is_begun = true;
	tare_str_add_char(e->out, '|');
	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		tare_str_cut(&head, 0);
		tare_column_read(&head, &t->columns[c], ", ");
		add_cell(e->out, tare_str_text(&head), &plain, false);
	}
	tare_str_add(e->out, "\n|");
	for (size_t c = 0; c < t->column_count; c++)
		if (t->columns[c].head)
			tare_str_add(e->out, t->columns[c].kind == TARE_COL_TEXT ? "---|" : "--:|");
	tare_str_add_char(e->out, '\n');
}

/* Blocks are parted by empty lines, items of a list are not. */
static void part(struct tare_emit *e, enum tare_block_kind kind)
{
	if (e->is_open && !(kind == TARE_BLOCK_ITEM && e->last == TARE_BLOCK_ITEM))
		tare_str_add_char(e->out, '\n');
	e->is_open = true;
	e->last = kind;
}

/* What text lines up with blanks, without these. */
static void add_words(struct tare_str *out, const char *text)
{
	TARE_FREED_BY(tare_str_free) struct tare_str words = { 0 };

	tare_str_add_wrapped(&words, text, 0, 0, SIZE_MAX);
	tare_text_add_markdown(out, tare_str_text(&words), false);
}

static void add_block(struct tare_emit *e, const struct tare_emit_block *block)
{
	static const char *const marks[] = {
		[TARE_BLOCK_PAGE] = "# ",        [TARE_BLOCK_TITLE] = "# ", [TARE_BLOCK_HEADING] = "## ",
		[TARE_BLOCK_PARAGRAPH] = "",     [TARE_BLOCK_ITEM] = "- ",  [TARE_BLOCK_TERM] = "",
		[TARE_BLOCK_ALARM] = "> **!** ", [TARE_BLOCK_NOTE] = "",
	};

	if (!block->text[0])
		return;
	part(e, block->kind);
	tare_str_add(e->out, marks[block->kind]);
	if (block->head) {
		tare_str_add(e->out, "**");
		add_words(e->out, block->head);
		tare_str_add(e->out, "** ");
	}
	tare_text_add_markdown(e->out, block->text, !block->head);
	tare_str_add_char(e->out, '\n');
}

static void add_spark(struct tare_emit *e, const struct tare_chart *chart, const char *tail)
{
	if (tare_chart_is_flat(chart))
		return;
	part(e, TARE_BLOCK_NOTE);
	tare_chart_spark(e->out, chart, TARE_TEXT_WIDTH, tail);
}

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	if (t->title)
		add_block(e, &(struct tare_emit_block){ TARE_BLOCK_HEADING, t->title, 0, 0, NULL, 0 });
}

/* Below the title, and what was told after it. */
static void begin_rows(struct tare_emit *e, struct tare_emit_table *t)
{
	if (t->is_begun)
		return;
	if (t->series)
		add_spark(e, t->series->chart, t->series->title);
	part(e, TARE_BLOCK_NONE);
	add_heads(e, t);
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	bool is_first = true;

	begin_rows(e, t);
	tare_str_add_char(e->out, '|');
	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		tare_str_cut(&text, 0);
		tare_cell_read(&text, &row->cells[c], row->look.is_blank || t->columns[c].is_blank);
		add_cell(e->out, tare_str_text(&text), &row->look, is_first);
		is_first = false;
	}
	tare_str_add_char(e->out, '\n');
}

static void add_line(struct tare_emit *e, struct tare_emit_table *t, const char *line)
{
	const struct tare_row_look strong = { .tone = TARE_TONE_STRONG };
	bool is_first = true;

	if (!line[0])
		return;
	begin_rows(e, t);
	tare_str_add_char(e->out, '|');
	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		add_cell(e->out, is_first ? line : "", &strong, false);
		is_first = false;
	}
	tare_str_add_char(e->out, '\n');
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	begin_rows(e, t);
}

static void add_chart(struct tare_emit *e, const struct tare_chart *chart)
{
	if (chart->shape != TARE_SHAPE_SERIES)
		return;
	if (chart->title)
		add_block(e, &(struct tare_emit_block){ TARE_BLOCK_HEADING, chart->title, 0, 0, NULL, 0 });
	add_spark(e, chart, NULL);
}

const struct tare_renderer tare_render_markdown = {
	.table = begin,
	.row = add_row,
	.line = add_line,
	.end = end,
	.block = add_block,
	.chart = add_chart,
};
