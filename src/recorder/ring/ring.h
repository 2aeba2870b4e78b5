/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of this process: a ring file with a lane for each thread that records. `tare` drains the lanes; a thread
 * whose lane is full drains it itself. trace/lane.h is the protocol, trace/format.h the layout.
 */
#ifndef TARE_RECORDER_RING_H
#define TARE_RECORDER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* A record that is being written; lives on the stack of who writes it. */
struct tare_put {
	struct tare_place *place; /* belongs to this writing until it ends */
	struct tare_record *rec;
	uint64_t position;
	uint32_t size, epoch;
};

/*
 * Room for a record of `size` bytes (head included), or NULL: nothing is recorded here, or it is lost, which is
 * counted. Fill in everything but kind, cells and seal, then end it. A signal handler in between may record, or
 * leave by longjmp: it finds another lane.
 */
struct tare_record *tare_ring_begin(struct tare_put *put, enum tare_kind kind, uint32_t size);
void tare_ring_end(struct tare_put *put);

/* True once this process has a log. Opening happens at the first record. */
bool tare_ring_is_open(void);
/* The same, and it is this process's: a child of fork or vfork has its parent's in memory. */
bool tare_ring_is_own(void);

/* The control word: record, pause or stop. Asked for by every hook: one load once it is mapped. */
enum tare_control_command tare_ring_command(void);

/* Nothing will be written any more, or not by us: in order. Drains if nobody else does. */
void tare_ring_finish(void);

/* In a forked child: forget the parent's log; the first record opens one of the child's own. */
void tare_ring_forget(void);

/* Goes up each time a log is opened: what was interned in an older log is not known in this one. */
uint32_t tare_ring_epoch(void);

#endif
