/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_CHECKPOINT_H
#define TARE_LEDGER_CHECKPOINT_H

#include "ledger/build.h"

/*
 * Folds everything a recording says up to some moment into a short list of records with the same
 * meaning: what is alive, what is booked, and what the peak so far was. The fold of that list and of
 * the records that follow is the fold of the whole recording at `peak`, at `end` and at any instant
 * after that moment.
 *
 * The moment is the last one up to `until_ns` at which no call was under way. Records stamped after
 * it (at_ns > return value) follow the list; the others are replaced by it. One thing can come out
 * differently: calls that overlap and were not all weighed, when their next reading lies behind it.
 *
 * `emit` is called with events as a reader would give them, in the order of at_ns for each process:
 * `process` is in whose part of checkpoint.events it belongs, `device` and `about` are set, texts and
 * owners are in `name` and `text`; ids of strings and ordinals of devices in `rec` are 0. Everything
 * lives until `emit` returns.
 */
int64_t tare_ledger_checkpoint(const struct tare_ledger_source *source,
			       const struct tare_ledger_opts *opts, int64_t until_ns,
			       void (*emit)(void *arg, const struct tare_event *e), void *arg);

#endif
