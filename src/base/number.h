/* SPDX-License-Identifier: Apache-2.0 */
/* Small things that are done with numbers everywhere. */
#ifndef TARE_BASE_NUMBER_H
#define TARE_BASE_NUMBER_H

#include <stdint.h>

static inline int64_t tare_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t tare_most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t tare_round_up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

/* The greatest number that divides both. */
static inline uint64_t tare_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* What stands behind the word for what there are `n` of. */
static inline const char *tare_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
