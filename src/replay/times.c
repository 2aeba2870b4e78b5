/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps times of events in four bytes each. */
#include "replay/times.h"

#include "base/array.h"

#include <stdlib.h>

void tare_times_add(struct tare_times *times, int64_t us)
{
	size_t block = times->count / TARE_TIMES_BLOCK;
	uint64_t behind;

	if (times->count % TARE_TIMES_BLOCK == 0) {
		times->begins = tare_array_reserve(times->begins, &times->begin_cap, block + 1, sizeof(*times->begins));
		times->begins[block] = us;
	}
	behind = (uint64_t)us - (uint64_t)times->begins[block];
	if (behind >= TARE_TIMES_FAR) {
		*tare_map_put(&times->far, times->count, NULL) = (uint64_t)us;
		behind = TARE_TIMES_FAR;
	}
	TARE_APPEND(times->behind, times->count, times->behind_cap) = (uint32_t)behind;
}

int64_t tare_times_at(const struct tare_times *times, size_t at)
{
	if (times->behind[at] == TARE_TIMES_FAR)
		return (int64_t)*tare_map_get(&times->far, at);
	return (int64_t)((uint64_t)times->begins[at / TARE_TIMES_BLOCK] + times->behind[at]);
}
