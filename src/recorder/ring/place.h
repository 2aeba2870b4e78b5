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

#include "recorder/recorder.h"

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

#ifndef TARE_STEP
#define TARE_STEP(name) ((void)0) /* where tests stop */
#endif

#define TARE_PLACE_AT_REST UINTPTR_MAX /* frame of no writing: never deeper than another */

/*
 * The lane of the calling thread, which it gives away until tare_place_return(); NULL: there are more threads than
 * lanes, which is counted as a loss, or this is a child forked since `epoch` was asked for. `frame`: where the caller's stack is.
 */
static inline struct tare_place *tare_place_take(uint32_t epoch, uintptr_t frame);
static inline void tare_place_return(struct tare_place *place, uint32_t epoch);

/* Is this thread in the middle of a record, here or in what it interrupted? */
bool tare_place_is_in_use(void);

/* In a forked child: no lane is anybody's. False: there is no memory for that, so the child may not record. */
bool tare_place_forget(void);

/* Lane `index`, if it was ever used; for who drains all of them. */
struct tare_place *tare_place_at(uint32_t index);

/* What a thread does that has no lane, and with one too many. */
TARE_COLD struct tare_place *tare_place_find(uint32_t epoch, uintptr_t frame);
TARE_COLD void tare_place_free(struct tare_place *place);

/*
 * A larger lane in place of one that is full, which is given back as it is; or the same, if there is none. Each thread
 * begins with a small lane, because to make a large one takes longer.
 */
TARE_COLD struct tare_place *tare_place_widen(struct tare_place *place);

/* Atomic for a thread and its signal handlers; other threads never see these words. So no bus lock is needed. */
static inline bool tare_place_swap(struct tare_place *from, struct tare_place *to)
{
#if defined(__x86_64__)
	struct tare_place *seen = from;

	__asm__ volatile("cmpxchgq %2, %1"
			 : "+a"(seen), "+m"(tare_thread.place)
			 : "r"(to)
			 : "cc", "memory");
	return seen == from;
#else
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	bool is_done = __atomic_compare_exchange_n(&tare_thread.place, &from, to, false,
						   __ATOMIC_RELAXED, __ATOMIC_RELAXED);

	__atomic_signal_fence(
		__ATOMIC_SEQ_CST); /* what a handler left in the lane is read after it */
	return is_done;
#endif
}

static inline struct tare_place *tare_place_take(uint32_t epoch, uintptr_t frame)
{
	struct tare_place *place = tare_thread.place;

	TARE_STEP("seen");
	if (unlikely(!place || place->epoch != epoch || !tare_place_swap(place, NULL)))
		return tare_place_find(epoch, frame);
	TARE_STEP("taken");
	place->frame = frame;
	return place;
}

static inline void tare_place_return(struct tare_place *place, uint32_t epoch)
{
	if (unlikely(place->epoch != epoch))
		return; /* a child that was forked in the middle of this: the lane is its parent's */
	place->frame = TARE_PLACE_AT_REST;
	TARE_STEP("returning");
	if (unlikely(!tare_place_swap(NULL, place))) /* a handler left one here */
		tare_place_free(place);
}

#endif
