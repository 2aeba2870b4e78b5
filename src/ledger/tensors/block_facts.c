/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks have in common is kept once. Nobody counts who has it: when there are as many slots more as an eighth of the
 * blocks, all blocks are looked at, and those slots that no block has are free.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_MORE = 1024, BLOCKS_A_SLOT = 8 };

static size_t take_slot(struct tare_block_facts_list *facts)
{
	size_t place = facts->free;

	if (place) {
		facts->free = (size_t)facts->items[place - 1].booked;
		return place - 1;
	}
	facts->items = tare_array_reserve(facts->items, &facts->cap, facts->count + 1, sizeof(*facts->items));
	return facts->count++;
}

uint32_t tare_block_facts_put(struct tare_block_facts_list *facts, const struct tare_block_facts *said)
{
	size_t place = take_slot(facts);

	facts->items[place] = *said;
	return (uint32_t)place + 1;
}

void tare_block_facts_change(struct tare_work *w, struct tare_live_block *b, const struct tare_block_facts *said)
{
	if (memcmp(tare_block_facts_of(w, b), said, sizeof(*said)) != 0)
		b->facts = tare_block_facts_put(&w->facts, said);
}

int64_t tare_block_booked(const struct tare_live_block *b, const struct tare_block_facts *facts)
{
	return b->marks & TARE_BLOCK_BOOKED ? b->bytes : b->marks & TARE_BLOCK_IN_PART ? facts->booked : 0;
}

void tare_block_book(struct tare_work *w, struct tare_live_block *b, int64_t booked)
{
	struct tare_block_facts said = *tare_block_facts_of(w, b);

	b->marks &= (uint16_t) ~(TARE_BLOCK_BOOKED | TARE_BLOCK_IN_PART);
	b->marks |= tare_booked_mark(b, booked);
	said.booked = b->marks & TARE_BLOCK_IN_PART ? booked : 0;
	tare_block_facts_change(w, b, &said);
}

/* ---- slots that no block has ---- */

static size_t note(uint8_t *is_used, const struct tare_live_block *b)
{
	if (b->facts)
		is_used[b->facts - 1] = 1;
	return 1;
}

/* Notes which slots the blocks have; returns how many blocks that are. */
static size_t note_used(uint8_t *is_used, const struct tare_blocks *b, const struct tare_kept_blocks *kept, int process)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->count; i++)
		if (b->items[i].process >= 0)
			nr += note(is_used, &b->items[i]);
	for (size_t i = 0; i < kept->count; i++)
		if (kept->items[i].block.process == process)
			nr += note(is_used, &kept->items[i].block);
	return nr;
}

void tare_block_facts_make_room(struct tare_blocks *b, const struct tare_kept_blocks *kept, int process)
{
	struct tare_block_facts_list *facts = &b->work.facts;
	TARE_FREED_HERE uint8_t *is_used = tare_xcalloc(facts->count + 1, 1);
	size_t blocks = note_used(is_used, b, kept, process), used = 0;

	facts->free = 0;
	for (size_t i = facts->count; i-- > 0;) {
		used += is_used[i];
		if (is_used[i])
			continue;
		facts->items[i] = (struct tare_block_facts){ .booked = (int64_t)facts->free };
		facts->free = i + 1;
	}
	memset(facts->recent, 0, sizeof(facts->recent));
	facts->look_at = used + blocks / BLOCKS_A_SLOT + LEAST_MORE;
}
