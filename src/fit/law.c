/* SPDX-License-Identifier: Apache-2.0 */
/* Computes laws at cells, and judges them by what they say of cells left out. */
#include "fit/law.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_ALONE 0.1 /* as in select.c */
#define LAW_COST    3.0 /* what one more law costs, beside the cost of its terms */
#define BEYOND      0.5 /* weight of errors on hidden greatest values; of others: 1 */

/* What a law says in a row of the data, divided by the row's scale. */
static double law_at_row(const struct tare_terms *terms, const struct tare_law *law, size_t row)
{
	double sum = 0;

	for (size_t k = 0; k < law->count; k++)
		sum += law->coef[k] * terms->values[law->term[k] * terms->row_count + row];
	return sum;
}

double tare_law_at(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_law *law,
                   const double *x)
{
	double sum = 0;

	for (size_t k = 0; k < law->count; k++)
		sum += law->coef[k] * tare_term_value(d, &terms->items[law->term[k]], x);
	return sum;
}

double tare_laws_at(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_laws *laws,
                    const double *x, size_t *owner)
{
	double most = 0;

	for (size_t l = 0; l < laws->count; l++) {
		double v = tare_law_at(d, terms, &laws->law[l], x);

		if (!l || v > most) {
			most = v;
			if (owner)
				*owner = l;
		}
	}
	return most;
}

void tare_laws_own(const struct tare_terms *terms, const struct tare_laws *laws, size_t *owner)
{
	for (size_t i = 0; i < terms->row_count; i++) {
		double most = 0;

		owner[i] = 0;
		for (size_t l = 0; l < laws->count; l++) {
			double v = law_at_row(terms, &laws->law[l], i);

			if (!l || v > most) {
				most = v;
				owner[i] = l;
			}
		}
	}
}

static size_t rows_of(const size_t *owner, size_t count, size_t law, size_t *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (owner[i] == law)
			rows[n++] = i;
	return n;
}

void tare_law_left_out(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_law *law,
                       const struct tare_linear *fit, const size_t *rows, size_t count, double alone, double *rest,
                       double *out)
{
	TARE_FREED_HERE double *room = tare_xcalloc(3 * count + 1, sizeof(double));
	TARE_FREED_HERE size_t *group = tare_xcalloc(count + 1, sizeof(*group));
	struct tare_linear_groups groups = { .of = group, .factor = room, .sums = room + count };
	uint32_t mask = 0;

	for (size_t k = 0; k < law->count; k++)
		mask |= terms->mask[law->term[k]];
	groups.count = tare_fit_data_group(d, mask, rows, count, group);
	for (size_t i = 0; i < count; i++) {
		room[i] = 1 / d->scale[rows[i]];
		rest[i] = d->y[rows[i]] / d->scale[rows[i]] - law_at_row(terms, law, rows[i]);
	}
	/* fit->rest will not do: the coefficients may be older than the rows. */
	tare_linear_left_out(fit, rest, &groups, alone, out);
}

/* The sum of squared errors, each on a row left out, of one law on its rows. */
static double errors(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_law *law,
                     const size_t *rows, size_t count)
{
	double *room = tare_xcalloc(2 * count + 1, sizeof(double)), *one = room + count, sum = 0;
	struct tare_linear fit;

	for (size_t i = 0; i < count; i++)
		room[i] = d->y[rows[i]] / d->scale[rows[i]];
	tare_linear_begin(&fit, room, count);
	for (size_t k = 0; k < law->count; k++) {
		for (size_t i = 0; i < count; i++)
			one[i] = terms->values[law->term[k] * terms->row_count + rows[i]];
		tare_linear_add(&fit, one);
	}
	tare_law_left_out(d, terms, law, &fit, rows, count, ERROR_ALONE, room, one);
	for (size_t i = 0; i < count; i++)
		sum += one[i] * one[i];
	tare_linear_end(&fit);
	free(room);
	return sum;
}

size_t tare_laws_hidden(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_laws *laws,
                        const bool *hidden, double *error)
{
	size_t n = d->row_count, count = 0;
	size_t *owner = tare_xcalloc(2 * n + 1, sizeof(*owner)), *rows = owner + n;
	struct tare_laws less = *laws;

	tare_laws_own(terms, laws, owner);
	for (size_t l = 0; l < laws->count; l++) {
		size_t k = 0;

		for (size_t i = 0; i < n; i++)
			if (owner[i] == l && !hidden[i])
				rows[k++] = i;
		if (k > less.law[l].count)
			tare_law_refit(d, terms, rows, k, &less.law[l]);
	}
	for (size_t i = 0; i < n; i++) {
		double most = 0, e;

		if (!hidden[i])
			continue;
		for (size_t l = 0; l < less.count; l++) {
			double v = law_at_row(terms, &less.law[l], i);

			if (!l || v > most)
				most = v;
		}
		e = fabs(most - d->y[i] / d->scale[i]);
		error[count++] = e < 1 ? e : 1;
	}
	free(owner);
	return count;
}

size_t tare_laws_beyond(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_laws *laws,
                        size_t param, double *error)
{
	TARE_FREED_HERE bool *hidden = tare_xcalloc(d->row_count + 1, sizeof(*hidden));

	for (size_t i = 0; i < d->row_count; i++)
		hidden[i] = tare_fit_x(d, i)[param] >= d->params[param].most;
	return tare_laws_hidden(d, terms, laws, hidden, error);
}

static double score(const struct tare_fit_data *d, double error, double cost)
{
	size_t n = d->row_count;

	return (double)n * log(error + tare_law_floor(n)) + log((double)(n < 8 ? 8 : n)) * cost;
}

void tare_laws_judge_beyond(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws)
{
	double *error = tare_xcalloc(d->row_count + 1, sizeof(*error)), sum = 0;
	size_t count = 0;

	for (size_t p = 0; p < d->param_count; p++) {
		size_t hidden;

		if (d->params[p].is_level || d->params[p].level_count < 3)
			continue;
		hidden = tare_laws_beyond(d, terms, laws, p, error);
		for (size_t i = 0; i < hidden; i++)
			sum += error[i] * error[i];
		count += hidden;
	}
	free(error);
	if (count)
		laws->score = score(d, (laws->error + BEYOND * sum / (double)count) / (1 + BEYOND), laws->cost);
}

void tare_laws_judge(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws)
{
	size_t n = d->row_count;
	size_t *owner = tare_xcalloc(2 * n + 1, sizeof(*owner)), *rows = owner + n;
	double sum = 0, cost = 0;
	TARE_FREED_HERE bool *seen = tare_xcalloc(terms->shape_count + 1, sizeof(*seen));

	tare_laws_own(terms, laws, owner);
	for (size_t l = 0; l < laws->count; l++) {
		size_t count = rows_of(owner, n, l, rows);

		sum += errors(d, terms, &laws->law[l], rows, count);
		cost += l ? LAW_COST : 0;
		for (size_t k = 0; k < laws->law[l].count; k++) {
			size_t t = laws->law[l].term[k];

			cost += seen[terms->shape[t]] ? terms->cost_again[t] : terms->cost[t];
			seen[terms->shape[t]] = true;
		}
	}
	laws->error = sum / (double)n;
	laws->cost = cost;
	laws->score = score(d, laws->error, cost);
	free(owner);
}

void tare_laws_settle(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws)
{
	size_t n = d->row_count;
	size_t *owner = tare_xcalloc(3 * n + 1, sizeof(*owner)), *rows = owner + n, *old = rows + n;
	struct tare_laws best = *laws;

	tare_laws_judge(d, terms, &best);
	tare_laws_own(terms, laws, owner);
	for (int round = 0; round < 12; round++) {
		size_t kept = 0;

		for (size_t l = 0; l < laws->count; l++) {
			size_t count = rows_of(owner, n, l, rows);

			if (!count)
				continue;
			laws->law[kept] = laws->law[l];
			tare_law_refit(d, terms, rows, count, &laws->law[kept]);
			kept += laws->law[kept].count > 0;
		}
		if (!kept)
			break;
		laws->count = kept;
		tare_laws_judge(d, terms, laws);
		if (laws->score < best.score)
			best = *laws;
		memcpy(old, owner, n * sizeof(*owner));
		tare_laws_own(terms, laws, owner);
		if (!memcmp(old, owner, n * sizeof(*owner)))
			break;
	}
	*laws = best;
	free(owner);
}
