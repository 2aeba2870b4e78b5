/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of a quantity, and how wrong they are on cells left out. */
#include "fit/fit.h"

#include "base/xalloc.h"
#include "fit/num.h"

#include <math.h>
#include <stdlib.h>

enum {
	LAWS_MAX = 4,
	CONFORMAL_MIN = 20, /* cells: of fewer, a distribution of errors is assumed */
};
#define ERROR_OF_TWO 0.05 /* two cells show no error: assumed instead */
#define RIVAL_WITHIN 8.0  /* a law whose score is within that of the best is e^-4 as likely */

static void make_bases(struct tare_fitted *f)
{
	size_t n = f->data.row_count;
	TARE_FREED_HERE size_t *owner = tare_xcalloc(n + 1, sizeof(*owner));
	double *one = tare_xcalloc(2 * n + 1, sizeof(double)), *y = one + n;

	tare_laws_own(&f->terms, &f->laws, owner);
	for (size_t l = 0; l < f->laws.count; l++) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			if (owner[i] == l)
				y[count++] = f->data.y[i] / f->data.scale[i];
		tare_linear_begin(&f->basis[l], y, count);
		for (size_t k = 0; k < f->laws.law[l].count; k++) {
			size_t at = 0;

			for (size_t i = 0; i < n; i++)
				if (owner[i] == l)
					one[at++] = f->terms.values[f->laws.law[l].term[k] * n + i];
			tare_linear_add(&f->basis[l], one);
		}
	}
	free(one);
}

/*
 * The errors of one law on cells that are left out; `spread`: without what a cell adds by its own weight.
 */
static void errors_of(const struct tare_fitted *f, size_t law, const size_t *rows, size_t count, double *out,
                      double *spread, double *squares)
{
	double *rest = tare_xcalloc(2 * count + 1, sizeof(*rest)), *left_out = rest + count;

	tare_law_left_out(&f->data, &f->terms, &f->laws.law[law], &f->basis[law], rows, count, __builtin_nan(""), rest,
	                  left_out);
	for (size_t i = 0; i < count; i++) {
		double e = fabs(rest[i]);
		double far = left_out[i] == left_out[i] ? fabs(left_out[i]) : e;

		*squares += e * e;
		out[rows[i]] = far;
		spread[rows[i]] = far > e ? sqrt(e * far) : e;
	}
	free(rest);
}

static void measure(struct tare_fitted *f)
{
	size_t n = f->data.row_count, coefs = 0;
	double *plain = tare_xcalloc(2 * n + 1, sizeof(*plain)), *error = plain + n, sum = 0;
	size_t *owner = tare_xcalloc(2 * n + 1, sizeof(*owner)), *rows = owner + n;

	tare_laws_own(&f->terms, &f->laws, owner);
	for (size_t l = 0; l < f->laws.count; l++) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			if (owner[i] == l)
				rows[count++] = i;
		errors_of(f, l, rows, count, plain, error, &sum);
	}
	f->mean_error = 0;
	for (size_t i = 0; i < n; i++)
		f->mean_error += plain[i] / (double)n;
	for (size_t l = 0; l < f->laws.count; l++)
		coefs += f->laws.law[l].count;
	f->free_count = n > coefs ? n - coefs : 0;
	if (f->free_count >= CONFORMAL_MIN)
		f->error = tare_num_quantile(error, n, 0.9 * (double)(n + 1) / (double)n);
	else if (f->free_count)
		f->error = tare_num_student90(f->free_count) * sqrt(sum / (double)f->free_count);
	else
		f->error = 0.1;
	if (n == 2 && f->error < ERROR_OF_TWO)
		f->error = ERROR_OF_TWO;
	if (f->free_count < CONFORMAL_MIN) /* with so few cells, the error covers every cell */
		for (size_t i = 0; i < n; i++)
			f->error = error[i] > f->error ? error[i] : f->error;
	if (f->error * f->error < tare_law_floor(n))
		f->error = sqrt(tare_law_floor(n));
	free(owner);
	free(plain);
}

void tare_fit_search(struct tare_fitted *f, size_t laws_max)
{
	if (laws_max > LAWS_MAX)
		laws_max = LAWS_MAX;
	f->rival_count = tare_laws_search(&f->data, &f->terms, laws_max, f->rival, TARE_FIT_RIVALS_MAX);
	if (!f->rival_count) { /* the quantity is 0 in every cell */
		f->laws = (struct tare_laws){ .count = 1, .law[0] = { .count = 1 } };
		return;
	}
	f->laws = f->rival[0];
	while (f->rival[f->rival_count - 1].score > f->laws.score + RIVAL_WITHIN)
		f->rival_count--;
}

void tare_fit_measure(struct tare_fitted *f)
{
	make_bases(f);
	measure(f);
}

void tare_fit_free(struct tare_fitted *f)
{
	for (size_t l = 0; l < TARE_LAWS_MAX; l++)
		tare_linear_end(&f->basis[l]);
}
