/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of PyTorch's allocators: those that are live, and those that were at a moment. */
#ifndef TARE_LEDGER_BLOCK_STATE_H
#define TARE_LEDGER_BLOCK_STATE_H

#include "ledger/build.h"
#include "ledger/core/block_use.h"

/* A block that was handed out and not taken back. */
struct tare_live_block {
	uint64_t address;
	int64_t bytes; /* of a free slot: 1 + the next one, 0: none */
	int64_t born_ns;
	uint64_t serial; /* tare_fold.block_serial when it was handed out */
	int process;     /* -1: a free slot */
	uint32_t site;
	uint32_t facts;                          /* 1 + place of its facts among those of its work, 0: none */
	int bucket;                              /* the bucket that has the block; -1: none */
	uint16_t flags;                          /* enum tare_tensor_flag */
	uint16_t marks;                          /* enum tare_block_mark */
	uint8_t lived_backwards, lived_forwards; /* of more than 255: 255 */
};
/* A recording may have millions: a field more must find room in what is there, or be worth 8 bytes of each. */
_Static_assert(sizeof(struct tare_live_block) == 56, "a block grew");

/* A block with all that is known of it, wherever it goes. */
struct tare_known_block {
	struct tare_live_block block;
	struct tare_block_facts facts;
};

struct tare_block_places {
	TARE_ONLY_FREED uint64_t *slots; /* block_places.c */
	size_t cap, count;
};

struct tare_blocks { /* of one process on one device */
	struct tare_work work;
	TARE_ONLY_FREED struct tare_block_places places; /* address → place in items */
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

/* The blocks of a device, or of the CPU, at a moment, one by one: tensors/block_walk.c. */
struct tare_block_walk {
	const struct tare_fold *f;
	int device;  /* tare_device_fold.index, -1: the memory of the CPU */
	int process; /* whose blocks these are, -1: of all processes */
	enum tare_moment m;
	int at_process; /* whose live blocks are looked at now; behind the last of them: those that are kept */
	size_t at;
};

#endif
