/* SPDX-License-Identifier: Apache-2.0 */
#include "view/doc.h"

/* Legible at 800 px, in the light and in the dark; wide tables scroll on their own. */
static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<style>\n"
	":root{color-scheme:light dark;--paper:#fff;--ink:#1c2024;--soft:#5a6169;--line:#d5d9de;--band:#f4f6f8;"
	"--good:#dff2e1;--bad:#b3261e;--limit:#b3261e;--c0:#4269d0;--c1:#efb118;--c2:#3ca951;--c3:#ff725c;"
	"--c4:#6cc5b0;--c5:#a463f2;--c6:#ff8ab7;--c7:#9c6b4e;--c8:#9498a0}\n"
	"@media (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e6e8ea;--soft:#a2aab3;--line:#363c43;"
	"--band:#1e2328;--good:#1f3a26;--bad:#ff8a80;--limit:#ff8a80;--c0:#6f8fe8;--c1:#f2c14e;--c2:#5cc46f;"
	"--c3:#ff8f7c;--c4:#82d6c3;--c5:#b888f5;--c6:#ffa3c7;--c7:#bb8a6c;--c8:#a9adb5}}\n"
	"body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 3rem;background:var(--paper);color:var(--ink);"
	"font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
	"h1{font-size:1.45rem;line-height:1.3;margin:0 0 .5rem;overflow-wrap:anywhere}\n"
	"h2{font-size:1.12rem;margin:2rem 0 .5rem}\np{margin:.4rem 0}\nul{margin:.4rem 0;padding-left:1.2rem}\n"
	"p,li{overflow-wrap:anywhere}\n"
	".scroll{overflow-x:auto}\ntable{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.28rem .5rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap;"
	"vertical-align:top}\n"
	"th{color:var(--soft);font-weight:600;border-bottom-width:2px}\n.n{text-align:right}\n"
	"tbody tr:hover{background:var(--band)}\n"
	".strong{font-weight:600;background:var(--good)}\n.alarm td{color:var(--bad)}\n.quiet td{color:var(--soft)}\n"
	".bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:.35rem .7rem;align-items:center;"
	"font-size:.875rem;margin:.6rem 0}\n"
	".bars .label{max-width:16rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n"
	".bar{position:relative;height:1.1rem;background:var(--band);border-radius:2px}\n"
	".bar i{position:absolute;top:0;bottom:0;display:block}\n"
	".bar b{position:absolute;top:-.2rem;bottom:-.2rem;width:2px;background:var(--limit)}\n"
	".keys{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.8125rem;color:var(--soft)}\n"
	".keys i{display:inline-block;width:.75rem;height:.75rem;margin-right:.35rem;vertical-align:-.05rem;"
	"border-radius:2px}\n"
	"</style>\n";

enum { COLOURS = 9 };

static void add_text(struct tare_str *out, const char *text)
{
	tare_text_add_markup(out, text, SIZE_MAX);
}

static void add_element(struct tare_str *out, const char *tag, const char *text)
{
	tare_str_addf(out, "<%s>", tag);
	add_text(out, text);
	tare_str_addf(out, "</%s>\n", tag);
}

static const char *class_of(enum tare_text_tone tone)
{
	static const char *const classes[] = { "", " class=\"strong\"", " class=\"quiet\"",
					       " class=\"alarm\"" };

	return classes[tone];
}

static void add_table(struct tare_str *out, const struct tare_doc_block *b)
{
	tare_str_add(out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
	for (size_t c = 0; c < b->column_nr; c++) {
		tare_str_add(out, b->columns[c].is_number ? "<th class=\"n\">" : "<th>");
		add_text(out, b->columns[c].head);
		tare_str_add(out, "</th>");
	}
	tare_str_add(out, "</tr></thead>\n<tbody>\n");
	for (size_t r = 0; r < b->row_nr; r++) {
		tare_str_addf(out, "<tr%s>", class_of(b->rows[r].tone));
		for (size_t c = 0; c < b->column_nr; c++) {
			tare_str_add(out, b->columns[c].is_number ? "<td class=\"n\">" : "<td>");
			add_text(out, b->rows[r].cells[c]);
			tare_str_add(out, "</td>");
		}
		tare_str_add(out, "</tr>\n");
	}
	tare_str_add(out, "</tbody></table></div>\n");
}

static double total_of(const struct tare_doc_block *b, const struct tare_doc_bar *bar)
{
	double sum = 0;

	for (size_t i = 0; i < b->column_nr; i++)
		sum += bar->parts[i] > 0 ? bar->parts[i] : 0;
	return sum;
}

static bool is_used(const struct tare_doc_block *b, size_t part)
{
	for (size_t i = 0; i < b->row_nr; i++)
		if (b->bars[i].parts[part] > 0)
			return true;
	return false;
}

static void add_bar(struct tare_str *out, const struct tare_doc_block *b,
		    const struct tare_doc_bar *bar, double scale)
{
	double at = 0;

	tare_str_add(out, "<span class=\"label\" title=\"");
	add_text(out, bar->label);
	tare_str_add(out, "\">");
	add_text(out, bar->label);
	tare_str_add(out, "</span><span class=\"bar\">");
	for (size_t i = 0; i < b->column_nr; i++) {
		double width = bar->parts[i] * scale;

		if (width <= 0)
			continue;
		tare_str_addf(
			out,
			"<i style=\"left:%.3f%%;width:%.3f%%;background:var(--c%zu)\" title=\"", at,
			width, i % COLOURS);
		add_text(out, b->names[i]);
		tare_str_add(out, "\"></i>");
		at += width;
	}
	if (b->limit > 0)
		tare_str_addf(out, "<b style=\"left:%.3f%%\"></b>", b->limit * scale);
	tare_str_add(out, "</span><span class=\"n\">");
	add_text(out, bar->value);
	tare_str_add(out, "</span>\n");
}

static void add_bars(struct tare_str *out, const struct tare_doc_block *b)
{
	double most = 0, scale;

	for (size_t i = 0; i < b->row_nr; i++)
		if (total_of(b, &b->bars[i]) > most)
			most = total_of(b, &b->bars[i]);
	/* A card many times as large as what is used would leave nothing to see. */
	bool has_limit = b->limit > 0 && b->limit < 3 * most;
	struct tare_doc_block shown = *b;

	shown.limit = has_limit ? b->limit : 0;
	if (most <= 0)
		return;
	scale = 100 / ((has_limit && b->limit > most ? b->limit : most) * 1.01);
	tare_str_add(out, "<div class=\"bars\">\n");
	for (size_t i = 0; i < b->row_nr; i++)
		add_bar(out, &shown, &b->bars[i], scale);
	tare_str_add(out, "</div>\n<div class=\"keys\">");
	for (size_t i = 0; i < b->column_nr; i++) {
		if (!is_used(b, i))
			continue;
		tare_str_addf(out, "<span><i style=\"background:var(--c%zu)\"></i>", i % COLOURS);
		add_text(out, b->names[i]);
		tare_str_add(out, "</span>");
	}
	if (has_limit) {
		tare_str_add(out, "<span><i style=\"background:var(--limit);width:2px\"></i>");
		add_text(out, b->limit_text);
		tare_str_add(out, "</span>");
	}
	tare_str_add(out, "</div>\n");
}

void tare_doc_html(struct tare_str *out, const struct tare_doc *d)
{
	bool is_list = false;

	tare_str_add(out, page_head);
	tare_str_add(out, "<title>");
	add_text(out,
		 d->block_nr && d->blocks[0].kind == TARE_DOC_TITLE ? d->blocks[0].text : "Tare");
	tare_str_add(out, "</title>\n</head>\n<body>\n");
	for (size_t i = 0; i < d->block_nr; i++) {
		const struct tare_doc_block *b = &d->blocks[i];

		if (is_list != (b->kind == TARE_DOC_ITEM)) {
			tare_str_add(out, is_list ? "</ul>\n" : "<ul>\n");
			is_list = !is_list;
		}
		switch (b->kind) {
		case TARE_DOC_TITLE:
			add_element(out, "h1", b->text);
			break;
		case TARE_DOC_HEADING:
			add_element(out, "h2", b->text);
			break;
		case TARE_DOC_PARAGRAPH:
			add_element(out, "p", b->text);
			break;
		case TARE_DOC_ITEM:
			add_element(out, "li", b->text);
			break;
		case TARE_DOC_TABLE:
			add_table(out, b);
			break;
		case TARE_DOC_BARS:
			add_bars(out, b);
			break;
		}
	}
	tare_str_add(out, is_list ? "</ul>\n</body>\n</html>\n" : "</body>\n</html>\n");
}
