/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lane a thread writes in. A lane belongs to a thread, and while a record is being written to the writing
 * itself: a signal handler that interrupts it finds no lane at its thread and takes another, and if the handler
 * never returns, the first one stays as it was, with everything published in it whole.
 */
#ifndef TARE_RECORDER_RING_PLACE_H
#define TARE_RECORDER_RING_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* A lane of this process's ring, and what only its owner needs to know of it. */
struct tare_place {
	struct tare_lane *lane;
	uint8_t *bytes;
	uint64_t head;      /* as in the lane */
	uint64_t tail_seen; /* it may be further by now */
	uint64_t owner;     /* as all threads know it */
	uint32_t size, index;
	uint32_t epoch;  /* of the log */
	uint32_t tid;    /* whose it is */
	uintptr_t frame; /* stack address of the writing that has it */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct tare_place) == 64, "one cache line");

/*
 * The lane of the calling thread, which it gives away until tare_place_return(); NULL: there are more threads than
 * lanes, which is counted as a loss, or this is a child forked since `epoch` was asked for. `frame`: where the caller's stack is.
 */
struct tare_place *tare_place_take(uint32_t epoch, uintptr_t frame);
void tare_place_return(struct tare_place *place, uint32_t epoch);

/* Is this thread in the middle of a record, here or in what it interrupted? */
bool tare_place_is_in_use(void);

/* In a forked child: no lane is anybody's. */
void tare_place_forget(void);

/* Lane `index`, if it was ever used; for who drains all of them. */
struct tare_place *tare_place_at(uint32_t index);

#endif
