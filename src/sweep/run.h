/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_RUN_H
#define TARE_SWEEP_RUN_H

#include "sweep/sweep.h"

#include <stdbool.h>

/* What happens while a sweep runs, for whoever shows it. */
struct tare_sweep_state {
	size_t total,
		done; /* runs: of the sweep, and those that have ended (also in earlier sessions) */
	size_t running;
	int64_t left_ns; /* estimate from the runs so far; -1: there are none yet */
	/* The run that has just ended; label NULL: none has, it is only later. */
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
	int every_ms; /* call it at least so often; 0: at ends only */
};

struct tare_sweep_end {
	int signal; /* that stopped the sweep; 0: it came to its end */
	size_t done, total;
};

/*
 * Runs what has not been run. `is_simulated`: on the simulated GPU, which is known from the
 * options. Fails where the database or a process fails: what was done is in the file.
 */
int tare_sweep_run(struct tare_db *db, const struct tare_sweep *s, bool is_simulated,
		   const struct tare_sweep_watch *watch, struct tare_sweep_end *end,
		   struct tare_err *err);

#endif
