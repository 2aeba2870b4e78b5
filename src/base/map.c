/* SPDX-License-Identifier: Apache-2.0 */
/* Hash maps from numbers and from strings to numbers, with open addressing. */
#include "base/map.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_CAP = 16, HUGE_PAGE = 2 << 20 };

/* Addresses share their low and their high bits: every bit must reach the low ones (of murmur3). */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xff51afd7ed558ccd);
	return x ^ x >> 32;
}

/* At most 5/8 full: linear probing stays short. */
static bool is_crowded(size_t count, size_t cap)
{
	return (count + 1) * 8 > cap * 5;
}

static struct tare_map_slot *find(const struct tare_map *m, uint64_t key)
{
	size_t mask = m->cap - 1, i = mix(key) & mask;

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

/*
 * Zeroed. A key may be anywhere in them, so most look-ups in large maps wait for the page tables: with large pages, where the system has
 * some, those of a map of a million keys are in the cache.
 */
static struct tare_map_slot *new_slots(size_t n)
{
	size_t bytes = (n * sizeof(struct tare_map_slot) + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
	void *slots = bytes < 2 * HUGE_PAGE ? NULL : aligned_alloc(HUGE_PAGE, bytes);

	if (!slots)
		return tare_xcalloc(n, sizeof(struct tare_map_slot));
	madvise(slots, bytes, MADV_HUGEPAGE);
	return memset(slots, 0, bytes);
}

static void grow(struct tare_map *m)
{
	struct tare_map old = *m;

	m->cap = old.cap ? old.cap * 2 : FIRST_CAP;
	m->slots = new_slots(m->cap + 1);
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].key)
			*find(m, old.slots[i].key) = old.slots[i];
	if (old.cap)
		m->slots[m->cap] = old.slots[old.cap];
	free(old.slots);
}

uint64_t *tare_map_put(struct tare_map *m, uint64_t key, bool *is_new)
{
	struct tare_map_slot *slot;
	bool is_added;

	if (is_crowded(m->count, m->cap))
		grow(m);
	slot = key ? find(m, key) : &m->slots[m->cap];
	is_added = key ? !slot->key : !m->has_zero;
	if (is_added) {
		*slot = (struct tare_map_slot){ key, 0 };
		m->has_zero = m->has_zero || !key;
		m->count++;
	}
	if (is_new)
		*is_new = is_added;
	return &slot->value;
}

uint64_t *tare_map_get(const struct tare_map *m, uint64_t key)
{
	struct tare_map_slot *slot;

	if (!m->cap)
		return NULL;
	if (!key)
		return m->has_zero ? &m->slots[m->cap].value : NULL;
	slot = find(m, key);
	return slot->key ? &slot->value : NULL;
}

void tare_map_prefetch(const struct tare_map *m, uint64_t key)
{
	if (m->cap)
		__builtin_prefetch(&m->slots[mix(key) & (m->cap - 1)], 1);
}

/* Closes the gap by moving later slots of the same run back, so that there are no tombstones. */
static void close_gap(struct tare_map *m, size_t gap)
{
	size_t mask = m->cap - 1;

	for (size_t i = (gap + 1) & mask; m->slots[i].key; i = (i + 1) & mask) {
		size_t home = mix(m->slots[i].key) & mask;

		if (((i - home) & mask) >= ((i - gap) & mask)) {
			m->slots[gap] = m->slots[i];
			gap = i;
		}
	}
	m->slots[gap].key = 0;
}

bool tare_map_remove(struct tare_map *m, uint64_t key, uint64_t *value)
{
	struct tare_map_slot *slot;

	if (!m->cap || (!key && !m->has_zero))
		return false;
	slot = key ? find(m, key) : &m->slots[m->cap];
	if (slot->key != key)
		return false;
	if (value)
		*value = slot->value;
	if (key)
		close_gap(m, (size_t)(slot - m->slots));
	else
		m->has_zero = false;
	m->count--;
	return true;
}

const struct tare_map_slot *tare_map_next(const struct tare_map *m, size_t *at)
{
	for (; *at < m->cap; (*at)++)
		if (m->slots[*at].key)
			return &m->slots[(*at)++];
	if (*at == m->cap && m->has_zero)
		return &m->slots[(*at)++];
	return NULL;
}

void tare_map_free(struct tare_map *m)
{
	free(m->slots);
	*m = (struct tare_map){ 0 };
}

static uint64_t hash_text(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return mix(h);
}

static struct tare_strmap_slot *find_text(const struct tare_strmap *m, const char *key, uint64_t hash)
{
	size_t mask = m->cap - 1, i = hash & mask;

	while (m->slots[i].key && (m->slots[i].hash != hash || strcmp(m->slots[i].key, key)))
		i = (i + 1) & mask;
	return &m->slots[i];
}

static void grow_text(struct tare_strmap *m)
{
	struct tare_strmap old = *m;

	m->cap = old.cap ? old.cap * 2 : FIRST_CAP;
	m->slots = tare_xcalloc(m->cap, sizeof(*m->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].key)
			*find_text(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
	free(old.slots);
}

uint64_t *tare_strmap_put(struct tare_strmap *m, const char *key, bool *is_new)
{
	uint64_t hash = hash_text(key);
	struct tare_strmap_slot *slot;
	bool is_added;

	if (is_crowded(m->count, m->cap))
		grow_text(m);
	slot = find_text(m, key, hash);
	is_added = !slot->key;
	if (is_added) {
		*slot = (struct tare_strmap_slot){ tare_xstrdup(key), hash, 0 };
		m->count++;
	}
	if (is_new)
		*is_new = is_added;
	return &slot->value;
}

uint64_t *tare_strmap_get(const struct tare_strmap *m, const char *key)
{
	struct tare_strmap_slot *slot;

	if (!m->cap)
		return NULL;
	slot = find_text(m, key, hash_text(key));
	return slot->key ? &slot->value : NULL;
}

const struct tare_strmap_slot *tare_strmap_next(const struct tare_strmap *m, size_t *at)
{
	for (; *at < m->cap; (*at)++)
		if (m->slots[*at].key)
			return &m->slots[(*at)++];
	return NULL;
}

void tare_strmap_free(struct tare_strmap *m)
{
	for (size_t i = 0; i < m->cap; i++)
		free(m->slots[i].key);
	free(m->slots);
	*m = (struct tare_strmap){ 0 };
}
