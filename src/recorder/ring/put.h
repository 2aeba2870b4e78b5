/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record on its way into the lane of its thread, where nothing is in that way; what may be is in ring.c. Inline, for
 * records of which there are many (emit.c); others call tare_ring_begin() and tare_ring_end().
 */
#ifndef TARE_RECORDER_RING_PUT_H
#define TARE_RECORDER_RING_PUT_H

#include "recorder/base/fork.h"
#include "recorder/recorder.h"
#include "recorder/ring/place.h"
#include "recorder/ring/ring.h"

/* Opens the log. False: nothing is recorded here. */
TARE_COLD bool tare_put_open(void);
/* Room in a lane that is full or at its end, or has to tell of a loss, or in a larger one. False: the record is lost. */
TARE_COLD bool tare_put_make_room(struct tare_put *put);

static inline struct tare_record *tare_put_at_head(const struct tare_place *place)
{
	return (struct tare_record *)(void *)(place->bytes + (place->head & (place->size - 1)));
}

/* The bytes are there, in one piece, and nothing has to be told first. */
static inline bool tare_put_has_room(const struct tare_place *place, uint32_t size)
{
	uint64_t at = place->head & (place->size - 1);

	return size <= TARE_RING_RECORD_MAX && at + size <= place->size &&
	       place->head + size - place->tail_seen <= place->size && place->lane->lost == place->lane->lost_told;
}

/* The next records' lines, for writing: they were read by who drains, on another processor. */
static inline void tare_put_fetch_next(const struct tare_place *place)
{
	const uint8_t *next = place->bytes + ((place->head + 192) & (place->size - 1));

#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*next));
#else
	__builtin_prefetch(next, 1);
#endif
}

static inline void tare_put_publish(struct tare_place *place, struct tare_record *rec, enum tare_kind kind,
                                    uint32_t size)
{
	/* Two stores: gcc makes one of them, of a constant that it keeps in another cache line. */
	__atomic_store_n(&rec->kind, (uint16_t)kind, __ATOMIC_RELAXED);
	__atomic_store_n(&rec->cells, (uint16_t)(size / TARE_CELL), __ATOMIC_RELAXED);
	rec->seal = tare_seal(place->head);
	TARE_STEP("whole");
	place->head += size;
	if (likely(!tare_fork_is_copy())) /* else it is the parent's, who may be further by now */
		__atomic_store_n(&place->lane->head, place->head, __ATOMIC_RELEASE);
}

/* Room at put->rec for `size` bytes, whole cells, in which anything may be. False as tare_ring_begin()'s NULL. */
static inline bool tare_put_begin(struct tare_put *put, uint32_t size)
{
	if (unlikely(!tare_ring_is_open()) && !tare_put_open())
		return false;
	put->epoch = tare_ring_epoch();
	put->size = size;
	put->place = tare_place_take(put->epoch, (uintptr_t)put);
	if (unlikely(!put->place))
		return false;
	if (likely(tare_put_has_room(put->place, size))) {
		put->rec = tare_put_at_head(put->place);
		return true;
	}
	return tare_put_make_room(put);
}

static inline void tare_put_end(struct tare_put *put, enum tare_kind kind)
{
	if (unlikely(put->epoch != tare_ring_epoch()))
		return; /* forked in the middle of it: the lane is the parent's */
	tare_put_publish(put->place, put->rec, kind, put->size);
	tare_put_fetch_next(put->place);
	tare_place_return(put->place, put->epoch, (uintptr_t)put);
}

#endif
