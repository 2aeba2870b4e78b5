/* SPDX-License-Identifier: Apache-2.0 */
#include "allocator/free_set.h"

#include "base/array.h"

#include <stdlib.h>

#define STEPS_LOG2 5 /* bins for each power of two */
#define EXACT_LOG2 6 /* below 64 units each size has a bin */
#define FEW        8 /* entries that are looked at one after the other */

static uint32_t bin_of(uint64_t size)
{
	uint64_t units = size >> 9;
	uint32_t log2, bin;

	if (units < 1u << EXACT_LOG2)
		return (uint32_t)units;
	log2 = 63 - (uint32_t)__builtin_clzll(units);
	bin = (1u << EXACT_LOG2) + ((log2 - EXACT_LOG2) << STEPS_LOG2) +
	      ((uint32_t)(units >> (log2 - STEPS_LOG2)) & ((1u << STEPS_LOG2) - 1));
	return bin < TARE_FREE_BINS ? bin : TARE_FREE_BINS - 1;
}

static bool is_before(const struct tare_free_entry *e, uint64_t size, uint64_t order)
{
	return e->size < size || (e->size == size && e->order < order);
}

/* The first entry that is not before (size, order). Most bins have one or two. */
static uint32_t lower(const struct tare_free_bin *bin, uint64_t size, uint64_t order)
{
	uint32_t from = 0, count = bin->count;

	while (count > FEW) {
		uint32_t half = count / 2;
		bool is_behind = is_before(&bin->entries[from + half], size, order);

		from = is_behind ? from + half + 1 : from;
		count = is_behind ? count - half - 1 : half;
	}
	for (; count && is_before(&bin->entries[from], size, order); count--)
		from++;
	return from;
}

static void shift(struct tare_free_entry *to, const struct tare_free_entry *from, uint32_t count)
{
	if (count)
		memmove(to, from, count * sizeof(*to));
}

static void grow(struct tare_free_bin *bin)
{
	size_t cap = bin->cap;

	bin->entries = tare_array_reserve(bin->entries, &cap, cap + 1, sizeof(*bin->entries));
	bin->cap = (uint32_t)cap;
}

void tare_free_set_add(struct tare_free_set *set, uint64_t size, uint64_t order, uint32_t block)
{
	uint32_t b = bin_of(size), at = 0;
	struct tare_free_bin *bin = &set->bins[b];

	if (bin->count == bin->cap)
		grow(bin);
	if (bin->count) {
		at = lower(bin, size, order);
		shift(&bin->entries[at + 1], &bin->entries[at], bin->count - at);
	} else {
		set->words[b / 64] |= 1ull << (b % 64);
		set->summary |= 1u << (b / 64);
	}
	bin->entries[at] = (struct tare_free_entry){ size, order, block };
	bin->count++;
}

static void clear(struct tare_free_set *set, uint32_t b)
{
	set->words[b / 64] &= ~(1ull << (b % 64));
	if (!set->words[b / 64])
		set->summary &= ~(1u << (b / 64));
}

void tare_free_set_remove(struct tare_free_set *set, uint64_t size, uint64_t order)
{
	uint32_t b = bin_of(size), at;
	struct tare_free_bin *bin = &set->bins[b];

	if (bin->count == 1) {
		bin->count = 0;
		clear(set, b);
		return;
	}
	at = lower(bin, size, order);
	bin->count--;
	shift(&bin->entries[at], &bin->entries[at + 1], bin->count - at);
}

void tare_free_set_take(struct tare_free_set *set, struct tare_free_at at)
{
	struct tare_free_bin *bin = &set->bins[at.bin];

	bin->count--;
	shift(&bin->entries[at.at], &bin->entries[at.at + 1], bin->count - at.at);
	if (!bin->count)
		clear(set, at.bin);
}

/* The first entry of the first bin from `bin` on that has any. */
static struct tare_free_at from_bin(const struct tare_free_set *set, uint32_t bin)
{
	struct tare_free_at none = { TARE_FREE_BINS, 0 };
	uint32_t word = bin / 64, summary;
	uint64_t bits;

	if (bin >= TARE_FREE_BINS)
		return none;
	bits = set->words[word] & (~0ull << (bin % 64));
	if (!bits) {
		summary = set->summary & (uint32_t)(~0ull << (word + 1));
		if (!summary)
			return none;
		word = (uint32_t)__builtin_ctz(summary);
		bits = set->words[word];
	}
	return (struct tare_free_at){ word * 64 + (uint32_t)__builtin_ctzll(bits), 0 };
}

struct tare_free_at tare_free_set_find(const struct tare_free_set *set, uint64_t size)
{
	uint32_t b = bin_of(size), at;

	if (set->bins[b].count) {
		at = lower(&set->bins[b], size, 0);
		if (at < set->bins[b].count)
			return (struct tare_free_at){ b, at };
	}
	return from_bin(set, b + 1);
}

struct tare_free_at tare_free_set_next(const struct tare_free_set *set, struct tare_free_at at)
{
	if (at.at + 1 < set->bins[at.bin].count)
		return (struct tare_free_at){ at.bin, at.at + 1 };
	return from_bin(set, at.bin + 1);
}

bool tare_free_set_previous(const struct tare_free_set *set, struct tare_free_at *at)
{
	if (at->bin < TARE_FREE_BINS && at->at) {
		at->at--;
		return true;
	}
	for (uint32_t bin = at->bin; bin--;)
		if (set->bins[bin].count) {
			*at = (struct tare_free_at){ bin, set->bins[bin].count - 1 };
			return true;
		}
	return false;
}

void tare_free_set_delete(struct tare_free_set *set)
{
	for (size_t bin = 0; set && bin < TARE_FREE_BINS; bin++)
		free(set->bins[bin].entries);
	free(set);
}
