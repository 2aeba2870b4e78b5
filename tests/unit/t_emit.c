/* SPDX-License-Identifier: Apache-2.0 */
#include "base/emit.h"
#include "emit_account.h"
#include "test.h"

#include <math.h>

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
		TARE_COLUMN(kinds, change, "c", "change", CHANGE), TARE_COLUMN(kinds, ns, "d", "time", DURATION),
		TARE_COLUMN(kinds, number, "n", "number", NUMBER), TARE_COLUMN(kinds, share, "p", "share", PERCENT),
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
	TARE_COLUMN(bound, pid, "pid", "PID", COUNT, .unknown = TARE_UNKNOWN_NEGATIVE, .is_blank = true),
	TARE_COLUMN(bound, bytes, "bytes", "OWN", BYTES, .is_sum = true),
	TARE_COLUMN(bound, total, "total", "OF", BYTES, .unknown = TARE_UNKNOWN_HUGE, .is_sum = true),
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
	CHECK_STR(tare_str_text(&s),
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
	CHECK_STR(tare_str_text(&s), "{\"table\": \"who\", \"name\": \"demo\"}\n{\"name\": \"two\\nlines\"}\n");
	tare_str_free(&s);
}

TEST(one_ledger_with_tabs)
{
	static const struct tare_column names[] = {
		TARE_COLUMN(named, name, "name", NULL, TEXT),
	};
	struct tare_str s = { 0 };
	struct tare_emit e;

	ledger(TARE_EMIT_TSV, &s);
	CHECK_STR(tare_str_text(&s), "label\tbytes\tcount\tevidence\telastic\n"
	                             "context\t549004083\t1\tweighed\t0\n"
	                             "größe, \"cached\"\t8876002509\t\t\t1\n"
	                             "\t\t\t\t\n");
	tare_str_cut(&s, 0);
	tare_emit_begin(&e, TARE_EMIT_TSV, &s);
	tare_emit_table(&e, "rows", NULL, names, 1);
	tare_emit_add(&e, &(struct named){ "a\tb\nc, \"d\"" });
	tare_emit_table_end(&e);
	tare_emit_end(&e);
	CHECK_STR(tare_str_text(&s), "name\na?b?c, \"d\"\n");
	tare_str_cut(&s, 0);
	kinds(TARE_EMIT_TSV, &s);
	CHECK_HAS(tare_str_text(&s), "0.828\t1\n-2097152\t0\t\t0\t0\n\nc\n");
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

/* Of numbers that nobody knows there is no sum. */
TEST(numbers_are_summed_too)
{
	static const struct tare_column all[] = {
		TARE_COLUMN(kinds, ns, "d", "time", DURATION),
		TARE_COLUMN(kinds, number, "n", "number", NUMBER, .is_sum = true),
		TARE_COLUMN(kinds, share, "p", "share", PERCENT, .is_sum = true),
	};
	struct tare_str s = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, &s);
	for (int i = 0; i < 2; i++) {
		tare_emit_table(&e, "rows", NULL, TARE_COLUMNS(all));
		tare_emit_add(&e, &(struct kinds){ .number = i ? NAN : 1.5, .share = .25 });
		tare_emit_add(&e, &(struct kinds){ .number = NAN, .share = .5 });
		tare_emit_sum(&e, "all");
		tare_emit_table_end(&e);
	}
	tare_emit_end(&e);
	CHECK_HAS(tare_str_text(&s), "\n all    1.50  75.0 %\n");
	CHECK_HAS(tare_str_text(&s), "\n all       –  75.0 %\n");
	tare_str_free(&s);
}
