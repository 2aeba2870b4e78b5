/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that lived over several states, and ended between two of them. Beside each state stands what became of the blocks that the
 * state before it had: so the fold of a moment long ago finds the end of every block without reading the events in between.
 */
#include "ledger/state/private.h"

#include "base/array.h"
#include "ledger/settle/settle.h"

#include <stdlib.h>

/* No pointer is among what is told of a block. */
static const struct tare_shape_world nothing = { .arg = NULL };

void tare_ended_save(const struct tare_tensors_part *tensors, struct tare_str *out)
{
	tare_shape_save(&tare_shape_tare_ended_blocks, &tensors->ended, &nothing, out);
}

/* The later fold, which goes on from the newest of these states, tells of it as if it had seen the block go. */
static void learn(struct tare_watches *own, struct tare_watches *later, const struct tare_known_block *b)
{
	uint64_t serial = b->block.serial;

	if (!tare_map_remove(&own->open, serial, NULL))
		return;
	TARE_APPEND(later->gone, later->gone_nr, later->gone_cap) = *b;
	*tare_map_put(&later->gone_at, serial, NULL) = later->gone_nr;
}

void tare_ended_learn(struct tare_tensors_part *tensors, struct tare_tensors_part *later, const struct tare_str *bytes)
{
	struct tare_ended_blocks ended = { 0 };

	if (tare_shape_load(&tare_shape_tare_ended_blocks, &ended, &nothing, bytes->data, bytes->len))
		for (size_t i = 0; i < ended.count; i++)
			learn(&tensors->watched, &later->watched, &ended.items[i]);
	free(ended.items);
}
