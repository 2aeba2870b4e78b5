/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_MAP_H
#define TARE_BASE_MAP_H

#include "base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Hash maps with open addressing: u64 → u64 and string → u64. {0} is an empty map. Pointers into a
 * map are good until the next put. Iteration order is arbitrary: sort before showing.
 */
struct tare_map_slot {
	uint64_t key; /* 0: free; the key 0 itself lives in the slot behind the table */
	uint64_t value;
};

struct tare_map {
	struct tare_map_slot *slots;
	size_t cap; /* 0 or a power of two */
	size_t count;
	bool has_zero;
};

/* The value's place; a new key starts with 0 and sets *is_new (may be NULL). */
uint64_t *tare_map_put(struct tare_map *m, uint64_t key, bool *is_new);
uint64_t *tare_map_get(const struct tare_map *m, uint64_t key); /* NULL: absent */
/* Has the place of a key fetched that is looked for soon, where the map may be larger than the caches. */
void tare_map_prefetch(const struct tare_map *m, uint64_t key);
bool tare_map_remove(struct tare_map *m, uint64_t key, uint64_t *value); /* value may be NULL */
void tare_map_free(struct tare_map *m);

/* for (size_t at = 0; (slot = tare_map_next(m, &at)); ) … the map must not change meanwhile */
const struct tare_map_slot *tare_map_next(const struct tare_map *m, size_t *at);

struct tare_strmap_slot {
	char *key; /* NULL: free */
	uint64_t hash;
	uint64_t value;
};

struct tare_strmap {
	struct tare_strmap_slot *slots;
	size_t cap;
	size_t count;
};

/* The map keeps a copy of the key. Keys are never removed. */
uint64_t *tare_strmap_put(struct tare_strmap *m, const char *key, bool *is_new);
uint64_t *tare_strmap_get(const struct tare_strmap *m, const char *key); /* NULL: absent */
const struct tare_strmap_slot *tare_strmap_next(const struct tare_strmap *m, size_t *at);
void tare_strmap_free(struct tare_strmap *m);

#endif
