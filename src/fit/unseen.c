/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the phases that no measured run has shown as the greatest, and says where they may be it. */
#include "fit/unseen.h"

#include <string.h>

/* A phase that takes less than this share of the greatest is not the greatest: what is nearer is rounding. */
#define AS_GREAT 0.99

/* What was measured of a part in a row of another table. False: nothing. */
static bool measured(const struct tare_problem *p, const struct tare_table *t, size_t row, double *y)
{
	double x[TARE_FIT_PARAMS_MAX];

	if (!tare_problem_cell(p, t, row, x, NULL))
		return false;
	for (size_t i = 0; i < p->data.row_count; i++)
		if (!memcmp(tare_fit_x(&p->data, i), x, p->param_count * sizeof(double))) {
			*y = p->data.y[i];
			return true;
		}
	return false;
}

/* The greatest of a run: of all that it takes, and of its phases. */
static double greatest(const struct tare_forecast *phases, const struct tare_table *t, size_t row, size_t column)
{
	double most, y;

	if (!tare_table_number(tare_table_cell(t, row, column), &most))
		most = 0;
	for (size_t i = 0; i < phases->count; i++)
		if (measured(&phases->parts[i].problem, t, row, &y) && y > most)
			most = y;
	return most;
}

void tare_unseen_mark(struct tare_forecast *phases, const struct tare_table *t, const char *target)
{
	size_t column = tare_table_column(t, target);

	for (size_t i = 0; i < phases->count; i++) {
		struct tare_forecast_part *part = &phases->parts[i];
		bool is_known = false, is_seen = false;
		double y;

		for (size_t r = 0; r < t->row_count && !is_seen; r++)
			if (measured(&part->problem, t, r, &y)) {
				is_known = true;
				is_seen = y >= AS_GREAT * greatest(phases, t, r, column);
			}
		part->is_unseen = is_known && !is_seen && part->fitted.strength == TARE_FIT_LAW;
	}
}

static bool is_measured(const struct tare_forecast *f, const struct tare_table *cells, size_t row)
{
	double y;

	return measured(&f->parts[0].problem, cells, row, &y);
}

static bool predict(const struct tare_forecast_part *part, const struct tare_table *cells, size_t row,
                    struct tare_prediction *out)
{
	double x[TARE_FIT_PARAMS_MAX];

	if (!part->is_unseen || !tare_problem_cell(&part->problem, cells, row, x, NULL))
		return false;
	tare_fit_predict(&part->fitted, x, out);
	return out->high - out->low < 1e300;
}

void tare_unseen_raise(const struct tare_forecast *f, const struct tare_table *cells, size_t row,
                       struct tare_prediction *out, const struct tare_forecast_part **part)
{
	for (size_t i = 0; f->phases && i < f->phases->count && !is_measured(f, cells, row); i++) {
		struct tare_prediction got;

		if (!predict(&f->phases->parts[i], cells, row, &got))
			continue;
		if (got.value > out->value) {
			double high = out->high;

			*out = got;
			out->high = high > got.high ? high : got.high;
			*part = &f->phases->parts[i];
		} else if (got.high > out->high) {
			out->high = got.high;
		}
	}
}

/* What the seen phases take, or the law of everything. */
static bool seen_value(const struct tare_forecast *f, const struct tare_table *cells, size_t row, double *value)
{
	bool is_any = false;

	for (size_t i = 0; i < f->count; i++) {
		struct tare_prediction got;
		double x[TARE_FIT_PARAMS_MAX];

		if (f->parts[i].is_unseen || !tare_problem_cell(&f->parts[i].problem, cells, row, x, NULL))
			continue;
		tare_fit_predict(&f->parts[i].fitted, x, &got);
		if (!is_any || got.value > *value)
			*value = got.value;
		is_any = true;
	}
	return is_any;
}

const char *tare_unseen_at(const struct tare_forecast *f, const struct tare_table *cells, size_t row)
{
	const struct tare_forecast *phases = f->phases ? f->phases : f;
	const char *name = NULL;
	double most;

	if (is_measured(f, cells, row) || !seen_value(f, cells, row, &most))
		return NULL;
	for (size_t i = 0; i < phases->count; i++) {
		struct tare_prediction got;

		if (predict(&phases->parts[i], cells, row, &got) && got.high > most) {
			most = got.high;
			name = phases->parts[i].name;
		}
	}
	return name;
}
