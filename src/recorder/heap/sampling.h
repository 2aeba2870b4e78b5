/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks are recorded under --host=sample. Think of a thread's allocations as one row of bytes, in which marks
 * lie at random, on average one in `mean` bytes: a block with a mark in it is recorded. So a block of s bytes is
 * recorded with the probability 1 - exp(-s/mean), whatever came before, and a reader who divides by that is right on
 * average.
 */
#ifndef TARE_RECORDER_SAMPLING_H
#define TARE_RECORDER_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/recorder.h"

extern TARE_TLS struct tare_sampling {
	uint64_t left;  /* bytes until the next mark, of them at most `mean`, … */
	uint64_t rest;  /* … and behind these */
	uint64_t state; /* of the random numbers; 0: not begun, and `left` is 0 */
} tare_sampling;

/*
 * Is there no mark in the next `bytes` of this thread? Nearly always. False: it has not begun, or what is larger than
 * the mean is asked for, or there may be one; the next function says. A signal handler in between may ask, too: what
 * it takes is counted in vain then.
 */
static inline bool tare_sampling_passes(size_t bytes)
{
	uint64_t left = __atomic_load_n(&tare_sampling.left, __ATOMIC_RELAXED);

	if (unlikely(left <= bytes))
		return false;
	__atomic_store_n(&tare_sampling.left, left - bytes, __ATOMIC_RELAXED);
	return true;
}

/* Of less than the mean: is there a mark? Then it draws where the next one is. */
bool tare_sampling_takes(size_t bytes, uint64_t mean);

#endif
