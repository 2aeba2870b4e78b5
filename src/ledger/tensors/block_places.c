/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the block of an address is. There may be millions, so a slot has 8 bytes: half of the hash of the address, and
 * 1 + the place of the block, which has the address itself. Slots that follow a taken one are taken next.
 */
#include "ledger/tensors/tensors.h"

#include "base/xalloc.h"

#include <stdlib.h>

enum { FIRST_CAP = 16 };

static uint32_t hash_in(uint64_t slot)
{
	return (uint32_t)(slot >> 32);
}

static uint32_t place_in(uint64_t slot)
{
	return (uint32_t)slot;
}

static void put(struct tare_block_places *p, uint32_t hash, uint32_t place)
{
	size_t mask = p->cap - 1, i = hash & mask;

	while (p->slots[i])
		i = (i + 1) & mask;
	p->slots[i] = (uint64_t)hash << 32 | place;
}

/* With one more at most 5/8 full. */
static void make_room(struct tare_block_places *p)
{
	p->cap = p->cap ? p->cap : FIRST_CAP;
	while ((p->count + 2) * 8 > p->cap * 5)
		p->cap *= 2;
	p->slots = tare_xcalloc(p->cap, sizeof(*p->slots));
}

/* Slots have the hashes of their addresses, so no block is looked at. */
static void grow(struct tare_block_places *p)
{
	struct tare_block_places old = *p;

	make_room(p);
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i])
			put(p, hash_in(old.slots[i]), place_in(old.slots[i]));
	free(old.slots);
}

/* All are found again by their addresses, so a state need not have them. */
void tare_places_restore(struct tare_blocks *b)
{
	b->places = (struct tare_block_places){ 0 };
	for (size_t i = 0; i < b->count; i++)
		b->places.count += b->items[i].process >= 0;
	if (!b->places.count)
		return;
	make_room(&b->places);
	for (size_t i = 0; i < b->count; i++)
		if (b->items[i].process >= 0)
			put(&b->places, tare_places_hash(b->items[i].address), (uint32_t)i + 1);
}

uint32_t tare_places_guess(const struct tare_blocks *b, uint64_t address)
{
	const struct tare_block_places *p = &b->places;
	uint32_t hash = tare_places_hash(address);

	if (!p->cap)
		return 0;
	for (size_t mask = p->cap - 1, i = hash & mask; p->slots[i]; i = (i + 1) & mask)
		if (hash_in(p->slots[i]) == hash)
			return place_in(p->slots[i]);
	return 0;
}

/* The slot of an address; one that is free: there is none. pre: there are slots. */
static size_t slot_of(const struct tare_blocks *b, uint64_t address)
{
	const struct tare_block_places *p = &b->places;
	uint32_t hash = tare_places_hash(address);
	size_t mask = p->cap - 1, i = hash & mask;

	while (p->slots[i] && (hash_in(p->slots[i]) != hash || b->items[place_in(p->slots[i]) - 1].address != address))
		i = (i + 1) & mask;
	return i;
}

uint32_t tare_places_find(const struct tare_blocks *b, uint64_t address)
{
	return b->places.cap ? place_in(b->places.slots[slot_of(b, address)]) : 0;
}

uint32_t tare_places_put(struct tare_blocks *b, uint64_t address, uint32_t place)
{
	struct tare_block_places *p = &b->places;
	size_t i;

	if ((p->count + 2) * 8 > p->cap * 5)
		grow(p);
	i = slot_of(b, address);
	if (p->slots[i])
		return place_in(p->slots[i]);
	p->slots[i] = (uint64_t)tare_places_hash(address) << 32 | place;
	p->count++;
	return 0;
}

/* Moves later slots of the same run back, so that nothing is left in the gap. */
uint32_t tare_places_remove(struct tare_blocks *b, uint64_t address)
{
	struct tare_block_places *p = &b->places;
	size_t mask = p->cap - 1, gap = p->cap ? slot_of(b, address) : 0;
	uint32_t place = p->cap ? place_in(p->slots[gap]) : 0;

	if (!place)
		return 0;
	for (size_t i = (gap + 1) & mask; p->slots[i]; i = (i + 1) & mask) {
		size_t home = hash_in(p->slots[i]) & mask;

		if (((i - home) & mask) >= ((i - gap) & mask)) {
			p->slots[gap] = p->slots[i];
			gap = i;
		}
	}
	p->slots[gap] = 0;
	p->count--;
	return place;
}
