/* SPDX-License-Identifier: Apache-2.0 */
/* Says a quantity of a cell by its law, or by the laws of its phases. */
#include "fit/forecast.h"

#include "base/xalloc.h"
#include "fit/unseen.h"

#include <stdlib.h>
#include <string.h>

/* `total`: what it is a part of, or NULL. */
static int add_part(struct tare_forecast *f, const char *name, const struct tare_table *t,
                    const struct tare_problem_ask *ask, const struct tare_fitted *total, struct tare_err *err)
{
	struct tare_forecast_part *part = &f->parts[f->count];
	int rc;

	part->name = tare_arena_strdup(&f->arena, name);
	rc = tare_problem_make(t, ask, &f->arena, &part->problem, err);
	if (rc)
		return rc;
	if (total)
		tare_fit_make_part(&part->problem.data, total, &f->arena, &part->fitted);
	else
		tare_fit_make(&part->problem.data, &f->arena, &part->fitted);
	f->count++;
	return 0;
}

int tare_forecast_of_table(struct tare_forecast *out, const struct tare_table *t, const struct tare_problem_ask *ask,
                           struct tare_err *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	out->parts = tare_xcalloc(1, sizeof(*out->parts));
	rc = add_part(out, ask->target, t, ask, NULL, err);
	if (rc)
		tare_forecast_free(out);
	else
		out->error = out->parts[0].fitted.mean_error;
	return rc;
}

/* Accounts and phases are parts of what a program needs, if that has a law here. */
static const struct tare_fitted *total_of(const struct tare_forecast *f, const struct tare_series *s)
{
	bool is_part = s->kind == TARE_SERIES_ACCOUNT || s->kind == TARE_SERIES_PHASE;

	return is_part && f->count && !strcmp(f->parts[0].name, "need") ? &f->parts[0].fitted : NULL;
}

int tare_forecast_add(struct tare_forecast *f, struct tare_series_list *list, size_t series,
                      const struct tare_problem_ask *ask, struct tare_err *err)
{
	const struct tare_series *s = &list->items[series];
	struct tare_problem_ask mine = *ask;

	mine.target = s->name;
	mine.is_bytes = s->kind != TARE_SERIES_SECONDS;
	return add_part(f, s->name, &s->table, &mine, total_of(f, s), err);
}

void tare_forecast_drop_last(struct tare_forecast *f)
{
	struct tare_forecast_part *part = &f->parts[--f->count];

	tare_fit_free(&part->fitted);
	tare_problem_free(&part->problem);
}

/*
 * The mean error of the greatest of the parts over the rows of `t`, or -1: the parts do not have the
 * parameters of a row, or are not where the quantity is greatest.
 */
static double error_of(const struct tare_forecast *f, const struct tare_table *t, const char *target)
{
	size_t column = tare_table_column(t, target);
	double sum = 0;

	for (size_t r = 0; r < t->row_count; r++) {
		struct tare_prediction got;
		double y, e;

		if (!tare_table_number(tare_table_cell(t, r, column), &y) || !(y > 0) ||
		    !tare_forecast_at(f, t, r, &got, NULL, NULL))
			return -1;
		e = got.value / y - 1;
		sum += e < 0 ? -e : e;
	}
	return t->row_count ? sum / (double)t->row_count : -1;
}

static int by_phases(struct tare_forecast *out, struct tare_series_list *list, const struct tare_problem_ask *ask)
{
	memset(out, 0, sizeof(*out));
	out->parts = tare_xcalloc(list->count + 1, sizeof(*out->parts));
	for (size_t i = 0; i < list->count; i++) {
		struct tare_series *s = &list->items[i];
		struct tare_problem_ask mine = *ask;
		int rc;

		if (s->kind != TARE_SERIES_PHASE || !s->is_outer)
			continue;
		mine.target = s->name;
		mine.is_bytes = true;
		rc = add_part(out, s->name, &s->table, &mine, NULL, NULL);
		if (rc)
			return rc;
	}
	return out->count ? 0 : TARE_E_EMPTY;
}

int tare_forecast_of_series(struct tare_forecast *out, struct tare_series_list *list, const char *name,
                            const struct tare_problem_ask *ask, struct tare_err *err)
{
	struct tare_series *s = tare_series_find(list, name);
	struct tare_problem_ask mine = *ask;
	struct tare_forecast phases;
	int rc;

	if (!s)
		return tare_err_set(err, TARE_E_USAGE, "nothing that was measured is called \"%s\"", name);
	mine.target = s->name;
	mine.is_bytes = s->kind != TARE_SERIES_SECONDS;
	rc = tare_forecast_of_table(out, &s->table, &mine, err);
	if (rc || s->kind != TARE_SERIES_NEED)
		return rc;
	if (!by_phases(&phases, list, ask)) {
		phases.error = error_of(&phases, &s->table, s->name);
		tare_unseen_mark(&phases, &s->table, s->name);
		/* Only if it is clearly better: the program may take more outside its phases. */
		if (phases.error >= 0 && phases.error < error_of(out, &s->table, s->name) * 0.8) {
			tare_forecast_free(out);
			*out = phases;
			for (size_t i = 0; i < out->count; i++)
				out->parts[i].problem.arena = &out->arena;
			return 0;
		}
		out->phases = tare_xcalloc(1, sizeof(*out->phases));
		*out->phases = phases;
		for (size_t i = 0; i < phases.count; i++)
			out->phases->parts[i].problem.arena = &out->phases->arena;
		return 0;
	}
	out->has_no_phases = !phases.count;
	tare_forecast_free(&phases);
	return 0;
}

bool tare_forecast_at(const struct tare_forecast *f, const struct tare_table *cells, size_t row,
                      struct tare_prediction *out, const struct tare_forecast_part **part, const char **why)
{
	const struct tare_forecast_part *most = f->parts;

	for (size_t i = 0; i < f->count; i++) {
		double x[TARE_FIT_PARAMS_MAX];
		struct tare_prediction got;

		if (!tare_problem_cell(&f->parts[i].problem, cells, row, x, why))
			return false;
		tare_fit_predict(&f->parts[i].fitted, x, &got);
		if (!(got.high - got.low < 1e300)) {
			if (why)
				*why = "too far beyond what was measured";
			return false;
		}
		if (!i) {
			*out = got;
		} else {
			double low = got.low > out->low ? got.low : out->low;
			double high = got.high > out->high ? got.high : out->high;

			if (got.value > out->value) {
				*out = got;
				most = &f->parts[i];
			}
			out->low = low;
			out->high = high;
		}
	}
	if (f->count)
		tare_unseen_raise(f, cells, row, out, &most);
	if (part)
		*part = most;
	return f->count > 0;
}
