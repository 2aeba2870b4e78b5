/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_HEAP_LIVE_H
#define TARE_LEDGER_HEAP_LIVE_H

#include "ledger/core/fold.h"

#define TARE_HEAP_BYTES_MAX (UINT64_C(1) << 46) /* of one block; more is damage */

/* What is there at an address goes. False: nothing is. */
bool tare_heap_block_take(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                          uint64_t address);

/* Adds a block that a call handed out; what is there already has gone, and its end was not seen. */
void tare_heap_block_put(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                         const struct tare_heap_block *b);

/*
 * What a thread gave to realloc is there until it has the block that realloc made of it, and goes with the next that is heard of
 * the thread: no moment between has less than before and after, so a buffer that becomes larger never falls (growth).
 */
void tare_heap_block_move(struct tare_heap_blocks *h, uint64_t address, uint32_t tid);
void tare_heap_block_moved(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h, uint32_t tid);

/* heap_block.c: the process has taken something, so its end is no end yet */
void tare_heap_note_work(struct tare_fold *f, struct tare_device_fold *d, const struct tare_process_fold *p, int64_t t);
/* Is it of malloc, stands for itself, and is no damage? */
static inline bool tare_heap_is_plain(const struct tare_rec_heap_block *r)
{
	return r->source == TARE_HEAP_OF_MALLOC && !r->sampling && r->bytes <= TARE_HEAP_BYTES_MAX;
}

/* What of a range there was: memory that may be used, and addresses that are reserved only. */
enum tare_heap_parts { TARE_HEAP_USABLE = 1, TARE_HEAP_RESERVED = 2 };

/* n of the 2^n bytes from which on a block is so large: floor(log2(bytes)), and 0 of none. */
static inline uint8_t tare_heap_power(uint64_t bytes)
{
	return bytes ? (uint8_t)(63 - __builtin_clzll(bytes)) : 0;
}

/* Adds a mapping that a call made; nothing else is there. */
void tare_heap_mapping_add(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                           const struct tare_heap_block *b);
/* All that is in the range goes; what of a mapping is outside of it stays. What went: enum tare_heap_parts. */
unsigned int tare_heap_mapping_cut(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                                   uint64_t begin, uint64_t bytes);
/*
 * What is mapped in the range of `as` and is not as that says (is_reserved) becomes so. What becomes usable is booked
 * where `as` is. False: there was nothing of that kind.
 */
bool tare_heap_mapping_change(struct tare_fold *f, struct tare_device_fold *d, struct tare_heap_blocks *h,
                              const struct tare_heap_block *as);

#endif
