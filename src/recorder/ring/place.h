/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lane a thread writes in. A lane belongs to a thread, and while a record is being written to the writing
 * itself: a signal handler that interrupts it finds no lane at its thread and takes another, and if the handler
 * never returns, the first one stays as it was, with everything published in it whole. The thread uses it again when it
 * sees, by the depth of its stack, that the writing cannot go on.
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
	uintptr_t frame; /* stack address of the writing that has it, if the thread's word does not tell of this lane */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct tare_place) == 64, "one cache line");

#ifndef TARE_STEP
#define TARE_STEP(name) ((void)0) /* where tests stop */
#endif

/*
 * A thread's word (tare_thread.lane) is the address of a lane that is at rest; or the frame of the writing that has
 * that lane, plus 1; or 0: no lane yet. It changes in one step, so a signal handler that leaves by longjmp between any
 * two steps leaves a word that tells whose the lane is. Who changes the word to tell of another lane, with all signals
 * blocked, first notes that frame beside the lane. So of each lane that a thread has, it knows either that nobody
 * writes there, or the frame of the writing that does.
 */
#define TARE_PLACE_WRITING(frame) ((frame) + 1)

/*
 * The lane of the calling thread, which it gives away until tare_place_return(); NULL: there are more threads than
 * lanes, which is counted as a loss, or this is a child forked since `epoch` was asked for. `frame`: an even address on
 * the caller's stack that no other writing has.
 */
static inline struct tare_place *tare_place_take(uint32_t epoch, uintptr_t frame);
static inline void tare_place_return(struct tare_place *place, uint32_t epoch, uintptr_t frame);

/* Is this thread in the middle of a record, here or in what it interrupted? */
bool tare_place_is_in_use(void);

/* In a forked child: no lane is anybody's. False: there is no memory for that, so the child may not record. */
bool tare_place_forget(void);

/* Lane `index`, if it was ever used; for who drains all of them. */
struct tare_place *tare_place_at(uint32_t index);

/* What a thread does that has no lane, and with one that its word does not tell of. */
TARE_COLD struct tare_place *tare_place_find(uint32_t epoch, uintptr_t frame);
/* Can what was begun at `other` not go on, because its thread is at `frame` now? False: that is not known. */
TARE_COLD bool tare_place_is_left(uintptr_t other, uintptr_t frame);
TARE_COLD void tare_place_keep(struct tare_place *place, uint32_t epoch);
/* Another thread may take it. */
TARE_COLD void tare_place_free(struct tare_place *place);

/*
 * A larger lane in place of one that is full, which is given back as it is; or the same, if there is none. Each thread
 * begins with a small lane, because to make a large one takes longer.
 */
TARE_COLD struct tare_place *tare_place_widen(struct tare_place *place, uintptr_t frame);

/* Atomic for a thread and its signal handlers; other threads never see these words. So no bus lock is needed. */
static inline bool tare_place_swap(uintptr_t from, uintptr_t to)
{
#if defined(__x86_64__)
	uintptr_t seen = from;

	__asm__ volatile("cmpxchgq %2, %1" : "+a"(seen), "+m"(tare_thread.lane) : "r"(to) : "cc", "memory");
	return seen == from;
#else
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	bool is_done = __atomic_compare_exchange_n(&tare_thread.lane, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);

	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* what a handler left in the lane is read after it */
	return is_done;
#endif
}

/* The lane that a word tells of, if it is at rest. */
static inline struct tare_place *tare_place_at_rest(uintptr_t word)
{
	return word & 1 ? NULL : (struct tare_place *)word;
}

static inline struct tare_place *tare_place_take(uint32_t epoch, uintptr_t frame)
{
	struct tare_place *place = tare_place_at_rest(tare_thread.lane);

	TARE_STEP("seen");
	if (unlikely(!place || place->epoch != epoch || !tare_place_swap((uintptr_t)place, TARE_PLACE_WRITING(frame))))
		return tare_place_find(epoch, frame);
	TARE_STEP("taken");
	return place;
}

static inline void tare_place_return(struct tare_place *place, uint32_t epoch, uintptr_t frame)
{
	if (unlikely(place->epoch != epoch))
		return; /* a child that was forked in the middle of this: the lane is its parent's */
	TARE_STEP("returning");
	/* A handler that found no lane made the word tell of another one. */
	if (unlikely(!tare_place_swap(TARE_PLACE_WRITING(frame), (uintptr_t)place)))
		tare_place_keep(place, epoch);
}

#endif
