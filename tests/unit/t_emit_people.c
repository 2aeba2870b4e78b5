/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown, pages, and the shapes that are drawn. */
#include "emit_account.h"
#include "test.h"

#include <string.h>

TEST(one_ledger_as_markdown)
{
	struct tare_str s = { 0 };

	ledger(TARE_EMIT_MARKDOWN, &s);
	CHECK_STR(tare_str_text(&s), "## GPU 0  NVIDIA H200\n"
	                             "\n"
	                             "| ACCOUNT | AT PEAK, MiB | count | evidence |\n"
	                             "|---|--:|--:|---|\n"
	                             "| &nbsp;&nbsp;context | 523.6 | 1 | weighed |\n"
	                             "| \\~ größe, \"cached\" | 8,464.8 | – | – |\n"
	                             "| unexplained | – | – | – |\n"
	                             "\n"
	                             "! 2 hints\n");
	tare_str_free(&s);
}

TEST(one_ledger_as_a_page)
{
	struct tare_str s = { 0 };

	ledger(TARE_EMIT_HTML, &s);
	CHECK_HAS(tare_str_text(&s), "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
	CHECK_HAS(tare_str_text(&s), "<title>GPU 0  NVIDIA H200</title>\n</head>\n<body>\n"
	                             "<h2>GPU 0  NVIDIA H200</h2>\n");
	CHECK_HAS(tare_str_text(&s), "<thead><tr><th>ACCOUNT</th><th class=\"n\">AT PEAK, MiB</th>"
	                             "<th class=\"n\">count</th><th>evidence</th></tr></thead>\n<tbody>\n"
	                             "<tr><td style=\"padding-left:1.8em\">context</td><td class=\"n\">523.6</td>"
	                             "<td class=\"n\">1</td><td>weighed</td></tr>\n"
	                             "<tr><td>~ größe, &quot;cached&quot;</td>");
	CHECK_HAS(tare_str_text(&s), "</tbody></table></div>\n<p>! 2 hints</p>\n</body>\n</html>\n");
	CHECK(!strstr(tare_str_text(&s), "<script"));
	tare_str_free(&s);
}

/* Names are a stranger's: what they say stays text, in a cell, a title, a sentence. */
static const char hostile[] = "<script>alert(1)</script> | `x` | **b** [a](javascript:b) \n# h \033[2J";

static void all_texts(enum tare_emit_format format, struct tare_str *out)
{
	struct account row = { .name = hostile, .label = hostile, .evidence = hostile };
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_page(&e, "%s", hostile);
	tare_emit_title(&e, "%s", hostile);
	tare_emit_heading(&e, "%s", hostile);
	tare_emit_paragraph(&e, "%s", hostile);
	tare_emit_item(&e, "%s", hostile);
	tare_emit_item(&e, "%s", hostile);
	tare_emit_alarm(&e, "%s", hostile);
	tare_emit_note(&e, "%s", hostile);
	tare_emit_table(&e, "rows", hostile, TARE_COLUMNS(columns));
	tare_emit_add_as(&e, &row, (struct tare_row_look){ .level = 2, .mark = "~ " });
	tare_emit_line(&e, hostile);
	tare_emit_table_end(&e);
	tare_emit_shape(&e, TARE_SHAPE_INTERVALS, "bars", hostile, TARE_COLUMNS(columns));
	tare_emit_mark(&e, 1, hostile);
	tare_emit_add(&e, &row);
	tare_emit_table_end(&e);
	tare_emit_end(&e);
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
		n++;
	return n;
}

TEST(hostile_names_stay_text_in_a_page)
{
	struct tare_str s = { 0 };
	const char *text;

	all_texts(TARE_EMIT_HTML, &s);
	text = tare_str_text(&s);
	CHECK(!strstr(text, "<script"));
	CHECK(!strstr(text, "\033"));
	CHECK_HAS(text, "<title>&lt;script&gt;alert(1)&lt;/script&gt; | `x`");
	CHECK_INT(count_of(text, "<h1>"), 2);
	CHECK_INT(count_of(text, "<ul>"), 1);
	CHECK_INT(count_of(text, "</ul>"), 1);
	CHECK_INT(count_of(text, "<li>"), 2);
	CHECK_INT(count_of(text, "<p class=\"alarm\">&lt;script"), 1);
	tare_str_free(&s);
}

TEST(hostile_names_stay_text_in_markdown)
{
	struct tare_str s = { 0 };
	const char *text;

	all_texts(TARE_EMIT_MARKDOWN, &s);
	text = tare_str_text(&s);
	CHECK(!strstr(text, "<script"));
	CHECK(!strstr(text, "\n# h"));
	CHECK_HAS(text, "\n| &nbsp;&nbsp;&nbsp;&nbsp;\\~ &lt;script&gt;alert(1)&lt;/script&gt; \\| "
	                "\\`x\\` \\| \\*\\*b\\*\\* \\[a\\](javascript:b) ?\\# h ?\\[2J | ");
	for (const char *p = strchr(text, '`'); p; p = strchr(p + 1, '`'))
		CHECK(p[-1] == '\\');
	tare_str_free(&s);
}

/* ---- values that say their kind, series, intervals ---- */

struct figure {
	const char *label;
	struct tare_value value;
};

static void figures(enum tare_emit_format format, struct tare_str *out)
{
	static const struct tare_column all[] = {
		TARE_COLUMN(figure, label, "label", "", TEXT),
		TARE_COLUMN(figure, value, "value", "AT PEAK", BYTES),
	};
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_shape(&e, TARE_SHAPE_TREE, "rows", "GPU 0", TARE_COLUMNS(all));
	tare_emit_add_as(&e, &(struct figure){ "used", tare_value_of(TARE_COL_BYTES, 3 << 20) },
	                 (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	tare_emit_rule(&e);
	tare_emit_add_as(&e, &(struct figure){ "pool", { true, TARE_COL_BYTES, NULL, 1 << 20, 2 << 20 } },
	                 (struct tare_row_look){ .level = 1, .mark = "~ " });
	tare_emit_add_as(&e, &(struct figure){ "time", tare_value_of(TARE_COL_DURATION, 44000000) },
	                 (struct tare_row_look){ .level = 2 });
	tare_emit_add(&e, &(struct figure){ "a label that is longer than a screen of forty columns",
	                                    tare_value_text("not known") });
	tare_emit_add(&e, &(struct figure){ .label = "none" });
	tare_emit_table_end(&e);
	tare_emit_end(&e);
}

TEST(values_say_their_kind)
{
	struct tare_str s = { 0 };

	figures(TARE_EMIT_TEXT, &s);
	CHECK_HAS(tare_str_text(&s), "\n~ pool ");
	CHECK_HAS(tare_str_text(&s), " 1.0–2.0\n    time ");
	CHECK_HAS(tare_str_text(&s), " 44 ms\n");
	CHECK_HAS(tare_str_text(&s), " not known\n");
	tare_str_cut(&s, 0);
	figures(TARE_EMIT_CSV, &s);
	CHECK_HAS(tare_str_text(&s), "label,value\nused,3145728\npool,1048576\ntime,44000000\n");
	CHECK_HAS(tare_str_text(&s), "columns,not known\nnone,\n");
	tare_str_cut(&s, 0);
	figures(TARE_EMIT_MARKDOWN, &s);
	CHECK_HAS(tare_str_text(&s), "| **used** | **3.0** |\n| &nbsp;&nbsp;\\~ pool | 1.0–2.0 |\n");
	tare_str_free(&s);
}

struct span {
	int64_t from, to, bytes;
	const char *lane, *name;
};

static const struct tare_column span_columns[] = {
	TARE_COLUMN(span, lane, "lane", NULL, TEXT, .as = TARE_AS_LANE),
	TARE_COLUMN(span, name, "name", NULL, TEXT, .as = TARE_AS_NAME),
	TARE_COLUMN(span, from, "from_ns", NULL, DURATION, .as = TARE_AS_FROM),
	TARE_COLUMN(span, to, "to_ns", NULL, DURATION, .as = TARE_AS_TO),
	TARE_COLUMN(span, bytes, "bytes", NULL, BYTES, .as = TARE_AS_VALUE),
};

static void spans(enum tare_emit_format format, enum tare_shape_kind shape, struct tare_str *out)
{
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_shape(&e, shape, "spans", "course", TARE_COLUMNS(span_columns));
	tare_emit_add(&e, &(struct span){ 0, 1000000000, 1 << 20, "a", "x" });
	tare_emit_add(&e, &(struct span){ 1000000000, 2000000000, 8 << 20, "a", "y" });
	tare_emit_add(&e, &(struct span){ 2000000000, 4000000000, 4 << 20, "b", "x" });
	tare_emit_mark(&e, 3e9, "the limit");
	tare_emit_table_end(&e);
	tare_emit_end(&e);
}

TEST(a_series_is_drawn_for_people)
{
	struct tare_str s = { 0 };

	spans(TARE_EMIT_TEXT, TARE_SHAPE_SERIES, &s);
	CHECK_HAS(tare_str_text(&s), "course\n0 s ▁▁▁");
	CHECK_HAS(tare_str_text(&s), "▁██");
	CHECK_HAS(tare_str_text(&s), "▄▄▄ 4.0 s\n");
	tare_str_cut(&s, 0);
	spans(TARE_EMIT_MARKDOWN, TARE_SHAPE_SERIES, &s);
	CHECK_HAS(tare_str_text(&s), "## course\n\n0 s ▁▁▁");
	tare_str_cut(&s, 0);
	spans(TARE_EMIT_HTML, TARE_SHAPE_SERIES, &s);
	CHECK_HAS(tare_str_text(&s), "<h2>course</h2>\n<div class=\"course\"><p><span>8.0 MiB</span>");
	CHECK_HAS(tare_str_text(&s), "d=\"M0 120H0.0V105.0H200.0V0.0H400.0V60.0H800V120Z\"");
	tare_str_free(&s);
}

TEST(a_series_and_intervals_are_rows_of_data)
{
	static const char rows[] = "lane,name,from_ns,to_ns,bytes\n"
							   "a,x,0,1000000000,1048576\n"
							   "a,y,1000000000,2000000000,8388608\n"
							   "b,x,2000000000,4000000000,4194304\n";
	struct tare_str s = { 0 };

	spans(TARE_EMIT_CSV, TARE_SHAPE_SERIES, &s);
	CHECK_STR(tare_str_text(&s), rows);
	tare_str_cut(&s, 0);
	spans(TARE_EMIT_CSV, TARE_SHAPE_INTERVALS, &s);
	CHECK_STR(tare_str_text(&s), rows);
	tare_str_cut(&s, 0);
	spans(TARE_EMIT_JSON, TARE_SHAPE_INTERVALS, &s);
	CHECK_HAS(tare_str_text(&s), "\"spans\": [\n    {\n      \"lane\": \"a\",\n");
	tare_str_free(&s);
}

TEST(intervals_are_bars_of_a_page)
{
	struct tare_str s = { 0 };

	spans(TARE_EMIT_HTML, TARE_SHAPE_INTERVALS, &s);
	CHECK_INT(count_of(tare_str_text(&s), "class=\"label\""), 2);
	CHECK_INT(count_of(tare_str_text(&s), "<span class=\"bar\"><i "), 2);
	CHECK_HAS(tare_str_text(&s), "left:0.000%;width:24.752%;background:var(--c0)\" title=\"x 1.0 s\"");
	CHECK_HAS(tare_str_text(&s), "left:24.752%;width:24.752%;background:var(--c1)\" title=\"y 1.0 s\"");
	CHECK_INT(count_of(tare_str_text(&s), "<b style=\"left:74.257%\"></b>"), 2);
	CHECK_HAS(tare_str_text(&s), "width:2px\"></i>the limit</span>");
	CHECK_HAS(tare_str_text(&s), "</span><span class=\"n\">4.0 MiB</span>");
	tare_str_cut(&s, 0);
	spans(TARE_EMIT_TEXT, TARE_SHAPE_INTERVALS, &s);
	CHECK_STR(tare_str_text(&s), "");
	tare_str_free(&s);
}

/* A series in a table is drawn below its title, as wide as the table. */
TEST(a_series_in_a_tree)
{
	static const struct tare_column one[] = { TARE_COLUMN(span, lane, "lane", "LANE", TEXT) };
	struct span row = { 0, 1000000000, 1 << 20, "a", "x" };
	struct tare_str s = { 0 };
	struct tare_emit e;

	for (int format = 0; format < TARE_EMIT_FORMAT_NR; format++) {
		tare_emit_begin(&e, (enum tare_emit_format)format, &s);
		if (!tare_emit_is_for_people(&e))
			continue;
		tare_emit_shape(&e, TARE_SHAPE_TREE, "rows", "title", one, 1);
		tare_emit_shape(&e, TARE_SHAPE_SERIES, NULL, "peak", TARE_COLUMNS(span_columns));
		tare_emit_add(&e, &row);
		tare_emit_add(&e, &(struct span){ 1000000000, 2000000000, 8 << 20, "a", "y" });
		tare_emit_table_end(&e);
		tare_emit_add(&e, &row);
		tare_emit_table_end(&e);
		tare_emit_end(&e);
	}
	CHECK_HAS(tare_str_text(&s), "title\n0 s ▁▁▁▁▁▁▁▁████████ 2.0 s · peak\nLANE\na\n");
	CHECK_HAS(tare_str_text(&s), "## title\n\n0 s ▁");
	CHECK_HAS(tare_str_text(&s), "█ 2.0 s · peak\n\n| LANE |\n");
	CHECK_HAS(tare_str_text(&s), "<h2>title</h2>\n<div class=\"course\">");
	tare_str_free(&s);
}

/* Of nothing, and of what never changes, nothing is drawn. */
TEST(what_does_not_change_is_not_drawn)
{
	static const enum tare_shape_kind shapes[] = { TARE_SHAPE_SERIES, TARE_SHAPE_INTERVALS };
	struct tare_str s = { 0 };
	struct tare_emit e;

	for (int format = 0; format < TARE_EMIT_FORMAT_NR; format++)
		for (int shape = 0; shape < 2; shape++)
			for (int rows = 0; rows < 3; rows++) {
				tare_emit_begin(&e, (enum tare_emit_format)format, &s);
				tare_emit_shape(&e, shapes[shape], "spans", NULL, TARE_COLUMNS(span_columns));
				for (int i = 0; i < rows; i++)
					tare_emit_add(&e, &(struct span){ 5, 5, 1 << 20, "a", "x" });
				tare_emit_table_end(&e);
				tare_emit_end(&e);
			}
	CHECK(!strstr(tare_str_text(&s), "<svg"));
	CHECK(!strstr(tare_str_text(&s), "class=\"bar\""));
	CHECK(!strstr(tare_str_text(&s), "▁"));
	tare_str_free(&s);
}
