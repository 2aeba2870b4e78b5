/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and products of what files say. A sum that does not fit is the nearest number that does: no recording of a
 * real machine has one, and of a damaged one nothing may be computed that is undefined.
 */
#ifndef TARE_BASE_SAT_H
#define TARE_BASE_SAT_H

#include <stdint.h>

static inline int64_t tare_sat_add(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_add_overflow(a, b, &out) ? (a < 0 ? INT64_MIN : INT64_MAX) : out;
}

static inline uint64_t tare_sat_addu(uint64_t a, uint64_t b)
{
	uint64_t out;

	return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

static inline int64_t tare_sat_sub(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_sub_overflow(a, b, &out) ? (a < 0 ? INT64_MIN : INT64_MAX) : out;
}

static inline int64_t tare_sat_mul(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_mul_overflow(a, b, &out) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : out;
}

static inline int64_t tare_sat_abs(int64_t a)
{
	return a < 0 ? tare_sat_sub(0, a) : a;
}

#endif
