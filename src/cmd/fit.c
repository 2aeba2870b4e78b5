/* SPDX-License-Identifier: Apache-2.0 */
/* `tare fit`: fits laws to a table, a sweep or a recording. */
#include "cmd/fit.h"

#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/format.h"

#include <string.h>

struct options {
	const char *target, *params, *predict;
	struct tare_operands where;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, target, "target", 't', STRING, "COLUMN",
	         "what to find a law for; of a sweep, instead of everything, such as need or seconds"),
	TARE_OPT(options, params, "params", 'p', STRING, "A,B",
	         "the parameters; without this option, every column that can be one"),
	TARE_OPT(options, predict, "predict", 0, STRING, "CELLS.csv",
	         "give each row of this table back with predicted, low and high"),
	TARE_OPT(options, where, "where", 0, LIST, "COLUMN=VALUE",
	         "use only the rows with this value; may be given several times"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_fit = {
	.name = "fit",
	.synopsis = "find the law behind measured runs, and predict others",
	.operands = "TABLE|DB|REC",
	.description =
		"TABLE is CSV with one row per run: parameters, and what was measured. tare fit finds how the "
		"target depends on the parameters: a sum of few products of their powers, or the greatest of "
		"a few such sums, because a peak is the greatest of what each phase of a program takes. It "
		"says how wrong the law is on rows left out, what each parameter does, what is only an "
		"assumption, and which cell to run next. Columns with words (and with only 0 and 1) are "
		"categorical. Rows of the same parameters are repeats: their mean counts, of a sweep's memory the "
		"middle one.\n\n"
		"Of the file of tare sweep it finds the laws of what the runs needed (without what is elastic), "
		"of every phase and of every account. Of a recording, and of a sweep too, it finds those of what "
		"phases changed, by the parameters in their names (force_graph max_iter=800).\n\n"
		"As CSV the predicted rows are printed, or the terms of the laws. low and high hold 9 of 10 measurements, as far as the law goes on. How laws are chosen, "
		"and how good they are: docs/FIT.md.",
	.examples = "tare fit runs.csv --target peak_bytes --params batch,layers\n"
				"tare fit runs.csv -t peak_bytes -p batch,layers --predict cells.csv --csv\n"
				"tare fit sweep.db\n"
				"tare fit sweep.db -t need --predict cells.csv\n"
				"tare fit graphs.csv -t mib -p L --where quantity=force_graph",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.min_operands = 1,
	.max_operands = 1,
	.progress = "fitting",
	.run = tare_cmd_fit,
};

static int filter(struct tare_table *t, const struct tare_operands *where, struct tare_arena *arena,
                  struct tare_err *err)
{
	for (size_t i = 0; i < where->count; i++) {
		const char *equals = strchr(where->items[i], '=');
		size_t column;
		const char *name;

		if (!equals)
			return tare_err_set(err, TARE_E_USAGE, "fit: --where %s: it takes COLUMN=VALUE", where->items[i]);
		name = tare_arena_strndup(arena, where->items[i], (size_t)(equals - where->items[i]));
		column = tare_table_column(t, name);
		if (column == TARE_TABLE_NONE)
			return tare_table_no_column(t, name, err);
		tare_table_where(t, column, equals + 1);
		if (!t->row_count)
			return tare_err_set(err, TARE_E_EMPTY, "fit: no row has %s", where->items[i]);
	}
	return 0;
}

/* Data of tables only has no members for laws: their terms are rows. */
static bool has_terms(const struct tare_emit *e)
{
	return !tare_emit_is_for_people(e) && !tare_emit_has_members(e);
}

static bool is_one_cell(const struct tare_forecast_part *part)
{
	return part->problem.data.row_count == 1;
}

/* One cell is a measurement, and no law follows from it. */
static int refuse_one_cell(const struct tare_problem *p, struct tare_err *err)
{
	const struct tare_fit_data *d = &p->data;
	TARE_FREED_BY(tare_str_free) struct tare_str cell = { 0 };

	for (size_t i = 0; i < d->param_count; i++) {
		tare_str_addf(&cell, "%s%s=", i ? " " : " for ", d->params[i].name);
		if (d->params[i].is_level)
			tare_str_add(&cell, d->params[i].levels[0]);
		else
			tare_str_addf(&cell, "%g", d->params[i].least);
	}
	tare_err_set(err, TARE_E_EMPTY,
	             "fit: %s was measured in one cell only%s, and one cell is no law; run others, in "
	             "which a parameter has another value",
	             p->target, tare_str_text(&cell));
	return TARE_E_EMPTY;
}

static void begin(struct tare_cmd_call *c, struct tare_emit *e, const struct tare_fit_source *source)
{
	tare_cmd_begin(c, e);
	tare_emit_simulated(e, source->is_simulated);
	tare_emit_uint(e, "tare", 1);
}

/* One quantity: its law, or those of the phases that it is the greatest of. */
static void show_one(struct tare_cmd_call *c, const struct tare_fit_source *source, const struct tare_forecast *f,
                     const struct tare_table *cells)
{
	struct tare_emit e;

	begin(c, &e, source);
	if (f->count == 1) {
		tare_fit_print(&e, &f->parts[0].problem, &f->parts[0].fitted);
	} else {
		tare_emit_str(&e, "target", "need");
		tare_emit_note(&e, "need is the greatest of what its phases take:");
		tare_fit_print_parts(&e, f);
	}
	if (cells)
		tare_fit_print_cells(&e, f, cells);
	else if (has_terms(&e))
		for (size_t i = 0; i < f->count; i++)
			tare_fit_print_terms(&e, &f->parts[i].problem, &f->parts[i].fitted);
	tare_emit_end(&e);
}

/* Every quantity that was measured. What never changes is one line. */
static int show_all(struct tare_cmd_call *c, struct tare_fit_source *source, const struct tare_problem_ask *ask,
                    struct tare_err *err)
{
	struct tare_series_list *list = &source->list;
	struct tare_forecast all = { .parts = tare_xcalloc(list->count, sizeof(*all.parts)) };
	struct tare_emit e;
	int rc = 0;

	for (size_t i = 0; i < list->count && !rc; i++) {
		rc = tare_forecast_add(&all, list, i, ask, err);
		if (rc || !is_one_cell(&all.parts[all.count - 1]))
			continue;
		if (all.count == 1 && i + 1 == list->count)
			rc = refuse_one_cell(&all.parts[0].problem, err);
		tare_forecast_drop_last(&all);
	}
	if (!rc) {
		begin(c, &e, source);
		tare_fit_print_parts(&e, &all);
		for (size_t i = 0; i < all.count && has_terms(&e); i++)
			tare_fit_print_terms(&e, &all.parts[i].problem, &all.parts[i].fitted);
		tare_emit_end(&e);
	}
	tare_forecast_free(&all);
	return rc;
}

static int fit_source(struct tare_cmd_call *c, struct tare_fit_source *source, const struct tare_problem_ask *ask,
                      struct tare_err *err)
{
	struct tare_forecast forecast;
	int rc;

	if (!source->is_table && !ask->target)
		return show_all(c, source, ask, err);
	if (source->is_table)
		rc = tare_forecast_of_table(&forecast, &source->table, ask, err);
	else
		rc = tare_forecast_of_series(&forecast, &source->list, ask->target, ask, err);
	if (rc)
		return rc;
	if (is_one_cell(&forecast.parts[0]))
		rc = refuse_one_cell(&forecast.parts[0].problem, err);
	else
		show_one(c, source, &forecast, ask->cells);
	tare_forecast_free(&forecast);
	return rc;
}

/* Of a sweep or a recording, series that have no such row are left out, but not the one asked for. */
static int filter_all(struct tare_fit_source *source, const struct options *o, struct tare_err *err)
{
	struct tare_series_list *list = &source->list;
	struct tare_err why = { 0 };
	int rc;

	if (source->is_table)
		return filter(&source->table, &o->where, &source->arena, err);
	for (size_t i = list->count; i-- > 0;) {
		rc = filter(&list->items[i].table, &o->where, &list->arena, err);
		if (!rc)
			continue;
		if (o->target && !strcmp(list->items[i].name, o->target))
			return rc;
		if (!why.code || rc == TARE_E_EMPTY) /* the column is there, the value is not */
			why = *err;
		tare_series_drop(list, i);
	}
	if (list->count)
		return 0;
	*err = why;
	return why.code;
}

int tare_cmd_fit(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const char *names[TARE_FIT_PARAMS_MAX];
	struct tare_problem_ask ask = { .target = o->target, .params = o->params ? names : NULL };
	struct tare_fit_source source;
	struct tare_table cells;
	int rc = tare_fit_source_open(&source, c->rest.items[0], err);

	if (rc)
		return rc;
	if (source.is_table && !o->target)
		rc = tare_err_set(err, TARE_E_USAGE, "fit: name the column to find a law for with --target");
	if (!rc && o->params)
		rc = tare_fit_split_params(o->params, &source.arena, names, &ask.param_count, err);
	if (!rc)
		rc = filter_all(&source, o, err);
	if (!rc && o->predict) {
		rc = tare_table_read(o->predict, &source.arena, &cells, err);
		ask.cells = &cells;
		if (!ask.target)
			ask.target = source.list.count ? source.list.items[0].name : NULL;
	}
	if (!rc)
		rc = fit_source(c, &source, &ask, err);
	tare_fit_source_close(&source);
	return rc;
}
