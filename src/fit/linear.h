/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_LINEAR_H
#define TARE_FIT_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { TARE_LAW_TERMS_MAX = 14 };

/*
 * Least squares by orthogonal columns (Gram-Schmidt, each column twice, which is as good as
 * Householder's): y ≈ Σ coef·column. Columns come in one at a time, as a search adds them.
 */
struct tare_linear {
	size_t rows, count;
	double *q[TARE_LAW_TERMS_MAX];                    /* orthonormal */
	double r[TARE_LAW_TERMS_MAX][TARE_LAW_TERMS_MAX]; /* column k = Σ r[i][k]·q[i] */
	double qy[TARE_LAW_TERMS_MAX];
	double *rest; /* y less what the columns explain */
	double *room; /* what q and rest point into */
};

void tare_linear_begin(struct tare_linear *l, const double *y, size_t rows);
void tare_linear_restart(struct tare_linear *l, const double *y); /* the same rows, no columns */
void tare_linear_end(struct tare_linear *l);

/* False: the column is, but for rounding, a sum of those before; nothing has changed then. */
bool tare_linear_add(struct tare_linear *l, const double *column);

void tare_linear_solve(const struct tare_linear *l, double *coef);

/* The same for a row that was not fitted: coef·R⁻¹ of its columns, squared; may be above 1. */
double tare_linear_reach(const struct tare_linear *l, const double *columns);

/*
 * What the rest of each row would be had the row not been fitted, nor any other of its group. The columns of
 * the rows of a group are the same but for a factor per row: `factor`. `sums` has room for two per group. A
 * group without which the columns cannot be told apart gets `alone`. `rest` may be what other coefficients
 * leave.
 */
struct tare_linear_groups {
	const size_t *of;
	size_t count;
	const double *factor;
	double *sums;
};
void tare_linear_left_out(const struct tare_linear *l, const double *rest, const struct tare_linear_groups *groups,
                          double alone, double *out);

#endif
