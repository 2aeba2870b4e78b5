/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ALLOCATOR_FREE_SET_H
#define TARE_ALLOCATOR_FREE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The free blocks of one pool and one stream, by size, and among equal ones by `order`. Sizes are put into bins, 32 for
 * each power of two; a bitmap says which bins have any, and within a bin entries are sorted. So what is looked for is
 * a few instructions away however many there are, unless very many have nearly the same size.
 */
#define TARE_FREE_WORDS 19
#define TARE_FREE_BINS  (64 * TARE_FREE_WORDS)

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
	struct tare_free_bin bins[TARE_FREE_BINS];
};

/* A place in the set; good until the set changes. */
struct tare_free_at {
	uint32_t bin; /* TARE_FREE_BINS: behind the last */
	uint32_t at;
};

void tare_free_set_add(struct tare_free_set *set, uint64_t size, uint64_t order, uint32_t block);
void tare_free_set_remove(struct tare_free_set *set, uint64_t size, uint64_t order);
void tare_free_set_take(struct tare_free_set *set,
			struct tare_free_at at); /* removes what is there */
/* The first of at least `size` bytes. */
struct tare_free_at tare_free_set_find(const struct tare_free_set *set, uint64_t size);
struct tare_free_at tare_free_set_next(const struct tare_free_set *set, struct tare_free_at at);
/* False: it was the first. */
bool tare_free_set_previous(const struct tare_free_set *set, struct tare_free_at *at);
void tare_free_set_delete(struct tare_free_set *set);

static inline const struct tare_free_entry *tare_free_set_at(const struct tare_free_set *set,
							     struct tare_free_at at)
{
	return at.bin < TARE_FREE_BINS ? &set->bins[at.bin].entries[at.at] : NULL;
}

#endif
