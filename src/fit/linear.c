/* SPDX-License-Identifier: Apache-2.0 */
/* Least squares by orthogonal columns, which come one at a time. */
#include "fit/linear.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double *a, const double *b, size_t n)
{
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0; /* four sums: the compiler may not reorder one */
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		s0 += a[i] * b[i];
		s1 += a[i + 1] * b[i + 1];
		s2 += a[i + 2] * b[i + 2];
		s3 += a[i + 3] * b[i + 3];
	}
	for (; i < n; i++)
		s0 += a[i] * b[i];
	return s0 + s1 + s2 + s3;
}

void tare_linear_begin(struct tare_linear *l, const double *y, size_t rows)
{
	memset(l, 0, sizeof(*l));
	l->rows = rows;
	l->room = tare_xcalloc((TARE_LAW_TERMS_MAX + 1) * (rows + 1), sizeof(double));
	for (size_t k = 0; k < TARE_LAW_TERMS_MAX; k++)
		l->q[k] = l->room + k * rows;
	l->rest = l->room + TARE_LAW_TERMS_MAX * rows;
	tare_linear_restart(l, y);
}

void tare_linear_restart(struct tare_linear *l, const double *y)
{
	l->count = 0;
	memcpy(l->rest, y, l->rows * sizeof(double));
}

void tare_linear_end(struct tare_linear *l)
{
	free(l->room);
	l->room = NULL;
}

bool tare_linear_add(struct tare_linear *l, const double *column)
{
	size_t k = l->count, n = l->rows;
	double *q, before = dot(column, column, n), after;

	if (k == TARE_LAW_TERMS_MAX || !(before > 0))
		return false;
	q = l->q[k];
	memcpy(q, column, n * sizeof(double));
	for (size_t i = 0; i < k; i++)
		l->r[i][k] = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < k; i++) {
			double part = dot(l->q[i], q, n);

			l->r[i][k] += part;
			for (size_t j = 0; j < n; j++)
				q[j] -= part * l->q[i][j];
		}
	after = dot(q, q, n);
	if (!(after > before * 1e-14))
		return false;
	l->r[k][k] = sqrt(after);
	for (size_t j = 0; j < n; j++)
		q[j] /= l->r[k][k];
	l->qy[k] = dot(q, l->rest, n);
	for (size_t j = 0; j < n; j++)
		l->rest[j] -= l->qy[k] * q[j];
	l->count++;
	return true;
}

void tare_linear_solve(const struct tare_linear *l, double *coef)
{
	for (size_t k = l->count; k-- > 0;) {
		double v = l->qy[k];

		for (size_t j = k + 1; j < l->count; j++)
			v -= l->r[k][j] * coef[j];
		coef[k] = v / l->r[k][k];
	}
}

/* How much the row has to do with its own prediction: 0 to 1. */
static double linear_leverage(const struct tare_linear *l, size_t row)
{
	double h = 0;

	for (size_t k = 0; k < l->count; k++)
		h += l->q[k][row] * l->q[k][row];
	return h < 1 ? h : 1;
}

double tare_linear_reach(const struct tare_linear *l, const double *columns)
{
	double z[TARE_LAW_TERMS_MAX], h = 0;

	for (size_t k = 0; k < l->count; k++) { /* Rᵀ z = columns */
		double v = columns[k];

		for (size_t i = 0; i < k; i++)
			v -= l->r[i][k] * z[i];
		z[k] = v / l->r[k][k];
		h += z[k] * z[k];
	}
	return h;
}

/*
 * In a group the leverage of row i on row j is c·fᵢ·fⱼ, so leaving all of them out is the inverse of a matrix
 * of rank one: restᵢ + c·fᵢ·Σf·rest / (1 − c·Σf²).
 */
void tare_linear_left_out(const struct tare_linear *l, const double *rest, const struct tare_linear_groups *groups,
                          double alone, double *out)
{
	double *leverage = groups->sums, *pull = groups->sums + groups->count;

	memset(groups->sums, 0, 2 * groups->count * sizeof(double));
	for (size_t i = 0; i < l->rows; i++) {
		out[i] = linear_leverage(l, i);
		leverage[groups->of[i]] += out[i];
		pull[groups->of[i]] += groups->factor[i] * rest[i];
	}
	for (size_t i = 0; i < l->rows; i++) {
		double apart = 1 - leverage[groups->of[i]];

		out[i] = apart > 1e-6 ? rest[i] + out[i] / groups->factor[i] * pull[groups->of[i]] / apart : alone;
	}
}
