/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_HEAP_LIVE_H
#define TARE_LEDGER_HEAP_LIVE_H

#include "ledger/core/fold.h"

void tare_heap_block_add(struct tare_fold *f, struct tare_device_fold *d,
			 struct tare_heap_blocks *h, const struct tare_heap_block *b);
/* What is there at an address goes. False: nothing is. */
bool tare_heap_block_take(struct tare_fold *f, struct tare_device_fold *d,
			  struct tare_heap_blocks *h, uint64_t address);

/* What of a range there was: memory that may be used, and addresses that are reserved only. */
enum tare_heap_parts { TARE_HEAP_USABLE = 1, TARE_HEAP_RESERVED = 2 };

/* Adds a mapping; nothing else is there. */
void tare_heap_mapping_add(struct tare_fold *f, struct tare_device_fold *d,
			   struct tare_heap_blocks *h, const struct tare_heap_block *b);
/* All that is in the range goes; what of a mapping is outside of it stays. What went: enum tare_heap_parts. */
unsigned int tare_heap_mapping_cut(struct tare_fold *f, struct tare_device_fold *d,
				   struct tare_heap_blocks *h, uint64_t begin, uint64_t bytes);
/*
 * What is mapped in the range of `as` and is not as that says (is_reserved) becomes so. What becomes usable is booked
 * where `as` is. False: there was nothing of that kind.
 */
bool tare_heap_mapping_change(struct tare_fold *f, struct tare_device_fold *d,
			      struct tare_heap_blocks *h, const struct tare_heap_block *as);

#endif
