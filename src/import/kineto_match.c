/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the end of a block with its begin, where a trace has no addresses. */
#include "import/kineto_match.h"

#include "base/array.h"

#include <stdlib.h>

#define FIRST_ADDRESS (UINT64_C(1) << 32)

struct tare_kineto_slot {
	uint64_t address;
	uint64_t next; /* 1 + the slot below it in its list, 0: none */
};

static uint64_t new_slot(struct tare_kineto_match *m, uint64_t bytes)
{
	if (!m->end)
		m->end = FIRST_ADDRESS;
	TARE_APPEND(m->slots, m->count, m->cap) = (struct tare_kineto_slot){ .address = m->end };
	m->end += bytes;
	return m->count;
}

/* The slot of this size on top of a list goes to the other one; a new one where there is none. */
static uint64_t move(struct tare_kineto_match *m, struct tare_map *from, struct tare_map *to, uint64_t bytes)
{
	uint64_t *top = tare_map_put(from, bytes, NULL), slot = *top;

	if (slot)
		*top = m->slots[slot - 1].next;
	else
		slot = new_slot(m, bytes);
	top = tare_map_put(to, bytes, NULL);
	m->slots[slot - 1].next = *top;
	*top = slot;
	return m->slots[slot - 1].address;
}

uint64_t tare_kineto_match_begin(struct tare_kineto_match *m, uint64_t bytes)
{
	return move(m, &m->unused, &m->used, bytes);
}

uint64_t tare_kineto_match_end(struct tare_kineto_match *m, uint64_t bytes)
{
	return move(m, &m->used, &m->unused, bytes);
}
