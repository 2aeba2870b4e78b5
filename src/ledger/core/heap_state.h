/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of malloc and mappings of a process that is recorded with --host. */
#ifndef TARE_LEDGER_HEAP_STATE_H
#define TARE_LEDGER_HEAP_STATE_H

#include "base/map.h"
#include "base/sorted.h"
#include "ledger/saved.h"

#include <stddef.h>
#include <stdint.h>

enum { TARE_HEAP_PAGE = 4096, TARE_HEAP_POWERS = 48 };

struct tare_heap_block {
	uint64_t address;
	int64_t bytes;    /* that the block stands for; of a free place: 1 + the next free place, 0: none */
	int64_t variance; /* of that, in KiB²: 0 of one that stands for itself */
	int bucket, context;
	uint32_t count;   /* blocks that it stands for */
	bool is_reserved; /* addresses that nobody may touch: they do not count */
	bool is_moving;   /* realloc makes another of it */
	uint8_t power;    /* it has from 2^power bytes up, and fewer than twice as many */
};

/* Where blocks of two stacks are booked, a native one and one of Python. */
enum { TARE_HEAP_BOOKED_BITS = 12, TARE_HEAP_BOOKED = 1 << TARE_HEAP_BOOKED_BITS };
struct tare_heap_booked {
	uint64_t stacks;
	int bucket, context;
	bool is_known;
};

struct tare_heap_blocks {     /* of malloc, or mappings */
	struct tare_map place_of; /* address → 1 + place */
	struct tare_heap_block *items;
	size_t count, cap;
	size_t free;                                     /* 1 + the first free place, 0: none */
	TARE_ONLY_FREED struct tare_heap_booked *booked; /* TARE_HEAP_BOOKED, by a hash of the stacks; NULL: none yet */
	/* Threads inside of realloc → the block that it has; inside of mremap → what it took away, enum tare_heap_parts. */
	struct tare_map moving;
	TARE_NOT_SAVED int sized[TARE_HEAP_POWERS]; /* by power: 1 + the bucket of what is so large; 0: not looked up yet */
	/* of mappings */
	TARE_ONLY_FREED struct tare_sorted first_pages; /* address / TARE_HEAP_PAGE of each */
};

/* src/ledger/settle/heap_live.c */
void tare_heap_blocks_restore(struct tare_heap_blocks *mapped);

#endif
