/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_FREE_SET_H
#define TARE_ALLOCATOR_FREE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The free blocks of one pool and one stream, by size, and among equal ones by `order`. Sizes are put into bins, 64 for
 * each power of two; a bitmap says which bins have any. A bin is a heap: the least entry is the first, and no entry is less than its
 * parent. A block knows where in its bin it is, so that it is taken out without a search. What is looked for is a few
 * instructions away however many there are, unless very many have nearly the same size.
 *
 * What each request and each free does is here, inline: most bins have one entry or two, and a call of a function would be most of the
 * work.
 */
/* Bins for each power of two. Sizes below two times as many units have a bin each. */
#define TARE_FREE_STEPS_LOG2 6
#define TARE_FREE_WORDS      51 /* of any size there is a bin, and one behind it */
#define TARE_FREE_BINS       (64 * TARE_FREE_WORDS)
#define TARE_FREE_CHILDREN   4 /* of an entry of a heap */
#define TARE_FREE_FEW        2 /* entries for which a bin has room in itself */

/* A block: a part of a segment. It is one cache line, so that each block which a request looks at costs one. */
struct tare_cache_block {
	_Alignas(64) uint64_t address;
	uint64_t size;
	union {
		uint64_t asked; /* in use, or freed and not completed */
		uint64_t since; /* free: searches of its pool when it became free */
	};
	struct tare_free_set *set; /* of its pool and stream */
	uint32_t previous, next;
	uint32_t segment;
	uint32_t flags;
	uint32_t slot; /* free: where in its bin it is */
};

struct tare_free_entry {
	uint64_t order, size;
	uint32_t block;
};

/* One cache line, too. */
struct tare_free_bin {
	_Alignas(64) struct tare_free_entry *entries; /* `few`, or memory of its own */
	uint32_t count, cap;
	struct tare_free_entry few[TARE_FREE_FEW];
};

struct tare_free_set {
	uint64_t summary;                /* words that are not 0 */
	uint32_t pool;                   /* of the allocator */
	uint64_t words[TARE_FREE_WORDS]; /* bins that are not empty */
	uint16_t bin_at[TARE_FREE_BINS]; /* in `bins`; 0: it never had an entry */
	struct tare_free_bin *bins;
	uint32_t bin_count, bin_cap;
};

struct tare_free_set *tare_free_set_new(uint32_t pool);
void tare_free_set_delete(struct tare_free_set *set);

/*
 * The first entry behind this size and order, or before them, which need not be those of an entry. NULL: there is
 * none. They look at each entry of a bin: for what is rare.
 */
const struct tare_free_entry *tare_free_set_behind(const struct tare_free_set *set, uint64_t size, uint64_t order);
const struct tare_free_entry *tare_free_set_before(const struct tare_free_set *set, uint64_t size, uint64_t order);
/* The blocks of all entries in their order behind those of `blocks`, which grows as an array does (base/array.h). */
uint32_t *tare_free_set_list(const struct tare_free_set *set, uint32_t *blocks, size_t *count, size_t *cap);

/* Whether the entry of this block is at this place of its bin, where no entry is less than its parent. For tests. */
bool tare_free_set_has(const struct tare_free_set *set, uint64_t size, uint32_t at, uint32_t block);

/* For the functions below. */
uint32_t tare_free_bin_new(struct tare_free_set *set, uint32_t number);
void tare_free_bin_grow(struct tare_free_bin *bin);
const struct tare_free_entry *tare_free_bin_least(const struct tare_free_bin *bin, uint64_t size, uint64_t order);

static inline uint32_t tare_free_bin_of(uint64_t size)
{
	uint64_t units = size >> 9;
	uint32_t log2 = 63 - (uint32_t)__builtin_clzll(units | 1u << TARE_FREE_STEPS_LOG2);
	uint32_t shift = log2 - TARE_FREE_STEPS_LOG2;

	return (shift << TARE_FREE_STEPS_LOG2) + (uint32_t)(units >> shift);
}

static inline bool tare_free_is_less(const struct tare_free_entry *a, const struct tare_free_entry *b)
{
	return (a->size < b->size) | ((a->size == b->size) & (a->order < b->order));
}

static inline void tare_free_bin_put(struct tare_free_bin *bin, struct tare_cache_block *blocks, uint32_t at,
                                     const struct tare_free_entry *e)
{
	bin->entries[at] = *e;
	blocks[e->block].slot = at;
}

/* Puts an entry into the place `at`, which is empty, or above it. */
static inline void tare_free_bin_rise(struct tare_free_bin *bin, struct tare_cache_block *blocks, uint32_t at,
                                      const struct tare_free_entry *e)
{
	while (at) {
		uint32_t parent = (at - 1) / TARE_FREE_CHILDREN;

		if (!tare_free_is_less(e, &bin->entries[parent]))
			break;
		tare_free_bin_put(bin, blocks, at, &bin->entries[parent]);
		at = parent;
	}
	tare_free_bin_put(bin, blocks, at, e);
}

/* Puts an entry into the place `at`, which is empty, or below it, or above it. */
void tare_free_bin_fill(struct tare_free_bin *bin, struct tare_cache_block *blocks, uint32_t at,
                        const struct tare_free_entry *e);

static inline void tare_free_set_add(struct tare_free_set *set, struct tare_cache_block *blocks, uint32_t block,
                                     uint64_t order)
{
	struct tare_free_entry e = { order, blocks[block].size, block };
	uint32_t b = tare_free_bin_of(e.size), at = set->bin_at[b];
	struct tare_free_bin *bin;

	if (__builtin_expect(!at, 0))
		at = tare_free_bin_new(set, b);
	bin = &set->bins[at];
	if (__builtin_expect(bin->count == bin->cap, 0))
		tare_free_bin_grow(bin);
	tare_free_bin_rise(bin, blocks, bin->count++, &e);
	set->words[b / 64] |= 1ull << (b % 64);
	set->summary |= 1ull << (b / 64);
}

/* Removes the entry of a block of this size, which is at this place of its bin. */
static inline void tare_free_set_remove(struct tare_free_set *set, struct tare_cache_block *blocks, uint64_t size,
                                        uint32_t at)
{
	uint32_t b = tare_free_bin_of(size), word = b / 64;
	struct tare_free_bin *bin = &set->bins[set->bin_at[b]];
	struct tare_free_entry last = bin->entries[--bin->count];

	if (TARE_FREE_CHILDREN * at + 1 < bin->count)
		tare_free_bin_fill(bin, blocks, at, &last);
	else /* also where the last is what goes: it is put where nobody looks */
		tare_free_bin_rise(bin, blocks, at, &last);
	set->words[word] &= ~((uint64_t)!bin->count << (b % 64));
	set->summary &= ~((uint64_t)!set->words[word] << word);
}

/* Removes an entry that was found. What it needs is in the entry: the block may be in no cache. */
static inline void tare_free_set_take(struct tare_free_set *set, struct tare_cache_block *blocks,
                                      const struct tare_free_entry *e)
{
	const struct tare_free_bin *bin = &set->bins[set->bin_at[tare_free_bin_of(e->size)]];

	tare_free_set_remove(set, blocks, e->size, (uint32_t)(e - bin->entries));
}

/* The first bin from this number on that is not empty; TARE_FREE_BINS: there is none. */
static inline uint32_t tare_free_set_from(const struct tare_free_set *set, uint32_t bin)
{
	uint32_t word = bin / 64;
	uint64_t bits = set->words[word] & (~0ull << (bin % 64));

	if (!bits) {
		uint64_t summary = set->summary & (~0ull << (word + 1));

		if (!summary)
			return TARE_FREE_BINS;
		word = (uint32_t)__builtin_ctzll(summary);
		bits = set->words[word];
	}
	return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* The first of at least `size` bytes; NULL: there is none. */
static inline const struct tare_free_entry *tare_free_set_find(const struct tare_free_set *set, uint64_t size)
{
	uint32_t number = tare_free_bin_of(size), b = tare_free_set_from(set, number);
	const struct tare_free_entry *e;

	if (b == TARE_FREE_BINS)
		return NULL;
	e = set->bins[set->bin_at[b]].entries;
	if (__builtin_expect(e->size >= size, 1))
		return e;
	e = tare_free_bin_least(&set->bins[set->bin_at[b]], size, 0);
	if (e)
		return e;
	b = tare_free_set_from(set, b + 1);
	return b == TARE_FREE_BINS ? NULL : set->bins[set->bin_at[b]].entries;
}

#endif
