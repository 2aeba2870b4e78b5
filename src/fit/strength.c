/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How strong a law is. Some law can be laid through any numbers, through noise too. Two things tell: how much less
 * wrong the law is on cells left out than the middle of all cells; and, where that does not decide, how good a law is
 * found when the same values are dealt out to the cells at random. A law that is no better than those is chance,
 * unless one of its parameters shows in cells that differ in nothing else.
 */
#include "fit/fit.h"

#include "base/comparator.h"
#include "base/xalloc.h"
#include "fit/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEALS = 49,        /* a law that is better than all of these is chance once in 50 times */
	CELLS_TO_DEAL = 6, /* fewer have too few orders to tell anything by */
	CELLS_DEALT = 64,  /* more take too long */
	CELLS_MANY = 20,
};
#define SAME_WITHIN   0.02 /* the middle is wrong by less: the quantity hardly varies */
#define WEAK_ABOVE    0.5  /* of what the middle is wrong by */
#define WEAK_OF_FEW   0.1  /* the same where there are too few cells to deal */
#define PLAIN_OF_MANY 0.3  /* noise over many cells never gives a law that is less wrong than this */
#define PLAIN_OF_FEW  0.03
#define PLAIN_TREND   3.0 /* standard deviations: chance once in 400 times */

TARE_SCALAR_COMPARATOR(by_value, double)

static double middle_of(const double *sorted, size_t n)
{
	return n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
}

/* Of the sorted values without number `out`. */
static double middle_without(const double *sorted, size_t n, size_t out)
{
	size_t low = (n - 2) / 2, high = (n - 1) / 2;

	if (n < 2)
		return middle_of(sorted, n);
	return (sorted[low + (low >= out)] + sorted[high + (high >= out)]) / 2;
}

/* The errors of the middle on cells left out, as those of laws are measured; returns their mean. */
static double errors_of_middle(const struct tare_fit_data *d, const double *sorted, double *error)
{
	double sum = 0;

	for (size_t i = 0; i < d->row_count; i++) {
		size_t at = 0;

		while (sorted[at] != d->y[i])
			at++;
		error[i] = fabs(d->y[i] - middle_without(sorted, d->row_count, at)) / d->scale[i];
		sum += error[i] / (double)d->row_count;
	}
	return sum;
}

/* Where 9 of 10 further values are: of many cells their own 5th and 95th of 100, else by Student's t. */
static void spread(struct tare_fitted *f, const double *sorted)
{
	size_t n = f->data.row_count;
	double sum = 0, mean = 0, half;

	f->middle = middle_of(sorted, n);
	if (n >= CELLS_MANY) {
		size_t out = (size_t)(0.05 * (double)(n + 1));

		f->middle_low = sorted[out ? out - 1 : 0];
		f->middle_high = sorted[n - (out ? out : 1)];
		return;
	}
	for (size_t i = 0; i < n; i++)
		mean += sorted[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (sorted[i] - mean) * (sorted[i] - mean);
	half = n > 1 ? tare_num_student90(n - 1) * sqrt(sum / (double)(n - 1) * (1 + 1 / (double)n)) : 0;
	f->middle_low = f->middle - half < sorted[0] ? f->middle - half : sorted[0];
	f->middle_high = f->middle + half > sorted[n - 1] ? f->middle + half : sorted[n - 1];
	if (f->middle_low < 0 && !f->is_signed)
		f->middle_low = 0;
}

/* Not random, for the same table must have the same law; but as good as that. */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Deals the values out to the cells anew. */
static void deal(struct tare_fit_data *d, uint64_t *state)
{
	for (size_t i = d->row_count; i > 1; i--) {
		size_t j = (size_t)(next_random(state) % i);
		double y = d->y[i - 1], weight = d->weight[i - 1];

		d->y[i - 1] = d->y[j];
		d->weight[i - 1] = d->weight[j];
		d->y[j] = y;
		d->weight[j] = weight;
	}
}

/* How wrong the best law for these cells is on cells left out. */
static double wrong_by(const struct tare_fit_data *d)
{
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };
	TARE_FREED_HERE struct tare_fitted *f = tare_xcalloc(1, sizeof(*f));
	double error;

	f->data = *d;
	tare_fit_data_scale(&f->data, &arena);
	tare_terms_make(&f->data, &arena, &f->terms);
	tare_fit_search(f, TARE_FIT_ALL_LAWS);
	tare_fit_measure(f);
	error = f->mean_error;
	tare_fit_free(f);
	return error;
}

/* As many cells as are dealt, any: every k-th of a grid would have one value of a parameter only. */
static void thin(const struct tare_fit_data *d, struct tare_arena *arena, uint64_t *state, struct tare_fit_data *out)
{
	size_t left = d->row_count < CELLS_DEALT ? d->row_count : CELLS_DEALT;
	TARE_FREED_HERE bool *keep = tare_xcalloc(d->row_count + 1, sizeof(*keep));

	for (size_t i = 0; i < d->row_count; i++) {
		keep[i] = next_random(state) % (d->row_count - i) < left;
		left -= keep[i];
	}
	tare_fit_data_subset(d, keep, arena, out);
}

/* Is one of the laws for values that were dealt out at random as good as that for the cells as they are? */
static bool may_be_chance(const struct tare_fitted *f)
{
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };
	struct tare_fit_data d;
	uint64_t state = 4711;
	double wrong;
	bool is_chance = false;

	thin(&f->data, &arena, &state, &d);
	wrong = d.row_count == f->data.row_count ? f->mean_error : wrong_by(&d);
	for (int i = 0; i < DEALS && !is_chance; i++) {
		deal(&d, &state);
		is_chance = wrong_by(&d) <= wrong;
	}
	return is_chance;
}

/* Bit p: parameter p is in a law. */
static uint32_t params_of(const struct tare_fitted *f)
{
	uint32_t mask = 0;

	for (size_t l = 0; l < f->laws.count; l++)
		for (size_t k = 0; k < f->laws.law[l].count; k++)
			mask |= f->terms.mask[f->laws.law[l].term[k]];
	return mask;
}

/* Of two cells that differ in `param` alone: 1 if the one with more of it has more of the quantity, -1 if less. */
static int agrees(const struct tare_fit_data *d, size_t param, size_t i, size_t j)
{
	double x = tare_fit_x(d, i)[param] - tare_fit_x(d, j)[param], y = d->y[i] - d->y[j];

	return x * y > 0 ? 1 : x * y < 0 ? -1 : 0;
}

/*
 * Among cells that differ in one parameter alone, whatever else they are: does the quantity go with the parameter far
 * more often than against it (or the other way round)? Kendall's S over all such groups, in its standard deviations.
 */
static bool goes_with(const struct tare_fit_data *d, size_t param)
{
	size_t *group = tare_xcalloc(2 * d->row_count + 1, sizeof(*group)), *rows = group + d->row_count, groups;
	double sum = 0, variance = 0;

	for (size_t i = 0; i < d->row_count; i++)
		rows[i] = i;
	groups = tare_fit_data_group(d, ((1u << d->param_count) - 1) & ~(1u << param), rows, d->row_count, group);
	for (size_t g = 0; g < groups && d->param_count > 1; g++) {
		double n = 0;

		for (size_t i = 0; i < d->row_count; i++) {
			if (group[i] != g)
				continue;
			n++;
			for (size_t j = 0; j < i; j++)
				sum += group[j] == g ? agrees(d, param, i, j) : 0;
		}
		variance += n * (n - 1) * (2 * n + 5) / 18;
	}
	free(group);
	return fabs(sum) > PLAIN_TREND * sqrt(variance) && variance > 0;
}

static bool has_trend(const struct tare_fitted *f, uint32_t params)
{
	for (size_t p = 0; p < f->data.param_count; p++)
		if (params >> p & 1 && !f->data.params[p].is_level && goes_with(&f->data, p))
			return true;
	return false;
}

static bool is_nothing(const struct tare_fitted *f, double left)
{
	uint32_t params = params_of(f);
	size_t n = f->data.row_count;

	if (!params || left >= 1)
		return true;
	if (n < CELLS_TO_DEAL || left < (n < CELLS_MANY ? PLAIN_OF_FEW : PLAIN_OF_MANY))
		return false;
	return !has_trend(f, params) && may_be_chance(f);
}

/* The constant is the first term. */
static void answer_middle(struct tare_fitted *f, double *error, double mean)
{
	size_t n = f->data.row_count;

	f->strength = TARE_FIT_NO_LAW;
	f->laws = (struct tare_laws){ .count = 1 };
	f->laws.law[0] = (struct tare_law){ .count = 1, .coef = { f->middle } };
	f->rival_count = 0;
	f->free_count = n - 1;
	f->mean_error = mean;
	f->error = tare_num_quantile(error, n, 0.9);
	f->explained = 0;
}

void tare_fit_judge(struct tare_fitted *f)
{
	size_t n = f->data.row_count;
	double *sorted = tare_xcalloc(2 * n + 1, sizeof(*sorted)), *error = sorted + n, mean, left;

	memcpy(sorted, f->data.y, n * sizeof(*sorted));
	TARE_SORT(sorted, n, by_value);
	spread(f, sorted);
	mean = errors_of_middle(&f->data, sorted, error);
	left = mean > 0 ? f->mean_error / mean : 0;
	f->explained = !(mean > SAME_WITHIN) ? __builtin_nan("") : left < 1 ? 1 - left : 0;
	if (n > 2 && mean > SAME_WITHIN && is_nothing(f, left))
		answer_middle(f, error, mean);
	else if (mean > SAME_WITHIN && left > (n < CELLS_TO_DEAL ? WEAK_OF_FEW : WEAK_ABOVE))
		f->strength = TARE_FIT_WEAK_LAW;
	free(sorted);
}
