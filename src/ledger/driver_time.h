/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_DRIVER_TIME_H
#define TARE_LEDGER_DRIVER_TIME_H

#include "base/arena.h"
#include "base/owned.h"
#include "ledger/account.h"

/*
 * Where the program waited for the driver: one row per account and entry point. It answers why the
 * first iteration is slow: contexts, code that is loaded at its first launch, first allocations.
 */
struct tare_time_row {
	enum tare_account account;
	const char *api;
	uint64_t calls;
	int64_t total_ns;
	int64_t longest_ns, longest_at_ns; /* the longest call: how long, and when it began */
	/* function or module that the call dealt with, or NULL */
	const char *longest_name;
};

struct tare_time_rows {
	TARE_OWNED struct tare_time_row *rows; /* the longest total first */
	size_t count, cap;
	TARE_OWNED struct tare_arena memory; /* names */
	bool is_cut;                         /* calls whose events went are missing, because no state knows of them */
};

struct tare_time_opts {
	int64_t pid;      /* only this process; -1: all */
	int64_t until_ns; /* calls that ended by then; INT64_MAX: all */
};

/* Of calls whose events went to keep a cap, states tell. The caller frees the rows. */
struct tare_recording;
void tare_driver_time_of_recording(struct tare_recording *recording, const struct tare_time_opts *opts,
                                   struct tare_time_rows *out);
TARE_FREES(tare_driver_time_free, tare_time_rows);

#endif
