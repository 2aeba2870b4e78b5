/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of PyTorch's allocators: those that are live, and those that were at a moment. */
#ifndef TARE_LEDGER_BLOCK_STATE_H
#define TARE_LEDGER_BLOCK_STATE_H

#include "ledger/build.h"
#include "ledger/core/block_use.h"

/* A block that was handed out and not taken back. */
struct tare_live_block {
	uint64_t address;
	int64_t bytes;   /* of a free slot: 1 + the next one, 0: none */
	int64_t born_ns; /* -1: before what a checkpoint replaced */
	int process;     /* -1: a free slot */
	uint32_t site, tid;
	uint16_t flags;  /* enum tare_tensor_flag */
	bool is_watched; /* for instants that are not moments, see category.c */
	bool is_beside;  /* its thread had told nothing: use.section and such are the leader's */
	int bucket;      /* it is booked in; -1: none */
	struct tare_use use;
	/*
	 * What of it is: all but what lies in trials, or outside of segments. Of mapped memory of the CPU: what tells
	 * its file from others (mapped_file.c), 0: not known.
	 */
	int64_t booked;
};
/* A recording may have millions: a field more must find room in what is there, or be worth 8 bytes of each. */
_Static_assert(sizeof(struct tare_live_block) == 128, "a block grew");

struct tare_block_places {
	uint64_t *slots; /* block_places.c */
	size_t cap, count;
};

struct tare_blocks { /* of one process on one device */
	struct tare_work work;
	struct tare_block_places places; /* address → place in items */
	struct tare_live_block *items;
	size_t count, cap;
	size_t free; /* 1 + the first free slot, 0: none */
};

/* A block that is not live any more. */
struct tare_kept_block {
	struct tare_live_block block;
	uint64_t gone; /* tare_fold.block_serial when it went */
};

/*
 * Blocks that were live at a mark of a device, or of the CPU, and are not any more; and some that moments which have
 * moved on do not need any more.
 */
struct tare_kept_blocks {
	struct tare_kept_block *items;
	size_t count, cap;
	uint64_t at[TARE_MOMENT_NR]; /* tare_fold.block_serial at each moment; 0: it was not yet */
};

struct tare_block_list {
	const struct tare_live_block **items;
	size_t count, cap;
};

#endif
