/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_FREE_SET_H
#define TARE_ALLOCATOR_FREE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The free blocks of one pool and one stream, by size, and among equal ones by `order`. Sizes are put into bins, 32 for
 * each power of two; a bitmap says which bins have any, and within a bin entries are sorted, the greatest first: so the one that
 * is taken most often is the last. What is looked for is a few instructions away however many there are, unless
 * very many have nearly the same size.
 *
 * What each request and each free does is here, inline: most bins have one entry or two, and a call of a function would be most of the
 * work.
 */
/* Bins for each power of two. Sizes below two times as many units have a bin each. */
#define TARE_FREE_STEPS_LOG2 5
#define TARE_FREE_WORDS      26 /* of any size below 2^63 there is a bin */
#define TARE_FREE_BINS       (64 * TARE_FREE_WORDS)
#define TARE_FREE_FEW        8 /* entries that are looked at one after the other */

struct tare_free_entry {
	uint64_t size, order;
	uint32_t block;
};

struct tare_free_bin {
	struct tare_free_entry *entries;
	uint32_t count, cap;
};

struct tare_free_set {
	uint32_t summary;                /* words that are not 0 */
	uint64_t words[TARE_FREE_WORDS]; /* bins that are not empty */
	uint64_t grown[TARE_FREE_WORDS]; /* bins that have room for entries */
	struct tare_free_bin bins[TARE_FREE_BINS];
};

/* A place in the set; good until the set changes. */
struct tare_free_at {
	uint32_t bin; /* TARE_FREE_BINS: behind the last */
	uint32_t at;
};

struct tare_free_at tare_free_set_next(const struct tare_free_set *set, struct tare_free_at at);
/* False: it was the first. */
bool tare_free_set_previous(const struct tare_free_set *set, struct tare_free_at *at);
void tare_free_set_delete(struct tare_free_set *set);

/* For the functions below: how many entries are greater than (size, order), by halves; room for one more. */
uint32_t tare_free_bin_greater(const struct tare_free_bin *bin, uint64_t size, uint64_t order);
void tare_free_bin_grow(struct tare_free_set *set, uint32_t b);
void tare_free_bin_shift(struct tare_free_bin *bin, uint32_t from, uint32_t to);

static inline uint32_t tare_free_bin_of(uint64_t size)
{
	uint64_t units = size >> 9;
	uint32_t log2 = 63 - (uint32_t)__builtin_clzll(units | 1u << TARE_FREE_STEPS_LOG2);
	uint32_t shift = log2 - TARE_FREE_STEPS_LOG2;

	return (shift << TARE_FREE_STEPS_LOG2) + (uint32_t)(units >> shift);
}

static inline bool tare_free_is_greater(const struct tare_free_entry *e, uint64_t size,
					uint64_t order)
{
	return (e->size > size) | ((e->size == size) & (e->order > order));
}

static inline void tare_free_set_add(struct tare_free_set *set, uint64_t size, uint64_t order,
				     uint32_t block)
{
	uint32_t b = tare_free_bin_of(size);
	struct tare_free_bin *bin = &set->bins[b];
	uint32_t at = bin->count;

	if (__builtin_expect(at == bin->cap, 0))
		tare_free_bin_grow(set, b);
	if (__builtin_expect(at > TARE_FREE_FEW, 0)) {
		at = tare_free_bin_greater(bin, size, order);
		tare_free_bin_shift(bin, at, at + 1);
	} else {
		for (; at && !tare_free_is_greater(&bin->entries[at - 1], size, order); at--)
			bin->entries[at] = bin->entries[at - 1];
	}
	bin->entries[at] = (struct tare_free_entry){ size, order, block };
	bin->count++;
	set->words[b / 64] |= 1ull << (b % 64);
	set->summary |= 1u << (b / 64);
}

/* Removes what is there. */
static inline void tare_free_set_take(struct tare_free_set *set, struct tare_free_at at)
{
	struct tare_free_bin *bin = &set->bins[at.bin];
	uint32_t word = at.bin / 64;

	if (at.at + 1 < bin->count)
		tare_free_bin_shift(bin, at.at + 1, at.at);
	bin->count--;
	set->words[word] &= ~((uint64_t)!bin->count << (at.bin % 64));
	set->summary &= ~((uint32_t)!set->words[word] << word);
}

static inline void tare_free_set_remove(struct tare_free_set *set, uint64_t size, uint64_t order,
					uint32_t block)
{
	struct tare_free_at at = { .bin = tare_free_bin_of(size) };
	const struct tare_free_bin *bin = &set->bins[at.bin];

	if (__builtin_expect(bin->count > TARE_FREE_FEW, 0))
		at.at = tare_free_bin_greater(bin, size, order);
	/* A damaged file can have several of one size at one address. */
	while (bin->entries[at.at].block != block)
		at.at++;
	tare_free_set_take(set, at);
}

/* The first entry of the first bin from `bin` on that has any. */
static inline struct tare_free_at tare_free_set_from(const struct tare_free_set *set, uint32_t bin)
{
	uint32_t word = bin / 64;
	uint64_t bits = set->words[word] & (~0ull << (bin % 64));

	if (!bits) {
		uint32_t summary = set->summary & (uint32_t)(~0ull << (word + 1));

		if (!summary)
			return (struct tare_free_at){ TARE_FREE_BINS, 0 };
		word = (uint32_t)__builtin_ctz(summary);
		bits = set->words[word];
	}
	bin = word * 64 + (uint32_t)__builtin_ctzll(bits);
	return (struct tare_free_at){ bin, set->bins[bin].count - 1 };
}

/* The first of at least `size` bytes. */
static inline struct tare_free_at tare_free_set_find(const struct tare_free_set *set, uint64_t size)
{
	uint32_t b = tare_free_bin_of(size);
	struct tare_free_at at = tare_free_set_from(set, b);
	const struct tare_free_bin *bin = &set->bins[b];
	uint32_t fit = bin->count; /* entries that are large enough */

	if (at.bin != b)
		return at;
	if (__builtin_expect(fit > TARE_FREE_FEW, 0))
		fit = size ? tare_free_bin_greater(bin, size - 1, UINT64_MAX) : fit;
	else
		while (fit && bin->entries[fit - 1].size < size)
			fit--;
	if (!fit)
		return tare_free_set_from(set, b + 1);
	at.at = fit - 1;
	return at;
}

static inline const struct tare_free_entry *tare_free_set_at(const struct tare_free_set *set,
							     struct tare_free_at at)
{
	return at.bin < TARE_FREE_BINS ? &set->bins[at.bin].entries[at.at] : NULL;
}

#endif
