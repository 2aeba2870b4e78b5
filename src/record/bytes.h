/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte counts that may be not known. What is counted fits into 63 bits; everything above, TARE_NOT_KNOWN or what a
 * difference or damage left there, is no count, and stays so in sums.
 */
#ifndef TARE_RECORD_BYTES_H
#define TARE_RECORD_BYTES_H

#include "record/format.h"

#include <stdbool.h>

static inline bool tare_bytes_are_known(uint64_t bytes)
{
	return bytes <= INT64_MAX;
}

/* TARE_NOT_KNOWN if one of them is not known. */
static inline uint64_t tare_bytes_sum(uint64_t a, uint64_t b)
{
	return tare_bytes_are_known(a) && tare_bytes_are_known(b) && tare_bytes_are_known(a + b) ? a + b : TARE_NOT_KNOWN;
}

#endif
