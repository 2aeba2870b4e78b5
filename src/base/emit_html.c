/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one page that needs no other file and no script, row by row. */
#include "base/emit_table.h"

#include "base/text.h"

#include <string.h>

/*
 * Legible at 800 px, in the light and in the dark, and on paper, which is always light; wide tables scroll on their own.
 */
static const char page_style[] =
	"<style>\n"
	":root{color-scheme:light dark;--paper:#fff;--ink:#1c2024;--soft:#5a6169;--line:#d5d9de;--band:#f4f6f8;"
	"--good:#dff2e1;--bad:#b3261e;--limit:#b3261e;--c0:#4e58bb;--c1:#ebb334;--c2:#55a963;--c3:#ba3142;"
	"--c4:#75d1a5;--c5:#9a6ce9;--c6:#f886d7;--c7:#d75d1a;--c8:#929392}\n"
	"@media screen and (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e6e8ea;--soft:#a2aab3;--line:#363c43;"
	"--band:#1e2328;--good:#1f3a26;--bad:#ff8a80;--limit:#ff8a80;--c0:#5a7aab;--c1:#fcc957;--c2:#4fbd87;"
	"--c3:#fa755a;--c4:#87e9cf;--c5:#b77dfd;--c6:#e194c3;--c7:#b35d12;--c8:#949694}}\n"
	"body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 3rem;background:var(--paper);color:var(--ink);"
	"font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
	"h1{font-size:1.45rem;line-height:1.3;margin:0 0 .5rem;overflow-wrap:anywhere}\n"
	"h2{font-size:1.12rem;margin:2rem 0 .5rem;overflow-wrap:anywhere}\n"
	"p{margin:.4rem 0}\nul{margin:.4rem 0;padding-left:1.2rem}\n"
	"p,li{overflow-wrap:anywhere}\np.alarm{color:var(--bad)}\n"
	".scroll{overflow-x:auto}\ntable{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.28rem .5rem;border-bottom:1px solid var(--line);text-align:left;white-space:pre;"
	"vertical-align:top}\n"
	"th{color:var(--soft);font-weight:600;border-bottom-width:2px;white-space:normal;vertical-align:bottom}\n"
	".n{text-align:right}\n"
	"tbody tr:hover{background:var(--band)}\n"
	".strong{font-weight:600;background:var(--good)}\n.alarm td{color:var(--bad)}\n.quiet td{color:var(--soft)}\n";
static const char print_style[] =
	"@media print{body{max-width:none;padding:0;font-size:11pt}.scroll{overflow:visible}"
	"th,td{white-space:pre-wrap}tr,.bars{break-inside:avoid}h2{break-after:avoid}"
	".strong,.bar,.bar i,.keys i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n"
	"</style>\n";

static void add_text(struct tare_str *out, const char *text)
{
	tare_text_add_markup(out, text, SIZE_MAX);
}

static void add_element(struct tare_str *out, const char *tag, const char *text)
{
	tare_str_addf(out, "<%s>", tag);
	add_text(out, text);
	tare_str_addf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* The first thing on the page says what it is called. */
static void open_page(struct tare_emit *e, const char *title)
{
	if (e->is_open)
		return;
	e->is_open = true;
	tare_str_add(e->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
	tare_str_add(e->out, page_style);
	tare_str_add(e->out, tare_html_chart_style);
	tare_str_add(e->out, print_style);
	add_element(e->out, "title", title);
	tare_str_add(e->out, "</head>\n<body>\n");
}

/* An item opens the list that it is in, and what is none closes it. */
static void end_list(struct tare_emit *e, enum tare_block_kind next)
{
	if (e->last == TARE_BLOCK_ITEM && next != TARE_BLOCK_ITEM)
		tare_str_add(e->out, "</ul>\n");
	else if (e->last != TARE_BLOCK_ITEM && next == TARE_BLOCK_ITEM)
		tare_str_add(e->out, "<ul>\n");
	e->last = next;
}

static void add_block(struct tare_emit *e, const struct tare_emit_block *block)
{
	static const char *const tags[] = {
		[TARE_BLOCK_PAGE] = "h1",
		[TARE_BLOCK_TITLE] = "h1",
		[TARE_BLOCK_HEADING] = "h2",
		[TARE_BLOCK_PARAGRAPH] = "p",
		[TARE_BLOCK_ITEM] = "li",
		[TARE_BLOCK_TERM] = "p",
		[TARE_BLOCK_ALARM] = "p class=\"alarm\"",
		[TARE_BLOCK_NOTE] = "p",
	};

	if (!block->text[0])
		return;
	open_page(e, block->kind <= TARE_BLOCK_TITLE ? block->text : "Tare");
	end_list(e, block->kind);
	if (block->head) {
		tare_str_add(e->out, block->tone == TARE_TONE_ALARM ? "<p class=\"alarm\"><b>" : "<p><b>");
		add_text(e->out, block->head);
		tare_str_add(e->out, "</b>");
		add_text(e->out, block->text);
		tare_str_add(e->out, "</p>\n");
		return;
	}
	add_element(e->out, tags[block->kind], block->text);
}

/* ---- tables ---- */

static void begin(struct tare_emit *e, struct tare_emit_table *t)
{
	open_page(e, t->title ? t->title : "Tare");
	end_list(e, TARE_BLOCK_NONE);
	if (t->title)
		add_element(e->out, "h2", t->title);
}

static const char *open_cell(const struct tare_emit_table *t, size_t column, bool is_head)
{
	if (t->columns[column].kind == TARE_COL_TEXT)
		return is_head ? "<th>" : "<td>";
	return is_head ? "<th class=\"n\">" : "<td class=\"n\">";
}

static void begin_rows(struct tare_emit *e, struct tare_emit_table *t)
{
	TARE_FREED_BY(tare_str_free) struct tare_str head = { 0 };

	if (t->is_begun)
		return;
	t->is_begun = true;
	if (t->series)
		tare_html_chart(e->out, t->series->chart);
	tare_str_add(e->out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		tare_str_cut(&head, 0);
		tare_column_read(&head, &t->columns[c], ", ");
		tare_str_add(e->out, open_cell(t, c, true));
		add_text(e->out, tare_str_text(&head));
		tare_str_add(e->out, "</th>");
	}
	tare_str_add(e->out, "</tr></thead>\n<tbody>\n");
}

static const char *class_of(enum tare_text_tone tone)
{
	static const char *const classes[] = {
		[TARE_TONE_PLAIN] = "",
		[TARE_TONE_STRONG] = " class=\"strong\"",
		[TARE_TONE_QUIET] = " class=\"quiet\"",
		[TARE_TONE_ALARM] = " class=\"alarm\"",
	};

	return classes[tone];
}

/* The first cell has what shows where the row lies in a tree. */
static void add_first(struct tare_str *out, const struct tare_row_look *look)
{
	if (look->level)
		tare_str_addf(out, "<td style=\"padding-left:%.1fem\">", .6 + 1.2 * (double)look->level);
	else
		tare_str_add(out, "<td>");
	if (look->mark && look->mark[0] != ' ')
		add_text(out, look->mark);
}

static void add_row(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	bool is_first = true;

	begin_rows(e, t);
	tare_str_addf(e->out, "<tr%s>", class_of(row->look.tone));
	for (size_t c = 0; c < t->column_count; c++) {
		if (!t->columns[c].head)
			continue;
		tare_str_cut(&text, 0);
		tare_cell_read(&text, &row->cells[c], row->look.is_blank || t->columns[c].is_blank);
		if (is_first && t->columns[c].kind == TARE_COL_TEXT)
			add_first(e->out, &row->look);
		else
			tare_str_add(e->out, open_cell(t, c, false));
		add_text(e->out, tare_str_text(&text));
		tare_str_add(e->out, "</td>");
		is_first = false;
	}
	tare_str_add(e->out, "</tr>\n");
}

static void add_line(struct tare_emit *e, struct tare_emit_table *t, const char *line)
{
	if (!line[0])
		return;
	begin_rows(e, t);
	tare_str_addf(e->out, "<tr><th colspan=\"%zu\">", t->column_count);
	add_text(e->out, line);
	tare_str_add(e->out, "</th></tr>\n");
}

static void end(struct tare_emit *e, struct tare_emit_table *t)
{
	begin_rows(e, t);
	tare_str_add(e->out, "</tbody></table></div>\n");
}

static void add_chart(struct tare_emit *e, const struct tare_chart *chart)
{
	open_page(e, chart->title ? chart->title : "Tare");
	end_list(e, TARE_BLOCK_NONE);
	if (chart->title)
		add_element(e->out, "h2", chart->title);
	tare_html_chart(e->out, chart);
}

static void finish(struct tare_emit *e)
{
	open_page(e, "Tare");
	end_list(e, TARE_BLOCK_NONE);
	tare_str_add(e->out, "</body>\n</html>\n");
}

const struct tare_renderer tare_render_html = {
	.table = begin,
	.row = add_row,
	.line = add_line,
	.end = end,
	.block = add_block,
	.chart = add_chart,
	.finish = finish,
};
