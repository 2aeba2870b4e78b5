/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/text.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void add_markup(struct tare_str *out, const char *text)
{
	tare_text_add_markup(out, text, SIZE_MAX);
}

static void add_line(struct tare_str *out, const char *text)
{
	tare_text_add_markdown(out, text, true);
}

static void add_cell(struct tare_str *out, const char *text)
{
	tare_text_add_markdown(out, text, false);
}

static void add_json(struct tare_str *out, const char *text)
{
	struct tare_json j = { .out = out, .depth = 1 };

	tare_json_str(&j, NULL, text);
}

#define IS(ADD, FROM, TO)                                                                                              \
	do {                                                                                                               \
		struct tare_str out_ = { 0 };                                                                                  \
                                                                                                                       \
		ADD(&out_, FROM);                                                                                              \
		CHECK_STR(tare_str_text(&out_), TO);                                                                           \
		tare_str_free(&out_);                                                                                          \
	} while (0)

TEST(names_show_nothing_that_steers_hides_or_turns)
{
	IS(tare_text_add_name, "a\033[31mb\a\n\tc\x7f", "a?[31mb???c?");
	IS(tare_text_add_name,
	   "\xc2\x9b"
	   "2J|\xe2\x80\xae"
	   "rtl|\xe2\x80\xa8|\xe2\x80\x8b|\xef\xbb\xbf|",
	   "?2J|?rtl|?|?|?|");
	IS(tare_text_add_name, "\xf3\xa0\x81\x81|\xe2\x81\xa6|\xd8\x9c|\xc2\xad", "?|?|?|?"); /* a tag, an isolate, … */
	IS(tare_text_add_name, "\xff\xfe|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82", "??|??|???|????|??");
	IS(tare_text_add_name, "grün 日本 🙂 – ×", "grün 日本 🙂 – ×");
}

TEST(lines_keep_their_ends)
{
	struct tare_str out = { 0 };

	tare_text_add_lines(&out, "a\nb\r\n\0c", 7);
	CHECK_STR(tare_str_text(&out), "a\nb?\n?c");
	tare_str_free(&out);
}

TEST(json_keeps_what_is_not_plain_as_escapes)
{
	IS(add_json, "\033\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81", "\"\\u001b\\u009b\\u202e\\udb40\\udc41\"");
	IS(add_json, "\xff\"\\\n", "\"\xef\xbf\xbd\\\"\\\\\\n\"");
}

TEST(csv_quotes_formulas_and_leaves_numbers)
{
	IS(tare_text_add_csv, "=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1");
	IS(tare_text_add_csv, "@SUM(1,1)", "\"'@SUM(1,1)\"");
	IS(tare_text_add_csv, "+1+2", "'+1+2");
	IS(tare_text_add_csv, "  -x", "'  -x");
	IS(tare_text_add_csv,
	   "\xef\xbc\x9d"
	   "1",
	   "'\xef\xbc\x9d"
	   "1");
	IS(tare_text_add_csv, "-12.5e-3", "-12.5e-3");
	IS(tare_text_add_csv, "+7", "+7");
	IS(tare_text_add_csv, "-", "'-");
	IS(tare_text_add_csv, "a=b", "a=b");
	IS(tare_text_add_csv, "\t=1", "\xef\xbf\xbd=1");
}

TEST(csv_cells_are_one_line_and_quoted)
{
	IS(tare_text_add_csv, "a,\"b\"\r\nc",
	   "\"a,\"\"b\"\"\xef\xbf\xbd\xef\xbf\xbd"
	   "c\"");
	IS(tare_text_add_csv, "a;b", "\"a;b\"");
	IS(tare_text_add_csv, "\xff\033", "\xef\xbf\xbd\xef\xbf\xbd");
	IS(tare_text_add_csv, "", "");
}

TEST(markup_is_cut_between_characters)
{
	struct tare_str out = { 0 };

	tare_text_add_markup(&out,
	                     "&\xef\xbf\xbf"
	                     "ö&&",
	                     4);
	CHECK_STR(tare_str_text(&out), "&amp;?ö…");
	tare_str_free(&out);
}

TEST(markup_cannot_leave_its_element_or_attribute)
{
	IS(add_markup, "</script>]]>\"'&\033", "&lt;/script&gt;]]&gt;&quot;&#39;&amp;?");
}

TEST(markdown_shows_marks_as_they_are)
{
	IS(add_cell, "a|b<i>`c`&", "a\\|b&lt;i&gt;\\`c\\`&amp;");
	IS(add_cell, "-5.0", "-5.0");
	IS(add_line, "- x", "\\- x");
	IS(add_line, "    12. x", "12\\. x");
	IS(add_line, "12 x.", "12 x.");
}
