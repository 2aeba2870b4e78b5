/* SPDX-License-Identifier: Apache-2.0 */
#include "base/expr.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static int lookup(void *arg, const char *name, double *value, struct tare_err *err)
{
	(void)arg;
	if (!strcmp(name, "batch"))
		*value = 4;
	else if (!strcmp(name, "time of one step"))
		*value = 0.5;
	else
		return tare_err_set(err, TARE_E_NOT_FOUND, "there is no %s", name);
	return 0;
}

static double value(const char *text)
{
	struct tare_err err = { 0 };
	struct tare_expr *e = NULL;
	double v = -77;

	if (tare_expr_parse(&e, text, &err) || tare_expr_eval(e, lookup, NULL, &v, &err))
		fprintf(stderr, "# %s\n", err.text);
	tare_expr_free(e);
	return v;
}

TEST(arithmetic_has_its_usual_order)
{
	CHECK(value("1+2*3") == 7);
	CHECK(value("(1+2)*3") == 9);
	CHECK(value("8-4-2") == 2);
	CHECK(value("16/4/2") == 2);
	CHECK(value(" 2 * - 3 + +1 ") == -5);
	CHECK(value("-(1-3)") == 2);
	CHECK(value("1.5e3") == 1500);
	CHECK(value(".5") == 0.5);
}

TEST(names_are_looked_up)
{
	struct tare_expr *e = NULL;

	CHECK(value("{batch}*500") == 2000);
	CHECK(value("{batch}/{time of one step}") == 8);
	CHECK_INT(tare_expr_parse(&e, "{a}+{b}*{a}", NULL), 0);
	CHECK_INT(tare_expr_name_nr(e), 2);
	CHECK_STR(tare_expr_name(e, 0), "a");
	CHECK_STR(tare_expr_name(e, 1), "b");
	tare_expr_free(e);
}

TEST(what_is_no_expression_is_refused_with_its_place)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "column 1: the expression ends too early" },
		{ "1+", "column 3: the expression ends too early" },
		{ "1 2", "column 3: expected + - * / or the end" },
		{ "(1", "expected )" },
		{ "1)", "column 2" },
		{ "batch*2", "expected a number, {name} or (" },
		{ "{batch", "this { has no }" },
		{ "{}", "no name" },
		{ "2^3", "column 2" },
		{ "0x10", "decimal" },
		{ "nan", "expected a number" },
		{ ".", "expected a number" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct tare_expr *e = NULL;
		struct tare_err err = { 0 };

		CHECK_INT(tare_expr_parse(&e, bad[i].text, &err), TARE_E_USAGE);
		CHECK(strstr(err.text, bad[i].says) != NULL);
		CHECK(e == NULL);
	}
}

TEST(nesting_has_an_end)
{
	char text[4096];
	struct tare_expr *e = NULL;

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	CHECK_INT(tare_expr_parse(&e, text, NULL), TARE_E_USAGE);
	memset(text, '-', sizeof(text) - 2);
	text[sizeof(text) - 2] = '1';
	CHECK_INT(tare_expr_parse(&e, text, NULL), TARE_E_USAGE);
}

TEST(results_that_are_none)
{
	struct tare_err err = { 0 };
	struct tare_expr *e = NULL;
	double v = -77;

	CHECK_INT(tare_expr_parse(&e, "1/({batch}-4)", NULL), 0);
	CHECK_INT(tare_expr_eval(e, lookup, NULL, &v, &err), TARE_E_RANGE);
	tare_expr_free(e);
	CHECK_INT(tare_expr_parse(&e, "1+{other}", NULL), 0);
	CHECK_INT(tare_expr_eval(e, lookup, NULL, &v, &err), TARE_E_NOT_FOUND);
	CHECK_STR(err.text, "there is no other");
	CHECK(v == -77);
	tare_expr_free(e);
}
