/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_BISECT_H
#define TARE_BASE_BISECT_H

/*
 * Looks for a place by halving: `low` becomes the first place `i` before `high` of which `is_before` does not hold, which may read `i`
 * and holds of all places below that one; `high` where it holds of all.
 */
#define TARE_BISECT(low, high, i, is_before)                                                                           \
	do {                                                                                                               \
		__typeof__(low) tare_bisect_end = (high), i;                                                                   \
		while ((low) < tare_bisect_end) {                                                                              \
			i = (low) + (tare_bisect_end - (low)) / 2;                                                                 \
			if (is_before)                                                                                             \
				(low) = i + 1;                                                                                         \
			else                                                                                                       \
				tare_bisect_end = i;                                                                                   \
		}                                                                                                              \
	} while (0)

#endif
