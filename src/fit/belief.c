/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How likely each coefficient of a term is that a law does not have: normal about the one of least squares, with the spread that noise leaves
 * it, cut at both ends. All that the term may be beforehand is as likely, from nothing to all of a cell, so a term that could be much and
 * that the cells leave little room has little evidence.
 */
#include "fit/belief.h"

#include <math.h>
#include <string.h>

#define SQRT_HALF    0.70710678118654752440
#define SQRT_TWO_PI  2.50662827463100050242
#define SAME         1e-12 /* what is left of a column that the law's columns make up */
#define LEAST_CHANCE 1e-300

static double below(double z)
{
	return 0.5 * erfc(-z * SQRT_HALF);
}

/* Takes from the column what the law's columns make of it (out->instead). */
static void part(const struct tare_belief_ask *ask, struct tare_belief *out)
{
	const struct tare_linear *fit = ask->fit;
	double share[TARE_LAW_TERMS_MAX] = { 0 };

	for (int pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < fit->count; k++) {
			double along = 0;

			for (size_t i = 0; i < fit->rows; i++)
				along += fit->q[k][i] * ask->column[i];
			share[k] += along;
			for (size_t i = 0; i < fit->rows; i++)
				ask->column[i] -= along * fit->q[k][i];
		}
	for (size_t k = fit->count; k-- > 0;) {
		double v = share[k];

		for (size_t j = k + 1; j < fit->count; j++)
			v -= fit->r[k][j] * out->instead[j];
		out->instead[k] = v / fit->r[k][k];
	}
}

/* The greatest coefficient with which no other falls below 0. */
static double room(const struct tare_belief_ask *ask, const struct tare_belief *b)
{
	double most = ask->most;

	for (size_t k = 0; k < ask->fit->count; k++)
		if (b->instead[k] > 0 && !ask->is_free[k] && ask->coef[k] < most * b->instead[k])
			most = ask->coef[k] / b->instead[k];
	return most;
}

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

bool tare_belief_make(const struct tare_belief_ask *ask, struct tare_belief *out)
{
	size_t n = ask->fit->rows;
	double whole = product(ask->column, ask->column, n), own, most, chance;

	memset(out, 0, sizeof(*out));
	part(ask, out);
	own = product(ask->column, ask->column, n);
	most = room(ask, out);
	if (!(most > 0))
		return false;
	if (own <= SAME * whole) {
		out->spread = INFINITY;
		out->to = most;
		out->evidence = log(most / ask->most);
		return true;
	}
	out->middle = product(ask->column, ask->fit->rest, n) / own;
	out->spread = ask->noise / sqrt(own);
	out->from = -out->middle / out->spread;
	out->to = (most - out->middle) / out->spread;
	chance = below(out->to) - below(out->from);
	if (!(chance > LEAST_CHANCE))
		return false;
	out->evidence = log(SQRT_TWO_PI * out->spread / ask->most * chance) + out->from * out->from / 2;
	return true;
}

double tare_belief_at(const struct tare_belief *b, double share)
{
	double from = b->from, to = b->to, want = below(from) + share * (below(to) - below(from));

	if (isinf(b->spread))
		return share * b->to;
	for (int i = 0; i < 60; i++) {
		double middle = (from + to) / 2;

		if (below(middle) < want)
			from = middle;
		else
			to = middle;
	}
	return b->middle + b->spread * (from + to) / 2;
}
