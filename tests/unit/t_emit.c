/* SPDX-License-Identifier: Apache-2.0 */
#include "base/emit.h"
#include "test.h"

#include <math.h>

static const struct tare_column columns[] = {
	{ NULL, "ACCOUNT", TARE_COL_TEXT },        { "label", NULL, TARE_COL_TEXT },
	{ "bytes", "AT PEAK", TARE_COL_BYTES },    { "count", "count", TARE_COL_COUNT },
	{ "evidence", "evidence", TARE_COL_TEXT }, { "elastic", NULL, TARE_COL_FLAG },
};

static void ledger(enum tare_emit_format format, struct tare_str *out)
{
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_int(&e, "tare", 1);
	tare_emit_table(&e, "accounts", "GPU 0  NVIDIA H200", columns, 6);
	tare_emit_cell_text(&e, "context");
	tare_emit_indent(&e, 1);
	tare_emit_cell_text(&e, "context");
	tare_emit_cell_int(&e, INT64_C(549004083));
	tare_emit_cell_int(&e, 1);
	tare_emit_cell_text(&e, "weighed");
	tare_emit_cell_int(&e, 0);
	tare_emit_row(&e);
	tare_emit_cell_text(&e, "~ größe, \"cached\"");
	tare_emit_cell_text(&e, "größe, \"cached\"");
	tare_emit_cell_uint(&e, UINT64_C(8876002509));
	tare_emit_cell_unknown(&e);
	tare_emit_cell_text(&e, NULL);
	tare_emit_cell_int(&e, 1);
	tare_emit_row(&e);
	tare_emit_rule(&e);
	tare_emit_cell_text(&e, "unexplained");
	tare_emit_row(&e);
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

static void kinds(enum tare_emit_format format, struct tare_str *out)
{
	static const struct tare_column all[] = {
		{ "c", "change", TARE_COL_CHANGE }, { "d", "time", TARE_COL_DURATION },
		{ "n", "number", TARE_COL_NUMBER }, { "p", "share", TARE_COL_PERCENT },
		{ "f", "on", TARE_COL_FLAG },
	};
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_table(&e, "rows", NULL, all, 5);
	tare_emit_cell_int(&e, 2 << 20);
	tare_emit_cell_int(&e, 44000000);
	tare_emit_cell_number(&e, 1.5);
	tare_emit_cell_number(&e, .828);
	tare_emit_cell_int(&e, 1);
	tare_emit_cell_int(&e, 99); /* one too many */
	tare_emit_row(&e);
	tare_emit_cell_int(&e, -(2 << 20));
	tare_emit_cell_int(&e, 0);
	tare_emit_cell_number(&e, NAN);
	tare_emit_cell_number(&e, 0);
	tare_emit_cell_int(&e, 0);
	tare_emit_row(&e);
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
