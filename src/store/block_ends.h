/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_BLOCK_ENDS_H
#define TARE_STORE_BLOCK_ENDS_H

#include "base/owned.h"
#include "store/block.h"

/*
 * Most blocks have nothing but tensors (TARE_KIND_TENSOR) of one device, and marks of phases. Who looks ahead wants to know
 * from when to when these were: the first and the last of each kind, for which no other record has to be made.
 */
enum { TARE_BLOCK_ENDS = 4 };

/* {0} to begin with. */
struct tare_block_ends {
	struct tare_record_block block; /* of these records, in their order */
	struct tare_block_record list[TARE_BLOCK_ENDS];
	uint64_t stamps[TARE_BLOCK_ENDS];
	struct tare_rec_tensor records[TARE_BLOCK_ENDS]; /* of a phase only the head */
	TARE_OWNED struct tare_form_scratch scratch;
	TARE_OWNED uint64_t *column;
	size_t column_cap;
};
TARE_FREES(tare_block_ends_free, tare_block_ends); /* e is empty afterwards */

/*
 * Into `e->block`: of a tensor only `device` counts, as with TARE_BLOCK_OUTLINE. `first` and `last` are the stamps of the first
 * and the last record of the block. False: it is another block, or it is damaged.
 */
bool tare_block_read_ends(struct tare_block_ends *e, const struct tare_layouts *layouts, const void *bytes, size_t size,
                          uint64_t first, uint64_t last);

#endif
