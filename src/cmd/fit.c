/* SPDX-License-Identifier: Apache-2.0 */
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/fit_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *target, *params, *predict;
	struct tare_operands where;
	bool json, csv;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, target, "target", 't', STRING, "COLUMN", "what to find a law for"),
	TARE_OPT(options, params, "params", 'p', STRING, "A,B",
		 "the parameters; without this option, every column that can be one"),
	TARE_OPT(options, predict, "predict", 0, STRING, "CELLS.csv",
		 "give each row of this table back with predicted, low and high"),
	TARE_OPT(options, where, "where", 0, LIST, "COLUMN=VALUE",
		 "use only the rows with this value; may be given several times"),
	TARE_OPT(options, json, "json", 0, FLAG, NULL, "print JSON (docs/JSON.md)"),
	TARE_OPT(options, csv, "csv", 0, FLAG, NULL,
		 "print CSV: the predicted rows, or the terms of the laws"),
	TARE_OPT_END,
};

const struct tare_command tare_command_fit = {
	.name = "fit",
	.synopsis = "find the law behind measured runs, and predict others",
	.operands = "TABLE",
	.description =
		"TABLE is CSV with one row per run: parameters, and what was measured. tare fit finds how the "
		"target depends on the parameters: a sum of few products of their powers, or the greatest of "
		"a few such sums, because a peak is the greatest of what each phase of a program takes. It "
		"says how wrong the law is on rows left out, what each parameter does, what is only an "
		"assumption, and which cell to run next. Columns with words (and with only 0 and 1) are "
		"categorical. Rows of the same parameters are repeats: their mean counts.\n\n"
		"low and high hold 9 of 10 measurements, as far as the law goes on. How laws are chosen, "
		"and how good they are: docs/FIT.md.",
	.examples = "tare fit runs.csv --target peak_bytes --params batch,layers\n"
		    "tare fit runs.csv -t peak_bytes -p batch,layers --predict cells.csv --csv\n"
		    "tare fit graphs.csv -t mib -p L --where quantity=force_graph",
	.opts = opts,
	.min_operands = 1,
	.max_operands = 1,
	.run = tare_cmd_fit,
};

/* "a,b" → names in the arena. */
static int split_params(const char *text, struct tare_arena *arena, const char **names,
			size_t *count, struct tare_err *err)
{
	*count = 0;
	for (const char *at = text; *at;) {
		size_t len = strcspn(at, ",");

		if (!len || *count == TARE_FIT_PARAMS_MAX)
			return tare_err_set(
				err, TARE_E_USAGE,
				len ? "fit: at most %d parameters"
				    : "fit: --params takes names with commas between: a,b (at most %d)",
				TARE_FIT_PARAMS_MAX);
		names[(*count)++] = tare_arena_strndup(arena, at, len);
		at += len + (at[len] == ',');
	}
	return 0;
}

static int filter(struct tare_table *t, const struct tare_operands *where, struct tare_arena *arena,
		  struct tare_err *err)
{
	for (size_t i = 0; i < where->count; i++) {
		const char *equals = strchr(where->items[i], '=');
		size_t column;
		const char *name;

		if (!equals)
			return tare_err_set(err, TARE_E_USAGE,
					    "fit: --where %s: it takes COLUMN=VALUE",
					    where->items[i]);
		name = tare_arena_strndup(arena, where->items[i],
					  (size_t)(equals - where->items[i]));
		column = tare_table_column(t, name);
		if (column == TARE_TABLE_NONE)
			return tare_err_set(err, TARE_E_USAGE,
					    "fit: the table has no column \"%s\"", name);
		tare_table_where(t, column, equals + 1);
		if (!t->row_count)
			return tare_err_set(err, TARE_E_EMPTY, "fit: no row has %s",
					    where->items[i]);
	}
	return 0;
}

static void show(const struct options *o, const struct tare_problem *p,
		 const struct tare_table *cells, struct tare_arena *arena, struct tare_str *out)
{
	struct tare_fitted fitted;
	struct tare_emit e;

	tare_fit_make(&p->data, arena, &fitted);
	tare_emit_begin(&e,
			o->json  ? TARE_EMIT_JSON
			: o->csv ? TARE_EMIT_CSV
				 : TARE_EMIT_TEXT,
			out);
	tare_emit_uint(&e, "tare", 1);
	tare_fit_print(&e, p, &fitted);
	if (cells)
		tare_fit_print_cells(&e, p, &fitted, cells);
	else if (o->csv)
		tare_fit_print_terms(&e, p, &fitted);
	tare_emit_end(&e);
	tare_fit_free(&fitted);
}

static int fit(const char *path, const struct options *o, struct tare_str *out,
	       struct tare_err *err)
{
	const char *names[TARE_FIT_PARAMS_MAX];
	struct tare_problem_ask ask = { .target = o->target, .params = o->params ? names : NULL };
	struct tare_arena arena = { 0 };
	struct tare_table table, cells;
	struct tare_problem problem;
	int rc = tare_table_read(path, &arena, &table, err);

	if (!rc && o->params)
		rc = split_params(o->params, &arena, names, &ask.param_count, err);
	if (!rc)
		rc = filter(&table, &o->where, &arena, err);
	if (!rc && o->predict) {
		rc = tare_table_read(o->predict, &arena, &cells, err);
		ask.cells = &cells;
	}
	if (!rc)
		rc = tare_problem_make(&table, &ask, &arena, &problem, err);
	if (!rc) {
		show(o, &problem, ask.cells, &arena, out);
		tare_problem_free(&problem);
	}
	tare_arena_free(&arena);
	return rc;
}

int tare_cmd_fit(int argc, char **argv)
{
	struct options o = { 0 };
	struct tare_operands rest;
	struct tare_str out = { 0 };
	struct tare_err err = { 0 };
	int code = tare_cmd_parse(&tare_command_fit, argc, argv, &o, &rest), rc;

	if (code >= 0)
		return code;
	if (!o.target)
		rc = tare_err_set(&err, TARE_E_USAGE,
				  "fit: name the column to find a law for with --target");
	else
		rc = fit(rest.items[0], &o, &out, &err);
	if (!rc)
		fputs(tare_str_text(&out), stdout);
	tare_str_free(&out);
	tare_operands_free(&o.where);
	tare_operands_free(&rest);
	return rc ? tare_cmd_fail(&err) : TARE_EXIT_OK;
}
