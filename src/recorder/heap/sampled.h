/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that were drawn and have not gone: when one goes, that is recorded. A block belongs to one thread at a time, so
 * nobody adds or takes an address while somebody else does; other addresses come and go at any time. No locks.
 */
#ifndef TARE_RECORDER_SAMPLED_H
#define TARE_RECORDER_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

/* False: there is no room, and the block is not to be recorded. */
bool tare_sampled_add(const void *block);
/* False: it was not there. */
bool tare_sampled_take(const void *block);

/* From here on tare_sampled_may_be() says of this block that it may be there. */
void tare_sampled_suspect(const void *block);

enum { TARE_CROWD_BITS = 18 };
/* Of so many addresses each, how many are there; a count that has reached its end stays there. */
extern uint8_t tare_sampled_crowd[1 << TARE_CROWD_BITS];

static inline uint64_t tare_sampled_hash(const void *block)
{
	return ((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Nearly always it is not, and this says so. */
static inline bool tare_sampled_may_be(const void *block)
{
	return __atomic_load_n(&tare_sampled_crowd[tare_sampled_hash(block) >> (64 - TARE_CROWD_BITS)], __ATOMIC_RELAXED) !=
	       0;
}

#endif
