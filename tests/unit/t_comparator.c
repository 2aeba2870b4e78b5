/* SPDX-License-Identifier: Apache-2.0 */
/* Comparators that are made of fields. */
#include "base/comparator.h"

#include <stdint.h>
#include <stdlib.h>

#include "test.h"

struct row {
	uint64_t bytes;
	int place;
	const char *label;
};

TARE_COMPARATOR(by_size, struct row, TARE_FALLING(bytes) TARE_ALPHABETIC(label) TARE_RISING(place))
TARE_COMPARATOR_OF_POINTERS(by_place, struct row, TARE_RISING(place))
TARE_SCALAR_COMPARATOR(by_value, double)
TARE_FALLING_SCALAR_COMPARATOR(by_size_alone, int64_t)

TEST(the_first_field_that_differs_decides)
{
	struct row rows[] = { { 1, 0, "b" }, { UINT64_MAX, 1, "a" }, { 1, 2, NULL }, { 1, 1, "a" }, { 1, -5, "a" } };
	static const int wanted[] = { 1, 2, -5, 1, 0 };
	size_t i;

	qsort(rows, 5, sizeof(rows[0]), by_size);
	for (i = 0; i < 5; i++)
		CHECK_INT(rows[i].place, wanted[i]);
	CHECK_INT(by_size(&rows[0], &rows[0]), 0);
}

TEST(pointers_and_numbers)
{
	struct row a = { .place = 3 }, b = { .place = -3 };
	const struct row *p = &a, *q = &b;
	double x = 0.25, y = 0.5;

	CHECK(by_place(&p, &q) > 0);
	CHECK(by_place(&q, &p) < 0);
	CHECK(by_value(&x, &y) < 0);
	CHECK(by_value(&y, &x) > 0);
	CHECK_INT(by_value(&x, &x), 0);
}

TEST(the_largest_number_first)
{
	int64_t sizes[] = { INT64_MIN, 7, INT64_MAX, 7 };

	qsort(sizes, 4, sizeof(sizes[0]), by_size_alone);
	CHECK(sizes[0] == INT64_MAX && sizes[1] == 7 && sizes[2] == 7 && sizes[3] == INT64_MIN);
}
