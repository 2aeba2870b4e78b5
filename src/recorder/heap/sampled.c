/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the blocks that were drawn and live, which threads change without a lock. */
#include "recorder/heap/sampled.h"

#include <stddef.h>
#include <stdint.h>

#include "recorder/base/sys.h"

/*
 * A table is made of groups of one cache line; an address lies in one of the few groups from its own on. Where these
 * are full it lies in the next table, which is four times as large.
 */
enum {
	CROWD_FULL = UINT8_MAX,
	GROUP = 8, /* addresses in a cache line */
	GROUPS = 4,
	TABLES = 5,
	FIRST_TABLE = 1 << 17, /* addresses */
};

uint8_t tare_sampled_crowd[1 << TARE_CROWD_BITS];
static uintptr_t *tables[TABLES];

static size_t size_of(int table)
{
	return (size_t)FIRST_TABLE << 2 * table;
}

static void count(uint64_t hash, int by)
{
	uint8_t *at = &tare_sampled_crowd[hash >> (64 - TARE_CROWD_BITS)], old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (old != CROWD_FULL &&
	       !__atomic_compare_exchange_n(at, &old, (uint8_t)(old + by), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void tare_sampled_suspect(const void *block)
{
	__atomic_store_n(&tare_sampled_crowd[tare_sampled_hash(block) >> (64 - TARE_CROWD_BITS)], CROWD_FULL,
	                 __ATOMIC_RELAXED);
}

static uintptr_t *table_at(int table, bool is_wanted)
{
	uintptr_t *at = __atomic_load_n(&tables[table], __ATOMIC_ACQUIRE), *none = NULL;

	if (at || !is_wanted)
		return at;
	at = tare_sys_mmap(NULL, size_of(table) * sizeof(*at), PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!at || __atomic_compare_exchange_n(&tables[table], &none, at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return at;
	tare_sys_munmap(at, size_of(table) * sizeof(*at)); /* another thread was first */
	return none;
}

/* Puts `now` where `old` is, in one table. */
static bool replace(uintptr_t *table, int number, uint64_t hash, uintptr_t old, uintptr_t now)
{
	size_t mask = size_of(number) - 1, from = (hash >> 20) & mask & ~(size_t)(GROUP - 1);

	for (size_t i = 0; i < (size_t)GROUP * GROUPS; i++) {
		uintptr_t *at = &table[(from + i) & mask], expected = old;

		if (__atomic_load_n(at, __ATOMIC_RELAXED) == old &&
		    __atomic_compare_exchange_n(at, &expected, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool tare_sampled_add(const void *block)
{
	uint64_t hash = tare_sampled_hash(block);

	for (int i = 0; i < TABLES; i++) {
		uintptr_t *table = table_at(i, true);

		if (!table)
			return false;
		if (replace(table, i, hash, 0, (uintptr_t)block)) {
			count(hash, 1);
			return true;
		}
	}
	return false;
}

bool tare_sampled_take(const void *block)
{
	uint64_t hash = tare_sampled_hash(block);

	for (int i = 0; i < TABLES && tare_sampled_may_be(block); i++) {
		uintptr_t *table = table_at(i, false);

		if (!table)
			return false;
		if (replace(table, i, hash, (uintptr_t)block, 0)) {
			count(hash, -1);
			return true;
		}
	}
	return false;
}
