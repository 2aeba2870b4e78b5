/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes a request takes. */
#include "allocator/settings.h"

#include "base/number.h"

static unsigned log2_of(uint64_t n)
{
	return 63 - (unsigned)__builtin_clzll(n);
}

/* The next of `divisions` equal steps from a power of two to the next one. */
static uint64_t by_divisions(uint64_t n, uint32_t divisions)
{
	uint64_t floor = 1ull << log2_of(n), step;

	if (floor == n)
		return n;
	step = floor >> log2_of(divisions);
	return step ? tare_round_up(n, step) : 2 * floor;
}

static uint32_t divisions_of(const struct tare_alloc_settings *settings, uint64_t n)
{
	unsigned log2 = log2_of(n), at = log2 <= 20 ? 0 : log2 - 20;

	return settings->divisions[at < TARE_ALLOC_DIVISIONS ? at : TARE_ALLOC_DIVISIONS - 1];
}

uint64_t tare_alloc_round(const struct tare_alloc_settings *settings, const struct tare_alloc_rules *rules,
                          uint64_t asked)
{
	uint32_t divisions;

	if (asked < TARE_ALLOC_MIN_BLOCK)
		return TARE_ALLOC_MIN_BLOCK;
	divisions = divisions_of(settings, asked);
	if (__builtin_expect(divisions != 0, 0) && asked > (uint64_t)TARE_ALLOC_MIN_BLOCK * divisions) {
		if (divisions > 1)
			return by_divisions(asked, divisions);
		if (rules->is_one_unrounded)
			return asked;
	}
	return (asked + TARE_ALLOC_MIN_BLOCK - 1) & ~(uint64_t)(TARE_ALLOC_MIN_BLOCK - 1);
}

uint64_t tare_alloc_segment_size(const struct tare_alloc_settings *settings, uint64_t size)
{
	if (size <= TARE_ALLOC_SMALL_MAX)
		return TARE_ALLOC_SMALL_SEGMENT;
	if (size < TARE_ALLOC_LARGE_MIN)
		return settings->large_segment;
	return tare_round_up(size, TARE_ALLOC_LARGE_ROUND);
}
