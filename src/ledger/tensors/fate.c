/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guesses which blocks would have been freed within the piece of work (forward, backward, optimizer) that made them,
 * where the program was killed or still runs in the middle of that piece: as many blocks as were freed within the
 * piece of the same kind before it, of the same line and size.
 */
#include "ledger/tensors/tensors.h"

enum { KEYS = 4096 };

/* In a value: which piece of its kind it was, how many went within it, and within the one before. */
static uint64_t value_of(uint32_t turn, uint16_t now, uint16_t before)
{
	return (uint64_t)turn << 32 | (uint64_t)now << 16 | before;
}

static uint64_t key_of(const struct tare_live_block *b, const struct tare_block_facts *facts)
{
	return ((b->site + UINT64_C(1)) << 2 | facts->kind) * UINT64_C(0x9e3779b97f4a7c15) ^
	       (uint64_t)b->bytes * UINT64_C(0xff51afd7ed558ccd);
}

/* Gradients may go before anything else is made, and still not within the pass that made them. */
static bool went_within(const struct tare_live_block *b, const struct tare_block_facts *facts)
{
	if (facts->kind == TARE_WORK_BACKWARD)
		return b->marks & TARE_BLOCK_IN_BACKWARD && !b->lived_backwards;
	return facts->kind != TARE_WORK_OTHER && b->marks & TARE_BLOCK_IN_SECTION;
}

void tare_fates_note(struct tare_map *fates, const struct tare_live_block *b, const struct tare_block_facts *facts)
{
	uint32_t turn = facts->turn;
	uint16_t now, before;
	uint64_t *v;

	if (!went_within(b, facts) || (fates->count >= KEYS && !tare_map_get(fates, key_of(b, facts))))
		return;
	v = tare_map_put(fates, key_of(b, facts), NULL);
	now = (uint16_t)(*v >> 16);
	before = (uint16_t)*v;
	if (*v >> 32 != turn) {
		before = *v >> 32 == turn - 1 ? now : 0;
		now = 0;
	}
	*v = value_of(turn, now == UINT16_MAX ? now : now + 1, before);
}

bool tare_fates_will_pass(const struct tare_map *fates, const struct tare_live_block *b,
                          const struct tare_block_facts *facts)
{
	const uint64_t *v = facts->kind == TARE_WORK_OTHER ? NULL : tare_map_get(fates, key_of(b, facts));
	uint16_t now, before;

	if (!v)
		return false;
	now = (uint16_t)(*v >> 16);
	before = (uint16_t)*v;
	if (*v >> 32 == facts->turn)
		return now < before;
	return *v >> 32 == facts->turn - 1 && now;
}
