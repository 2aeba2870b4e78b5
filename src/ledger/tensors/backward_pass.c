/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What backward passes leave behind. Gradients of one pass go together; what libraries take for themselves in
 * it stays. A pass is known as long as a block of it is there, so there are never more of them than blocks.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

/*
 * ENOUGH: backward passes that begin after most has gone. Two networks that are trained in turn drop what one
 * pass left to both at two moments.
 */
enum { ENOUGH = 2, KEYS = 4096 };

static uint64_t key_of(const struct tare_live_block *b)
{
	return (b->site + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)b->bytes * UINT64_C(0xff51afd7ed558ccd);
}

static uint32_t new_pass(struct tare_passes *p, uint32_t number)
{
	uint32_t i = p->free;

	if (i) {
		p->free = p->items[i - 1].live;
	} else {
		p->items = tare_array_reserve(p->items, &p->cap, p->count + 1, sizeof(*p->items));
		i = (uint32_t)++p->count;
	}
	p->items[i - 1] = (struct tare_pass){ .number = number };
	p->last = i;
	return i;
}

uint32_t tare_passes_add(struct tare_passes *p, uint32_t number)
{
	uint32_t i = p->last;

	if (!i || p->items[i - 1].number != number)
		i = new_pass(p, number);
	p->items[i - 1].live++;
	p->items[i - 1].kept++;
	return i;
}

static bool has_most_gone(const struct tare_pass *p)
{
	return p->gone > p->kept / 2;
}

/* A line that made gradients of this size before makes gradients: of a parameter that is not trained any more. */
static void note_gone(struct tare_passes *p, const struct tare_live_block *b, const struct tare_block_facts *facts)
{
	uint64_t *first;

	if (p->gone.count >= KEYS && !tare_map_get(&p->gone, key_of(b)))
		return;
	first = tare_map_put(&p->gone, key_of(b), NULL);
	if (!*first || *first > facts->backwards)
		*first = facts->backwards;
}

void tare_passes_remove(struct tare_passes *p, const struct tare_live_block *b, const struct tare_block_facts *facts,
                        uint32_t backwards, bool is_passing)
{
	struct tare_pass *pass = facts->pass ? &p->items[facts->pass - 1] : NULL;
	bool was_gone;

	if (!pass)
		return;
	was_gone = has_most_gone(pass);
	pass->live--;
	if (is_passing) {
		pass->kept--;
	} else {
		pass->gone++;
		note_gone(p, b, facts);
	}
	if (!was_gone && has_most_gone(pass))
		pass->gone_at = backwards;
	if (pass->live)
		return;
	if (p->last == facts->pass)
		p->last = 0;
	*pass = (struct tare_pass){ .live = p->free };
	p->free = facts->pass;
}

bool tare_passes_has_stayed(const struct tare_passes *p, const struct tare_live_block *b,
                            const struct tare_block_facts *facts, uint32_t backwards)
{
	const struct tare_pass *pass;
	const uint64_t *first;

	if (!facts->pass)
		return false;
	pass = &p->items[facts->pass - 1];
	if (!has_most_gone(pass) || backwards - pass->gone_at < ENOUGH)
		return false;
	first = tare_map_get(&p->gone, key_of(b));
	return !first || *first >= pass->number;
}

void tare_passes_note_said(struct tare_passes *p, const struct tare_live_block *b, const struct tare_block_facts *facts)
{
	if (facts->maker == TARE_MAKER_COMMUNICATION && p->said.count < KEYS)
		tare_map_put(&p->said, key_of(b), NULL);
}

bool tare_passes_was_said(const struct tare_passes *p, const struct tare_live_block *b)
{
	return tare_map_get(&p->said, key_of(b)) != NULL;
}
