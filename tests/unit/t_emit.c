/* SPDX-License-Identifier: Apache-2.0 */
#include "base/emit.h"
#include "test.h"

#include <math.h>
#include <string.h>

struct account {
	const char *name, *label;
	int64_t bytes;
	int count;
	const char *evidence;
	bool is_elastic, is_known;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(account, name, NULL, "ACCOUNT", TEXT),
	TARE_COLUMN(account, label, "label", NULL, TEXT),
	TARE_COLUMN(account, bytes, "bytes", "AT PEAK", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(account, count, "count", "count", COUNT, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(account, evidence, "evidence", "evidence", TEXT),
	TARE_COLUMN(account, is_elastic, "elastic", NULL, FLAG,
		    .when = TARE_WHEN(account, is_known)),
};

static void ledger(enum tare_emit_format format, struct tare_str *out)
{
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_int(&e, "tare", 1);
	tare_emit_table(&e, "accounts", "GPU 0  NVIDIA H200", TARE_COLUMNS(columns));
	tare_emit_add_as(&e,
			 &(struct account){ .name = "context",
					    .label = "context",
					    .bytes = INT64_C(549004083),
					    .count = 1,
					    .evidence = "weighed",
					    .is_known = true },
			 (struct tare_row_look){ .level = 1 });
	tare_emit_add(&e, &(struct account){ .name = "~ größe, \"cached\"",
					     .label = "größe, \"cached\"",
					     .bytes = INT64_C(8876002509),
					     .count = -1,
					     .is_elastic = true,
					     .is_known = true });
	tare_emit_rule(&e);
	tare_emit_add(&e, &(struct account){ .name = "unexplained", .bytes = -1, .count = -1 });
	tare_emit_table_end(&e);
	tare_emit_note(&e, "! %d hints", 2);
	tare_emit_end(&e);
}

TEST(one_ledger_as_text)
{
	struct tare_str s = { 0 };

	ledger(TARE_EMIT_TEXT, &s);
	CHECK_STR(tare_str_text(&s), "GPU 0  NVIDIA H200                      MiB\n"
				     "ACCOUNT            AT PEAK  count  evidence\n"
				     "  context            523.6      1  weighed\n"
				     "~ größe, \"cached\"  8,464.8      –  –\n"
				     "───────────────────────────────────────────\n"
				     "unexplained              –      –  –\n"
				     "! 2 hints\n");
	tare_str_free(&s);
}

TEST(one_ledger_as_json)
{
	struct tare_str s = { 0 };

	ledger(TARE_EMIT_JSON, &s);
	CHECK_STR(tare_str_text(&s), "{\n"
				     "  \"tare\": 1,\n"
				     "  \"accounts\": [\n"
				     "    {\n"
				     "      \"label\": \"context\",\n"
				     "      \"bytes\": 549004083,\n"
				     "      \"count\": 1,\n"
				     "      \"evidence\": \"weighed\",\n"
				     "      \"elastic\": false\n"
				     "    },\n"
				     "    {\n"
				     "      \"label\": \"größe, \\\"cached\\\"\",\n"
				     "      \"bytes\": 8876002509,\n"
				     "      \"count\": null,\n"
				     "      \"evidence\": null,\n"
				     "      \"elastic\": true\n"
				     "    },\n"
				     "    {\n"
				     "      \"label\": null,\n"
				     "      \"bytes\": null,\n"
				     "      \"count\": null,\n"
				     "      \"evidence\": null,\n"
				     "      \"elastic\": null\n"
				     "    }\n"
				     "  ]\n"
				     "}\n");
	tare_str_free(&s);
}

TEST(one_ledger_as_csv)
{
	struct tare_str s = { 0 };

	ledger(TARE_EMIT_CSV, &s);
	CHECK_STR(tare_str_text(&s), "label,bytes,count,evidence,elastic\n"
				     "context,549004083,1,weighed,0\n"
				     "\"größe, \"\"cached\"\"\",8876002509,,,1\n"
				     ",,,,\n");
	tare_str_free(&s);
}

struct kinds {
	int64_t change, ns;
	double number, share;
	bool is_on;
};

static void kinds(enum tare_emit_format format, struct tare_str *out)
{
	static const struct tare_column all[] = {
		TARE_COLUMN(kinds, change, "c", "change", CHANGE),
		TARE_COLUMN(kinds, ns, "d", "time", DURATION),
		TARE_COLUMN(kinds, number, "n", "number", NUMBER),
		TARE_COLUMN(kinds, share, "p", "share", PERCENT),
		TARE_COLUMN(kinds, is_on, "f", "on", FLAG),
	};
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_table(&e, "rows", NULL, TARE_COLUMNS(all));
	tare_emit_add(&e, &(struct kinds){ 2 << 20, 44000000, 1.5, .828, true });
	tare_emit_add(&e, &(struct kinds){ -(2 << 20), 0, NAN, 0, false });
	tare_emit_line(&e, "a line of its own");
	tare_emit_table_end(&e);
	tare_emit_table(&e, "more", NULL, all, 1);
	tare_emit_table_end(&e);
	tare_emit_end(&e);
}

TEST(every_kind_as_text)
{
	struct tare_str s = { 0 };

	kinds(TARE_EMIT_TEXT, &s);
	CHECK_STR(tare_str_text(&s), "change MiB   time  number   share   on\n"
				     "      +2.0  44 ms    1.50  82.8 %  yes\n"
				     "      -2.0   0 ns       –   0.0 %\n"
				     "a line of its own\n"
				     "change MiB\n");
	tare_str_free(&s);
}

TEST(every_kind_as_data)
{
	struct tare_str s = { 0 };

	kinds(TARE_EMIT_CSV, &s);
	CHECK_STR(tare_str_text(&s), "c,d,n,p,f\n2097152,44000000,1.5,0.828,1\n"
				     "-2097152,0,,0,0\n\nc\n");
	tare_str_cut(&s, 0);
	kinds(TARE_EMIT_JSON, &s);
	CHECK_HAS(tare_str_text(&s), "\"c\": -2097152,\n      \"d\": 0,\n      \"n\": null,\n"
				     "      \"p\": 0,\n      \"f\": false\n");
	CHECK_HAS(tare_str_text(&s), "\"more\": []\n}\n");
	tare_str_free(&s);
}

/* ---- columns bound to fields ---- */

struct named {
	char name[16];
};

enum state { RUNS, ENDED };

static const char *state_name(unsigned state)
{
	return state == RUNS ? "runs" : "ended";
}

struct bound {
	const char *label;
	struct tare_str made;
	enum state state;
	bool is_on, has_pin;
	int rank;
	unsigned number;
	int64_t pid, bytes;
	uint64_t total, pin;
	double rate;
};

static void add_nested(struct tare_emit *e, const char *key, const void *row)
{
	static const struct tare_column inner[] = {
		TARE_COLUMN(bound, rank, "rank", NULL, COUNT),
	};

	tare_emit_table(e, key, NULL, TARE_COLUMNS(inner));
	tare_emit_add(e, row);
	tare_emit_table_end(e);
}

static const struct tare_column bound_columns[] = {
	TARE_COLUMN(bound, label, "label", "NAME", TEXT),
	TARE_COLUMN(bound, made, "made", NULL, TEXT),
	TARE_COLUMN(bound, state, "state", "STATE", TEXT, .name = state_name),
	TARE_COLUMN(bound, is_on, "on", NULL, FLAG),
	TARE_COLUMN(bound, rank, "rank", NULL, COUNT),
	TARE_NESTED("ranks", add_nested),
	TARE_COLUMN(bound, number, "number", NULL, COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(bound, pid, "pid", "PID", COUNT, .unknown = TARE_UNKNOWN_NEGATIVE,
		    .is_blank = true),
	TARE_COLUMN(bound, bytes, "bytes", "OWN", BYTES, .is_sum = true),
	TARE_COLUMN(bound, total, "total", "OF", BYTES, .unknown = TARE_UNKNOWN_HUGE,
		    .is_sum = true),
	TARE_COLUMN(bound, pin, "pin", NULL, ADDRESS, .when = TARE_WHEN(bound, has_pin)),
	TARE_COLUMN(bound, rate, "rate", NULL, NUMBER),
};

static void bound(enum tare_emit_format format, struct tare_str *out)
{
	struct bound a = { .label = "a",
			   .state = ENDED,
			   .is_on = true,
			   .rank = -2,
			   .number = 7,
			   .pid = 431,
			   .bytes = 1 << 20,
			   .total = 3 << 20,
			   .pin = 0x7f00,
			   .has_pin = true,
			   .rate = .5 };
	struct bound none = { .pid = -1, .bytes = 2 << 20, .total = UINT64_MAX, .rate = NAN };
	struct tare_emit e;

	tare_str_add(&a.made, "by hand");
	tare_emit_begin(&e, format, out);
	tare_emit_table(&e, "rows", "title", TARE_COLUMNS(bound_columns));
	tare_emit_add(&e, &a);
	tare_emit_add_as(&e, &none, (struct tare_row_look){ .level = 1 });
	tare_emit_leave_out(&e, &none);
	tare_emit_rest(&e, "1 more");
	tare_emit_sum(&e, "all");
	tare_emit_table_end(&e);
	tare_emit_object(&e, "none", TARE_COLUMNS(bound_columns), NULL);
	tare_emit_end(&e);
	tare_str_free(&a.made);
}

TEST(bound_fields_as_text)
{
	struct tare_str s = { 0 };

	bound(TARE_EMIT_TEXT, &s);
	CHECK_STR(tare_str_text(&s), "title                    MiB\n"
				     "NAME    STATE  PID  OWN   OF\n"
				     "a       ended  431  1.0  3.0\n"
				     "  –     runs        2.0    –\n"
				     "1 more              2.0  0.0\n"
				     "────────────────────────────\n"
				     "all                 5.0  3.0\n");
	tare_str_free(&s);
}

TEST(bound_fields_as_csv)
{
	struct tare_str s = { 0 };

	bound(TARE_EMIT_CSV, &s);
	CHECK_STR(tare_str_text(&s), "label,made,state,on,rank,number,pid,bytes,total,pin,rate\n"
				     "a,by hand,ended,1,-2,7,431,1048576,3145728,0x7f00,0.5\n"
				     ",,runs,0,0,,,2097152,,,\n");
	tare_str_free(&s);
}

TEST(bound_fields_as_json)
{
	struct tare_str s = { 0 };

	bound(TARE_EMIT_JSON, &s);
	CHECK_HAS(tare_str_text(&s), "\"label\": \"a\",\n"
				     "      \"made\": \"by hand\",\n"
				     "      \"state\": \"ended\",\n"
				     "      \"on\": true,\n"
				     "      \"rank\": -2,\n"
				     "      \"ranks\": [\n"
				     "        {\n"
				     "          \"rank\": -2\n"
				     "        }\n"
				     "      ],\n"
				     "      \"number\": 7,\n"
				     "      \"pid\": 431,\n"
				     "      \"bytes\": 1048576,\n"
				     "      \"total\": 3145728,\n"
				     "      \"pin\": \"0x7f00\",\n"
				     "      \"rate\": 0.5\n");
	CHECK_HAS(tare_str_text(&s), "\"label\": null,\n"
				     "      \"made\": \"\",\n"
				     "      \"state\": \"runs\",\n"
				     "      \"on\": false,\n");
	CHECK_HAS(tare_str_text(&s), "\"number\": null,\n"
				     "      \"pid\": null,\n"
				     "      \"bytes\": 2097152,\n"
				     "      \"total\": null,\n"
				     "      \"pin\": null,\n"
				     "      \"rate\": null\n");
	CHECK_HAS(tare_str_text(&s), "  ],\n  \"none\": null\n}\n");
	tare_str_free(&s);
}

/* What stands around tables is left out, and a row of a table in a row is as in JSON. */
TEST(a_line_of_json_for_each_row)
{
	struct tare_str s = { 0 };

	ledger(TARE_EMIT_JSON_LINES, &s);
	CHECK_STR(
		tare_str_text(&s),
		"{\"table\": \"accounts\", \"label\": \"context\", \"bytes\": 549004083, \"count\": 1, "
		"\"evidence\": \"weighed\", \"elastic\": false}\n"
		"{\"table\": \"accounts\", \"label\": \"größe, \\\"cached\\\"\", \"bytes\": 8876002509, "
		"\"count\": null, \"evidence\": null, \"elastic\": true}\n"
		"{\"table\": \"accounts\", \"label\": null, \"bytes\": null, \"count\": null, "
		"\"evidence\": null, \"elastic\": null}\n");
	tare_str_cut(&s, 0);
	bound(TARE_EMIT_JSON_LINES, &s);
	CHECK_HAS(tare_str_text(&s), "\"rank\": -2, \"ranks\": [{\"rank\": -2}], \"number\": 7, ");
	CHECK_HAS(tare_str_text(&s), "\"rate\": null}\n");
	tare_str_free(&s);
}

TEST(an_object_is_a_line_of_json)
{
	static const struct tare_column chars[] = {
		TARE_COLUMN(named, name, "name", NULL, TEXT),
	};
	struct tare_str s = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON_LINES, &s);
	tare_emit_str(&e, "by", "account");
	tare_emit_object(&e, "who", TARE_COLUMNS(chars), &(struct named){ "demo" });
	tare_emit_object(&e, NULL, TARE_COLUMNS(chars), &(struct named){ "two\nlines" });
	tare_emit_object(&e, "nobody", TARE_COLUMNS(chars), NULL);
	tare_emit_end(&e);
	CHECK_STR(tare_str_text(&s),
		  "{\"table\": \"who\", \"name\": \"demo\"}\n{\"name\": \"two\\nlines\"}\n");
	tare_str_free(&s);
}

TEST(a_sum_of_no_rows_is_zero)
{
	struct tare_str s = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, &s);
	tare_emit_table(&e, "rows", NULL, TARE_COLUMNS(bound_columns));
	tare_emit_sum(&e, "all");
	tare_emit_table_end(&e);
	tare_emit_end(&e);
	CHECK_HAS(tare_str_text(&s), "\nall                   0.0     0.0\n");
	tare_str_free(&s);
}

/* ---- for people: Markdown and HTML ---- */

TEST(one_ledger_as_markdown)
{
	struct tare_str s = { 0 };

	ledger(TARE_EMIT_MARKDOWN, &s);
	CHECK_STR(tare_str_text(&s), "## GPU 0  NVIDIA H200\n"
				     "\n"
				     "| ACCOUNT | AT PEAK MiB | count | evidence |\n"
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
	CHECK_HAS(tare_str_text(&s),
		  "<thead><tr><th>ACCOUNT</th><th class=\"n\">AT PEAK MiB</th>"
		  "<th class=\"n\">count</th><th>evidence</th></tr></thead>\n<tbody>\n"
		  "<tr><td style=\"padding-left:1.8em\">context</td><td class=\"n\">523.6</td>"
		  "<td class=\"n\">1</td><td>weighed</td></tr>\n"
		  "<tr><td>~ größe, &quot;cached&quot;</td>");
	CHECK_HAS(tare_str_text(&s),
		  "</tbody></table></div>\n<p>! 2 hints</p>\n</body>\n</html>\n");
	CHECK(!strstr(tare_str_text(&s), "<script"));
	tare_str_free(&s);
}

/* Names are a stranger's: what they say stays text, in a cell, a title, a sentence. */
static const char hostile[] =
	"<script>alert(1)</script> | `x` | **b** [a](javascript:b) \n# h \033[2J";

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

/* ---- for people: values that say their kind, series, intervals ---- */

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
	tare_emit_add_as(&e,
			 &(struct figure){ "pool",
					   { true, TARE_COL_BYTES, NULL, 1 << 20, 2 << 20 } },
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
	CHECK_HAS(tare_str_text(&s),
		  "| **used** | **3.0** |\n| &nbsp;&nbsp;\\~ pool | 1.0–2.0 |\n");
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
	CHECK_HAS(tare_str_text(&s),
		  "<h2>course</h2>\n<div class=\"course\"><p><span>8.0 MiB</span>");
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
	CHECK_HAS(tare_str_text(&s),
		  "left:0.000%;width:24.752%;background:var(--c0)\" title=\"x 1.0 s\"");
	CHECK_HAS(tare_str_text(&s),
		  "left:24.752%;width:24.752%;background:var(--c1)\" title=\"y 1.0 s\"");
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
