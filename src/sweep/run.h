/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_RUN_H
#define TARE_SWEEP_RUN_H

#include "sweep/sweep.h"

#include <stdbool.h>

/* What happens while a sweep runs, for whoever shows it. */
struct tare_sweep_state {
	size_t total, done; /* runs of the sweep, and how many have ended (also in earlier sessions) */
	size_t running;
	int64_t left_ns; /* time left, estimated from the runs so far; -1: no run has ended yet */
	/* The run that has just ended; label NULL: no run has ended since the last call. */
	const char *label;
	int repeat;
	const char *status, *note;
	int64_t ns, peak; /* peak -1: not known */
	int exit_code;
	uint64_t retries;
};

struct tare_sweep_watch {
	void (*see)(void *arg, const struct tare_sweep_state *state);
	void *arg;
	int every_ms; /* calls `see` at least so often; 0: at ends of runs only */
};

struct tare_sweep_end {
	int signal; /* signal that stopped the sweep; 0: the sweep came to its end */
	size_t done, total;
};

/*
 * Does the runs that have not been done. `is_simulated`: on the simulated GPU. Fails where the database or a
 * process fails: what was done is in the file.
 */
int tare_sweep_run(struct tare_db *db, const struct tare_sweep *s, bool is_simulated,
                   const struct tare_sweep_watch *watch, struct tare_sweep_end *end, struct tare_err *err);

#endif
