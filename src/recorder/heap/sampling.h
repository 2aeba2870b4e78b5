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
	uint64_t left;  /* bytes until the next mark */
	uint64_t state; /* of the random numbers; 0: not begun */
} tare_sampling;

/* Is there no mark in the next `bytes` of this thread? Nearly always; else the next function is to be asked. */
static inline bool tare_sampling_passes(size_t bytes)
{
	if (unlikely(tare_sampling.left < bytes))
		return false;
	tare_sampling.left -= bytes;
	return true;
}

/* … and draws where the next mark is. False: the thread has only begun, and there was none. */
TARE_COLD bool tare_sampling_takes(size_t bytes, uint64_t mean);

#endif
