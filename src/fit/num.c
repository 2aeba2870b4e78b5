/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/num.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LN2   0.693147180559945309417
#define SQRT2 1.41421356237309504880

double tare_num_abs(double x)
{
	return x < 0 ? -x : x;
}

/* x = m·2^e with m in [1, 2). */
static double parts(double x, int *e)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	*e = (int)(bits >> 52 & 0x7ff) - 1023;
	bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

double tare_num_log(double x)
{
	int e;
	double m = parts(x, &e), z, z2, power, sum = 0;

	if (m > SQRT2) {
		m /= 2;
		e++;
	}
	z = (m - 1) / (m + 1); /* |z| <= 0.172: z^25 is below 1e-19 */
	z2 = z * z;
	power = z;
	for (int k = 1; k <= 25; k += 2) {
		sum += power / k;
		power *= z2;
	}
	return 2 * sum + e * LN2;
}

double tare_num_sqrt(double x)
{
	double guess;
	int e;

	if (!(x > 0))
		return 0;
	guess = (parts(x, &e) + 1) / 2;
	if (e & 1)
		guess *= SQRT2;
	for (e >>= 1; e > 0; e--)
		guess *= 2;
	for (; e < 0; e++)
		guess /= 2;
	for (int i = 0; i < 6; i++)
		guess = (guess + x / guess) / 2;
	return guess;
}

double tare_num_student90(size_t freedom)
{
	static const double t[] = { 6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895,
				    1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761 };
	size_t count = sizeof(t) / sizeof(*t);

	if (!freedom)
		return t[0] * 2; /* nothing known of the spread: a guess on the wide side */
	return freedom <= count ? t[freedom - 1] : 1.645 + 1.6 / (double)freedom;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double tare_num_quantile(double *values, size_t count, double share)
{
	size_t rank;

	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	rank = (size_t)(share * (double)count);
	if ((double)rank < share * (double)count)
		rank++;
	return values[rank ? (rank > count ? count : rank) - 1 : 0];
}
