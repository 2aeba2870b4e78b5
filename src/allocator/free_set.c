/* SPDX-License-Identifier: Apache-2.0 */
/* The free blocks of a pool and a stream: what is rare. */
#include "allocator/free_set.h"

#include "base/array.h"

#include <stdlib.h>

/* By halves, without a branch: which half it is cannot be foreseen. */
uint32_t tare_free_bin_greater(const struct tare_free_bin *bin, uint64_t size, uint64_t order)
{
	const struct tare_free_entry *from = bin->entries;
	uint32_t count = bin->count;

	while (count > 1) {
		uint32_t half = count / 2;

		from += tare_free_is_greater(&from[half - 1], size, order) ? half : 0;
		count -= half;
	}
	if (count && tare_free_is_greater(from, size, order))
		from++;
	return (uint32_t)(from - bin->entries);
}

void tare_free_bin_grow(struct tare_free_set *set, uint32_t b)
{
	struct tare_free_bin *bin = &set->bins[b];
	size_t cap = bin->cap;

	bin->entries = tare_array_reserve(bin->entries, &cap, cap + 1, sizeof(*bin->entries));
	bin->cap = (uint32_t)cap;
	set->grown[b / 64] |= 1ull << (b % 64);
}

void tare_free_bin_shift(struct tare_free_bin *bin, uint32_t from, uint32_t to)
{
	memmove(&bin->entries[to], &bin->entries[from],
		(bin->count - from) * sizeof(*bin->entries));
}

struct tare_free_at tare_free_set_next(const struct tare_free_set *set, struct tare_free_at at)
{
	if (at.at)
		return (struct tare_free_at){ at.bin, at.at - 1 };
	return tare_free_set_from(set, at.bin + 1);
}

bool tare_free_set_previous(const struct tare_free_set *set, struct tare_free_at *at)
{
	if (at->bin < TARE_FREE_BINS && at->at + 1 < set->bins[at->bin].count) {
		at->at++;
		return true;
	}
	for (uint32_t bin = at->bin; bin--;)
		if (set->bins[bin].count) {
			*at = (struct tare_free_at){ bin, 0 };
			return true;
		}
	return false;
}

void tare_free_set_delete(struct tare_free_set *set)
{
	for (uint32_t word = 0; set && word < TARE_FREE_WORDS; word++)
		for (uint64_t bits = set->grown[word]; bits; bits &= bits - 1)
			free(set->bins[64 * word + (uint32_t)__builtin_ctzll(bits)].entries);
	free(set);
}
