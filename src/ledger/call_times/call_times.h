/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long calls of the driver took, by process, account and entry point, since the begin of the recording: kept in states, so that
 * calls whose events went to keep a cap still count. Each call is told as it comes, also where it is settled later.
 */
#ifndef TARE_LEDGER_CALL_TIMES_H
#define TARE_LEDGER_CALL_TIMES_H

#include "ledger/core/fold.h"
#include "ledger/driver_time.h"

struct tare_call_time {
	const struct tare_process *process;
	struct tare_time_row row;
};

/* The part. */
struct tare_call_times_part {
	struct tare_call_time *items;
	size_t count, cap;
	bool is_whole; /* every call from the begin of the recording on is in it */
};

/* A fold that goes on from a state has what the state says; one that misses earlier events is not whole. */
void tare_call_times_begin(struct tare_call_times_part *p, const struct tare_fold *f);
/* An event as it comes, also if it is to be taken, or was, at another place; blocks of tensors are left out. */
void tare_call_times_comes(struct tare_call_times_part *p, const struct tare_fold *f, const struct tare_event *e);
const char *tare_call_times_check(const struct tare_call_times_part *p, const struct tare_fold *f);

/* Adds the call of an event, if it is one; names are not copied. */
void tare_call_times_add(struct tare_call_times_part *p, const struct tare_event *e);

#endif
