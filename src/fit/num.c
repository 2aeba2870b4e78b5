/* SPDX-License-Identifier: Apache-2.0 */
/* Student's distribution, and quantiles. */
#include "fit/num.h"

#include "base/comparator.h"

#include <string.h>

double tare_num_student90(size_t freedom)
{
	static const double t[] = { 6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895,
		                        1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761 };
	size_t count = sizeof(t) / sizeof(*t);

	if (!freedom)
		return t[0] * 2; /* nothing known of the spread: a guess on the wide side */
	return freedom <= count ? t[freedom - 1] : 1.645 + 1.6 / (double)freedom;
}

TARE_SCALAR_COMPARATOR(by_value, double)

double tare_num_quantile(double *values, size_t count, double share)
{
	size_t rank;

	if (!count)
		return 0;
	TARE_SORT(values, count, by_value);
	rank = (size_t)(share * (double)count);
	if ((double)rank < share * (double)count)
		rank++;
	return values[rank ? (rank > count ? count : rank) - 1 : 0];
}
