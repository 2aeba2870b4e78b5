/* SPDX-License-Identifier: Apache-2.0 */
/* A table as text, fitted: what tests of laws look at. */
#ifndef TARE_TEST_FIT_WORLD_H
#define TARE_TEST_FIT_WORLD_H

#include "fit/fit_report.h"
#include "test.h"

struct world {
	struct tare_arena arena;
	struct tare_str text;
	struct tare_problem problem;
	struct tare_fitted fitted;
	struct tare_fit_report report;
};

static void fit(struct world *w, const char *target)
{
	struct tare_problem_ask ask = { .target = target };
	struct tare_table table;
	struct tare_err err = { 0 };

	if (tare_table_parse("test", tare_str_text(&w->text), w->text.len, &w->arena, &table, &err) ||
	    tare_problem_make(&table, &ask, &w->arena, &w->problem, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	tare_fit_make(&w->problem.data, &w->arena, &w->fitted);
	tare_fit_report_make(&w->problem, &w->fitted, &w->report);
}

static void end(struct world *w)
{
	tare_fit_report_free(&w->report);
	tare_fit_free(&w->fitted);
	tare_problem_free(&w->problem);
	tare_arena_free(&w->arena);
	tare_str_free(&w->text);
}

#endif
