/* SPDX-License-Identifier: Apache-2.0 */
/* Fits one quantity: searches laws, compares them, and says how sure the best is. */
#include "fit/fit.h"

#include "base/xalloc.h"
#include "fit/num.h"
#include "fit/stairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CELLS_MAX = 400, /* cells that the search looks at: its time grows with their number */
	STEPS_SEEN = 64, /* predictions of fewer steps are rounded to a step */
	FEW = 12,
	STAIR_NUMBERS = 3,
};

/* Keeps every k-th cell, and the extremes of each parameter. */
static void thin(const struct tare_fit_data *d, struct tare_arena *arena, struct tare_fit_data *out)
{
	TARE_FREED_HERE bool *keep = tare_xcalloc(d->row_count + 1, sizeof(*keep));
	size_t stride = d->row_count / CELLS_MAX + 1;

	for (size_t i = 0; i < d->row_count; i += stride)
		keep[i] = true;
	for (size_t p = 0; p < d->param_count; p++) {
		size_t least = 0, most = 0;

		for (size_t i = 0; i < d->row_count; i++) {
			if (tare_fit_x(d, i)[p] < tare_fit_x(d, least)[p])
				least = i;
			if (tare_fit_x(d, i)[p] >= tare_fit_x(d, most)[p])
				most = i;
		}
		keep[least] = keep[most] = true;
	}
	tare_fit_data_subset(d, keep, arena, out);
}

/* How much less sure a prediction is at x than at the measured cells on average. */
static double reach(const struct tare_fitted *f, size_t law, const double *x, double scale)
{
	double columns[TARE_LAW_TERMS_MAX];

	for (size_t k = 0; k < f->laws.law[law].count; k++)
		columns[k] = tare_term_value(&f->data, &f->terms.items[f->laws.law[law].term[k]], x) / scale;
	return f->basis[law].count == f->laws.law[law].count ? tare_linear_reach(&f->basis[law], columns) : 1;
}

static void errors_beyond(struct tare_fitted *f)
{
	const struct tare_fit_data *d = &f->data;
	TARE_FREED_HERE double *error = tare_xcalloc(d->row_count + 1, sizeof(*error));

	for (size_t p = 0; p < d->param_count; p++) {
		size_t count;

		f->error_beyond[p] = f->error;
		if (d->params[p].is_level || d->params[p].level_count < 2)
			continue;
		if (d->params[p].level_count == 2) {
			f->error_beyond[p] = 3 * f->error; /* two values: the law is assumed */
			continue;
		}
		count = tare_laws_beyond(d, &f->terms, &f->laws, p, error);
		for (size_t i = 0; i < count; i++)
			error[i] += f->error / 2;
		f->error_beyond[p] = tare_num_quantile(error, count, 0.9);
		if (f->error_beyond[p] < f->error)
			f->error_beyond[p] = f->error;
	}
}

/* Do the cells that are not hidden still tell what each parameter does? */
static bool is_varied(const struct tare_fit_data *d, const bool *hidden)
{
	for (size_t p = 0; p < d->param_count; p++) {
		bool is_other = d->params[p].level_count < 2;
		size_t first = SIZE_MAX;

		for (size_t i = 0; i < d->row_count && !is_other; i++) {
			if (hidden[i])
				continue;
			first = first == SIZE_MAX ? i : first;
			is_other = tare_fit_x(d, i)[p] != tare_fit_x(d, first)[p];
		}
		if (!is_other)
			return false;
	}
	return true;
}

/* 90 of 100 errors on the largest cells, `share` of all, when those are hidden; 0: that says nothing. */
static double error_of_largest(const struct tare_fitted *f, double share)
{
	size_t n = f->data.row_count, count;
	double *error = tare_xcalloc(n + 1, sizeof(*error)), from, most = 0;
	TARE_FREED_HERE bool *hidden = tare_xcalloc(n + 1, sizeof(*hidden));

	memcpy(error, f->data.y, n * sizeof(*error));
	from = tare_num_quantile(error, n, 1 - share);
	for (size_t i = 0; i < n; i++)
		hidden[i] = f->data.y[i] > from;
	if (is_varied(&f->data, hidden) && (count = tare_laws_hidden(&f->data, &f->terms, &f->laws, hidden, error)) > 0)
		most = tare_num_quantile(error, count, 0.9);
	free(error);
	return most;
}

/*
 * No parameter of a cell may be beyond what was measured, and its quantity still more than all that was
 * measured.
 */
static void errors_above(struct tare_fitted *f)
{
	static const double shares[] = { 0.3, 0.5 };

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double error = error_of_largest(f, shares[i]);

		f->error_above = error > f->error_above ? error : f->error_above;
	}
	f->error_above += f->error;
	for (size_t i = 0; i < f->data.row_count; i++)
		f->most = f->data.y[i] > f->most ? f->data.y[i] : f->most;
}

/*
 * How wrong the laws may be beyond the edges of what was measured: of several, what each of them makes unsure, and as much
 * again for each further one. A term of two parameters may be too small to be seen among the cells, and grows with both.
 */
static double error_past(const struct tare_fitted *f, const struct tare_prediction *at)
{
	double sum = 0, count = 0;

	for (size_t p = 0; p < f->data.param_count; p++)
		if (at->times[p] > 1) {
			sum += f->error_beyond[p] * (1 + log(at->times[p]));
			count++;
		}
	sum *= count;
	/* too few edges were hidden to know how wrong a prediction beyond an edge can be */
	return f->data.row_count < FEW ? 2 * sum : sum;
}

static double nearest_step(const struct tare_fitted *f, double v)
{
	if (f->step > 0 && v > 0 && v < STEPS_SEEN * f->step)
		return f->step * (double)(uint64_t)(v / f->step + 0.5);
	return v;
}

/*
 * How far from a step a law may be and still hit the step. With many parameters, one of them climbs a few
 * steps by chance.
 */
static double near_step(const struct tare_fitted *f)
{
	size_t numbers = 0;

	for (size_t p = 0; p < f->data.param_count; p++)
		numbers += !f->data.params[p].is_level && f->data.params[p].level_count > 1;
	return numbers <= STAIR_NUMBERS ? f->step / 100 : f->step / 2;
}

/*
 * There are few steps and the laws do not hit them: a law that is rounded up to a step may hit all of them.
 */
static bool climb(struct tare_fitted *f)
{
	const struct tare_fit_data *d = &f->data;
	double *error, most = 0, near = near_step(f);
	bool is_missed = false;
	size_t count;

	for (size_t i = 0; i < d->row_count; i++) {
		double v = tare_laws_at(d, &f->terms, &f->laws, tare_fit_x(d, i), NULL);

		is_missed |= fabs(v - d->y[i]) > near;
		most = d->y[i] > most ? d->y[i] : most;
	}
	if (!(f->step > 0) || !is_missed || most >= STEPS_SEEN * f->step)
		return false;
	count = tare_stairs_search(d, &f->terms, f->step, f->rival);
	if (!count)
		return false;
	f->rival_count = count;
	f->laws = f->rival[0];
	f->free_count = d->row_count - 2;
	f->most = most;
	error = tare_xcalloc(d->row_count, sizeof(*error));
	tare_stairs_errors(d, &f->terms, f->step, &f->laws, error);
	for (size_t i = 0; i < d->row_count; i++)
		f->mean_error += error[i] / (double)d->row_count;
	f->error = tare_num_quantile(error, d->row_count, 0.9);
	free(error);
	return true;
}

/* Is a term of these shapes, whatever its levels, among the laws? Parameters are told by their names. */
static bool is_shape_of(const struct tare_fitted *like, const struct tare_term *other, const struct tare_fit_data *d,
                        const struct tare_term *t)
{
	for (size_t p = 0; p < d->param_count; p++) {
		uint8_t power = d->params[p].is_level ? 0 : t->of[p], had = 0;

		for (size_t q = 0; q < like->data.param_count; q++)
			if (!strcmp(like->data.params[q].name, d->params[p].name))
				had = like->data.params[q].is_level ? 0 : other->of[q];
		if (power != had)
			return false;
	}
	return t->is_minus == other->is_minus;
}

static void keep_like(struct tare_fitted *f, const struct tare_fitted *like)
{
	TARE_FREED_HERE bool *keep = tare_xcalloc(f->terms.count + 1, sizeof(*keep));

	for (size_t i = 0; i < f->terms.count; i++)
		for (size_t l = 0; l < like->laws.count; l++)
			for (size_t k = 0; k < like->laws.law[l].count; k++)
				keep[i] |=
					is_shape_of(like, &like->terms.items[like->laws.law[l].term[k]], &f->data, &f->terms.items[i]);
	tare_terms_keep(&f->terms, keep);
}

void tare_fit_make_like(const struct tare_fit_data *d, const struct tare_fitted *like, struct tare_arena *arena,
                        struct tare_fitted *out)
{
	memset(out, 0, sizeof(*out));
	out->explained = __builtin_nan("");
	thin(d, arena, &out->data);
	out->step = tare_fit_data_step(d);
	for (size_t i = 0; i < d->row_count; i++)
		out->is_signed |= d->y[i] < 0;
	tare_terms_make(&out->data, arena, &out->terms);
	if (like)
		keep_like(out, like);
	tare_fit_search(out, like ? like->laws.count : TARE_FIT_ALL_LAWS);
	out->is_stairs = climb(out);
	if (out->is_stairs)
		return;
	tare_fit_measure(out);
	tare_fit_judge(out);
	if (out->strength == TARE_FIT_NO_LAW)
		return;
	errors_beyond(out);
	errors_above(out);
	tare_doubts_make(out, arena, &out->doubts);
}

void tare_fit_make(const struct tare_fit_data *d, struct tare_arena *arena, struct tare_fitted *out)
{
	tare_fit_make_like(d, NULL, arena, out);
}

static double times_beyond(const struct tare_fit_param *param, double x)
{
	double span = param->most - param->least;

	if (x >= param->least && x <= param->most)
		return 1;
	if (x > param->most && param->most > 0)
		return x / param->most;
	if (x < param->least && x > 0)
		return param->least / x;
	if (!(span > 0))
		return 2; /* only one value was measured, and x is another */
	return 1 + (x < param->least ? param->least - x : x - param->most) / span;
}

static void beyond(const struct tare_fitted *f, const double *x, struct tare_prediction *out)
{
	out->beyond = 1;
	for (size_t p = 0; p < f->data.param_count; p++) {
		const struct tare_fit_param *param = &f->data.params[p];
		double times = param->is_level ? 1 : times_beyond(param, x[p]);

		out->times[p] = times;
		out->is_less[p] = times > 1 && x[p] < param->least;
		if (times > out->beyond) {
			out->beyond = times;
			out->beyond_param = p;
			out->is_below = x[p] < param->least;
		}
	}
}

/* What the laws say that climb the measured steps, and at least a step. */
static void predict_stairs(const struct tare_fitted *f, const double *x, struct tare_prediction *out)
{
	for (size_t i = 0; i < f->rival_count; i++) {
		double v = tare_laws_at(&f->data, &f->terms, &f->rival[i], x, NULL);

		v = tare_stairs_up(v, f->step);
		if (!i) {
			out->value = v;
			out->low = v < f->step ? 0 : v - f->step;
			out->high = v + f->step;
		}
		out->low = v < out->low ? v : out->low;
		out->high = v > out->high ? v : out->high;
	}
}

/* Beyond what was measured: as wide as what the laws may lack. */
static void widen(const struct tare_fitted *f, const double *x, double noise, struct tare_prediction *out)
{
	double low, high;

	tare_doubts_at(f, x, out->value, &low, &high);
	low = out->value - hypot(out->value - low, noise);
	high = out->value + hypot(high - out->value, noise);
	out->low = low < out->low ? low : out->low;
	out->high = high > out->high ? high : out->high;
}

void tare_fit_predict(const struct tare_fitted *f, const double *x, struct tare_prediction *out)
{
	double scale, noise, half;

	memset(out, 0, sizeof(*out));
	beyond(f, x, out);
	if (f->is_stairs) {
		predict_stairs(f, x, out);
		return;
	}
	if (f->strength == TARE_FIT_NO_LAW) {
		out->value = f->middle;
		out->low = f->middle_low;
		out->high = f->middle_high;
		return;
	}
	out->value = nearest_step(f, tare_laws_at(&f->data, &f->terms, &f->laws, x, &out->law));
	scale = fabs(out->value);
	if (scale < f->data.least_scale)
		scale = f->data.least_scale;
	half = noise = f->error * sqrt(1 + reach(f, out->law, x, scale)) * scale;
	if (out->beyond > 1) {
		double far = error_past(f, out) * scale;

		half = far > half ? far : half;
	}
	if (f->most > 0 && out->value > f->most) {
		double far = f->error_above * scale * (1 + log(out->value / f->most));

		half = far > half ? far : half;
	}
	if (half < f->step)
		half = f->step;
	out->low = out->value - half;
	out->high = out->value + half;
	if (out->beyond > 1 || out->value > f->most)
		widen(f, x, noise, out);
	for (size_t i = 0; i < f->rival_count; i++) {
		double v = tare_laws_at(&f->data, &f->terms, &f->rival[i], x, NULL);

		if (v - half / 2 < out->low)
			out->low = v - half / 2;
		if (v + half / 2 > out->high)
			out->high = v + half / 2;
	}
	if (f->is_signed)
		return;
	out->value = out->value < 0 ? 0 : out->value;
	out->low = out->low < 0 ? 0 : out->low;
	out->high = out->high < 0 ? 0 : out->high;
}
