/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of this process: a ring file with a lane for each thread that records. `tare` drains the lanes; a thread
 * whose lane is full drains it itself. record/lane.h is the protocol, record/format.h the layout.
 */
#ifndef TARE_RECORDER_RING_H
#define TARE_RECORDER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/recorder.h"
#include "recorder/ring/control.h"
#include "recorder/ring/place.h"

/* A record that is being written; lives on the stack of its writer. */
struct tare_put {
	struct tare_place *place; /* belongs to this writing until it ends */
	struct tare_record *rec;
	uint32_t size, epoch;
};

/*
 * Room for a record of `size` bytes (head included), or NULL: nothing is recorded here, or it is lost, which is
 * counted. Fill in everything but kind, cells and seal, then end it. A signal handler in between may record, or
 * leave by longjmp: it finds another lane.
 */
struct tare_record *tare_ring_begin(struct tare_put *put, enum tare_kind kind, uint32_t size);
void tare_ring_end(struct tare_put *put);

enum tare_ring_opened { TARE_RING_CLOSED, TARE_RING_OPENING, TARE_RING_OPEN, TARE_RING_FAILED };
extern struct tare_ring_state {
	uint32_t opened; /* enum tare_ring_opened */
	uint32_t epoch;
} tare_ring_state;

/* True once this process has a log. Opening happens at the first record. */
static inline bool tare_ring_is_open(void)
{
	return __atomic_load_n(&tare_ring_state.opened, __ATOMIC_ACQUIRE) == TARE_RING_OPEN;
}

/* The same, and it is this process's: a child of fork or vfork has its parent's in memory. */
bool tare_ring_is_own(void);

/* The control word: record, pause or stop. Asked for by every hook: one load once it is mapped. */
static inline enum tare_control_command tare_ring_command(void)
{
	const struct tare_control *control = __atomic_load_n(&tare_control, __ATOMIC_ACQUIRE);

	if (unlikely(!control))
		control = tare_control_page();
	return (enum tare_control_command)TARE_COMMAND_OF(__atomic_load_n(&control->command, __ATOMIC_RELAXED));
}

/* Nothing will be written any more, or not by us: in order. Drains if nobody else does. */
void tare_ring_finish(void);

TARE_COLD bool tare_put_is_given_up(const struct tare_place *place);

/* Goes up each time a log is opened: what was interned in an older log is not known in this one. */
static inline uint32_t tare_ring_epoch(void)
{
	return __atomic_load_n(&tare_ring_state.epoch, __ATOMIC_ACQUIRE);
}

/*
 * Whether the next record of this thread would be given up, as the last one was: then nothing is made ready for it, and
 * nothing it would refer to is tried again.
 */
static inline bool tare_ring_is_giving_up(void)
{
	const struct tare_place *place = tare_thread.place;

	return place && unlikely(place->lane->lost != place->lane->lost_told) && tare_put_is_given_up(place);
}

#endif
