/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SESSION_LANES_H
#define TARE_SESSION_LANES_H

#include "record/format.h"

#include <stdbool.h>
#include <stdint.h>

struct tare_lanes;

/*
 * The ring of one recorded process: its lanes, and the log that they are drained to. The process may write anything
 * there, cut the file short, or be gone: sizes and numbers are copied once and checked.
 */
/*
 * `stem`: "FOLDER/P-G". NULL: there is no such ring, or it is none that this version understands. `control`: what is written
 * into the log is taken from what is allowed there (record/allowance.h); NULL: anything may be.
 */
struct tare_lanes *tare_lanes_open(const char *stem, struct tare_control *control);
void tare_lanes_close(struct tare_lanes *lanes); /* NULL is fine */
/* From now on anything may be written: the ring goes afterwards, and has as many bytes. */
void tare_lanes_allow_all(struct tare_lanes *lanes);

/* The header as it was when the ring was opened. */
const struct tare_file_header *tare_lanes_header(const struct tare_lanes *lanes);

/* The process ended its log in order; threads of it may still write. */
bool tare_lanes_are_finished(struct tare_lanes *lanes);

/*
 * Takes what is published to the log; `bytes` is what that was. 0, or a negative errno: of a write, -EBADMSG if a
 * lane is damaged (the others are drained), -EFAULT if the ring was cut short.
 */
int tare_lanes_drain(struct tare_lanes *lanes, uint64_t *bytes);

/*
 * From now on nothing new is written below `below` of the log: what will ever count there is in the file, so it may be
 * read and given back. Blocks that somebody had begun there are finished first; where one cannot be, `below` is where
 * it begins. A drainer that was stopped may still write again what was there. 0, or as tare_lanes_drain(); then `below` is 0.
 */
int tare_lanes_settle(struct tare_lanes *lanes, uint64_t *below);

/*
 * The stamp of the oldest record that is in no log yet; UINT64_MAX: all are. A lane keeps its records for as long as nothing
 * may be written, while others are drained.
 */
uint64_t tare_lanes_oldest(struct tare_lanes *lanes);

/* After the process has ended: says in the log what its lanes lost and could not say themselves. */
int tare_lanes_tell_lost(struct tare_lanes *lanes);

/* Nothing is left in any lane. */
bool tare_lanes_are_empty(struct tare_lanes *lanes);
/* Records given up so far; where there are some, `reason` (enum tare_lost_reason) is one of theirs, else it stays. */
uint64_t tare_lanes_lost(struct tare_lanes *lanes, uint32_t *reason);

/*
 * bus_guard.c: touching memory that is a file of somebody else's, who may cut it short at any time. Calls work(arg). False: it met a page of a mapped file that is not there any more (SIGBUS), and was left there and
 * then; it must hold nothing that it would have to give back. One thread at a time.
 */
bool tare_bus_guard(void (*work)(void *arg), void *arg);

#endif
