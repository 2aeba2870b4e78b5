/* SPDX-License-Identifier: Apache-2.0 */
/* CSV as it comes, and what of it can be fitted. */
#include "base/str.h"
#include "fit/problem.h"
#include "test.h"

#include <stdlib.h>

static struct tare_arena arena;
static struct tare_err err;

static int parse(const char *text, struct tare_table *out)
{
	return tare_table_parse("t.csv", text, strlen(text), &arena, out, &err);
}

static void good(const char *text, struct tare_table *out)
{
	if (parse(text, out))
		test_fail(__FILE__, __LINE__, "%s", err.text);
}

TEST(plain_quoted_bom_and_crlf)
{
	struct tare_table t;

	good("\xef\xbb\xbf# where it comes from\r\nname,\"a, b\",c\r\n\r\n\"say \"\"hi\"\"\",1 , 2\r\nx,,\r\n", &t);
	CHECK_INT(t.column_count, 3);
	CHECK_INT(t.row_count, 2);
	CHECK_STR(t.columns[1], "a, b");
	CHECK_STR(tare_table_cell(&t, 0, 0), "say \"hi\"");
	CHECK_STR(tare_table_cell(&t, 0, 1), "1");
	CHECK_STR(tare_table_cell(&t, 0, 2), "2");
	CHECK(!tare_table_cell(&t, 1, 1) && !tare_table_cell(&t, 1, 2));
	good("a;b\n1;2\n", &t);
	CHECK_INT(t.column_count, 2);
	good("a\tb\n1\t2", &t);
	CHECK_STR(tare_table_cell(&t, 0, 1), "2");
	good("a,b\n1\n", &t); /* shorter than the head */
	CHECK(!tare_table_cell(&t, 0, 1));
	good("a\n\"two\nlines\"\n", &t);
	CHECK_STR(tare_table_cell(&t, 0, 0), "two\nlines");
	good("a\r1\r2\r", &t); /* an old Mac's */
	CHECK_INT(t.row_count, 2);
}

TEST(what_is_no_table)
{
	struct tare_table t;

	CHECK(parse("", &t) < 0);
	CHECK_HAS(err.text, "t.csv is empty");
	CHECK(parse("# only a remark\n", &t) < 0);
	CHECK(parse("a,b\n1,2,3\n", &t) < 0);
	CHECK_HAS(err.text, "line 2: 3 cells");
	CHECK(parse("a,b,a\n", &t) < 0);
	CHECK_HAS(err.text, "two columns \"a\"");
	CHECK(parse("a\n\"open\n", &t) < 0);
	CHECK_HAS(err.text, "line 2: a quote is never closed");
	CHECK(tare_table_parse("t.csv", "a\0b\n1\n", 6, &arena, &t, &err) < 0);
	CHECK(tare_table_read("/no/such/file.csv", &arena, &t, &err) < 0);
	CHECK_HAS(err.text, "/no/such/file.csv");
}

TEST(what_is_a_number)
{
	double v;

	CHECK(tare_table_number("-1.5e3", &v) && v == -1500);
	CHECK(tare_table_number("+7", &v) && v == 7);
	CHECK(!tare_table_number("", &v) && !tare_table_number(NULL, &v));
	CHECK(!tare_table_number("nan", &v) && !tare_table_number("inf", &v));
	CHECK(!tare_table_number("0x10", &v) && !tare_table_number("1e999", &v));
	CHECK(!tare_table_number("12x", &v) && !tare_table_number("1 2", &v));
	CHECK(!tare_table_number("e", &v) && !tare_table_number("-", &v));
}

TEST(where_keeps_rows)
{
	struct tare_table t;

	good("k,v\na,1\nb,2\na,3\n,4\n", &t);
	tare_table_where(&t, 0, "a");
	CHECK_INT(t.row_count, 2);
	CHECK_STR(tare_table_cell(&t, 1, 1), "3");
	tare_table_where(&t, 1, "3.0");
	CHECK_INT(t.row_count, 1);
}

static int make(const char *text, const char *target, const char *param, struct tare_problem *out)
{
	struct tare_table t;
	struct tare_problem_ask ask = { .target = target, .params = param ? &param : NULL, .param_count = !!param };

	good(text, &t);
	return tare_problem_make(&t, &ask, &arena, out, &err);
}

TEST(columns_become_parameters)
{
	struct tare_problem p;

	CHECK(!make("kind,flag,n,y\nx,0,1,5\ny,1,2,6\nx,1,3,nan\n", "y", NULL, &p));
	CHECK_INT(p.param_count, 3);
	CHECK(p.params[0].is_level && p.params[1].is_level && !p.params[2].is_level);
	CHECK_INT(p.data.row_count, 2);
	CHECK_INT(p.left_out, 1);
	tare_problem_free(&p);
	CHECK(!make("kind,n,y\nx,1,5\ny,2,6\n", "y", "n", &p));
	CHECK_INT(p.param_count, 1);
	tare_problem_free(&p);
}

TEST(what_cannot_be_fitted)
{
	struct tare_problem p;
	struct tare_str many = { 0 };

	CHECK(make("n,y\n", "y", NULL, &p) < 0);
	CHECK_HAS(err.text, "no row");
	CHECK(make("n,y\n1,a\n2,b\n", "y", NULL, &p) < 0);
	CHECK_HAS(err.text, "\"y\" holds no number");
	CHECK(make("n,y\n1,2\n", "z", NULL, &p) == TARE_E_USAGE);
	CHECK_HAS(err.text, "no column \"z\"");
	CHECK(make("n,y\n1,2\n", "y", "m", &p) == TARE_E_USAGE);
	CHECK(make("n,y\n1,2\n", "y", "y", &p) == TARE_E_USAGE);
	CHECK(make("n,y\n,2\n,3\n", "y", "n", &p) < 0);
	CHECK_HAS(err.text, "all its parameters");
	tare_str_add(&many, "id,y\n");
	for (int i = 0; i < 100; i++)
		tare_str_addf(&many, "w%d,%d\n", i, i);
	CHECK(make(tare_str_text(&many), "y", "id", &p) == TARE_E_USAGE);
	CHECK_HAS(err.text, "different words");
	CHECK(!make(tare_str_text(&many), "y", NULL, &p));
	CHECK_INT(p.note_count, 1);
	tare_problem_free(&p);
	tare_str_free(&many);
}

TEST(noise_is_read_or_refused)
{
	static const char alphabet[] = "a1,;\t\"\n\r#. -e\\\xff";
	uint64_t state = 99;

	for (int round = 0; round < 20000; round++) {
		char text[64];
		size_t len = (size_t)round % sizeof(text);
		struct tare_table t;

		for (size_t i = 0; i < len; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			text[i] = alphabet[(state >> 33) % (sizeof(alphabet) - 1)];
		}
		if (tare_table_parse("noise", text, len, &arena, &t, &err))
			CHECK(err.text[0]);
		tare_arena_free(&arena);
	}
}
