/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of a smaller card, around one call of the driver:
 *
 *     if (!tare_limit_begin(&limit, device, least, most))
 *             return CUDA_ERROR_OUT_OF_MEMORY;           the card has no room for it
 *     result = tare_driver.…;
 *     if (tare_limit_is_passed(&limit, result))
 *             … undo it; result = CUDA_ERROR_OUT_OF_MEMORY;
 *     tare_limit_end(&limit);
 *
 * The device's own counter is what is limited, so whatever takes memory counts, of any process.
 * Before the call `most` is added to what is under way, by one compare-and-swap that fails if any
 * other call ended since the counter was read. No lock is held across the call.
 *
 * A call that takes something between `least` and `most` (a small allocation may find room in a page
 * that is there) is let through when only `least` fits, one at a time, and undone if it did take more.
 */
#ifndef TARE_RECORDER_VRAM_LIMIT_H
#define TARE_RECORDER_VRAM_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/cuda_abi.h"
#include "recorder/cuda/real.h"
#include "recorder/vram/card.h"

struct tare_limit {
	struct tare_vram_card *card; /* NULL: nothing is limited here */
	int device;
	uint64_t before; /* device bytes that counted before the call */
	uint64_t units;  /* under way */
	uint64_t word;   /* the card's, with them */
	bool is_alone;   /* nothing else was under way when it began */
	bool is_tight;   /* what it took decides */
	bool is_open;    /* nobody knows before what it takes */
};

#define TARE_LIMIT_OPEN UINT64_MAX /* as `most`: not known; it is looked at afterwards */

bool tare_limit_begin(struct tare_limit *limit, int device, uint64_t least, uint64_t most);
bool tare_limit_is_passed(const struct tare_limit *limit, CUresult result);
void tare_limit_end(struct tare_limit *limit);

/* Bytes that this call took; 0 where another call was under way as well, so that nobody can say. */
uint64_t tare_limit_growth(const struct tare_limit *limit);

/* What counts now, TARE_NOT_KNOWN if nobody can say. */
uint64_t tare_limit_used(const struct tare_limit *limit);

/* Of the device that the current context is on; -1: none. */
int tare_limit_device(void);

/* The function that a hook calls instead of the driver's; NULL: the driver's. */
void *tare_limit_of(enum tare_api api);

/*
 * The recorded call under way was refused by us: how much it would have needed, and how much of that
 * is not there. Asked once.
 */
bool tare_limit_take_refusal(uint64_t *needed, uint64_t *missing);

#endif
