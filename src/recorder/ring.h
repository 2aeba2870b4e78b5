/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of this process: a ring in shared memory that `tare` drains, or that the writing thread
 * drains itself when nobody else does.
 */
#ifndef TARE_RECORDER_RING_H
#define TARE_RECORDER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/*
 * Room for a record of `size` bytes (head included), or NULL: nothing is recorded here, or ring and
 * disk are full (which is counted). Fill in everything but head.seal, then call tare_ring_commit.
 */
struct tare_record *tare_ring_reserve(enum tare_kind kind, uint32_t size, uint64_t *position);
/* The same for whole cells, without zeros in them: everything is to be filled in, the stamp too. */
struct tare_record *tare_ring_claim(enum tare_kind kind, uint32_t size, uint64_t *position);
void tare_ring_commit(struct tare_record *rec, uint64_t position);

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
