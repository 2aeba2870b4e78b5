/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_BLOCK_H
#define TARE_STORE_BLOCK_H

#include "record/schema.h"
#include "store/form.h"

/*
 * Records of one log as a block of a segment, and back. A block stands on its own: it names nothing outside of itself.
 * What comes back is byte for byte what was given, its seal included.
 *
 *   A block is: the number of records; which forms there are (a kind, and whether its fields are columns or it is
 *   raw bytes, as of a kind without a layout); the form of each record; stamps; positions;
 *   then the columns of each form.
 */
struct tare_block_record {
	const uint8_t *data; /* the record, aligned to 16 */
	uint64_t position;
	uint32_t bytes; /* in the log */
};

enum {
	TARE_BLOCK_RECORDS = 16384, /* a block has no more of them, */
	TARE_BLOCK_BYTES = 8 << 20, /* and none is begun in one that has more than these */
};

void tare_block_encode(struct tare_pack *out, const struct tare_layouts *layouts,
                       const struct tare_block_record *records, size_t n);

/* Records begin .. end-1 of a block, which are there as columns only. */
struct tare_tensor_run {
	size_t begin, end;
	struct tare_tensor_columns columns; /* from record `begin` on */
	bool is_of_one_device;              /* that of the first of columns.others */
};

struct tare_record_block {
	struct tare_block_record *records; /* in the order in which they were given; those of runs are not set */
	const uint64_t *stamps;
	size_t n, cap;
	struct tare_tensor_run *runs; /* in the same order; none without TARE_BLOCK_COLUMNS */
	size_t run_nr, run_cap;
	struct tare_block_memory *memory;
};
void tare_block_free(struct tare_record_block *b); /* b is empty afterwards */

enum {
	TARE_BLOCK_POSITIONS = 1, /* without it `position` and the seals are 0, which is quicker */
	TARE_BLOCK_OUTLINE = 2,   /* of tensors and blocks of the heap only `device` counts, which is quicker still */
	/* Tensors come as runs. Not together with one of the others, and only where they lie as in this version. */
	TARE_BLOCK_COLUMNS = 4,
};

/*
 * Into `b`, whose former content is dropped. `wanted`: TARE_BLOCK_… together.
 * `data` has room for all fields that the layout of the kind has; those that the record lacks are 0. False:
 * damage; then the block has no records.
 */
bool tare_block_decode(struct tare_record_block *b, const struct tare_layouts *layouts, const void *bytes, size_t size,
                       int wanted);

#endif
