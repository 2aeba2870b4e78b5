/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_MEASURE_H
#define TARE_SWEEP_MEASURE_H

#include "base/err.h"
#include "db/db.h"
#include "ledger/pressure.h"

#include <stddef.h>

/* What a run's recording says, beyond the rows that were written. */
struct tare_measure {
	struct tare_pressure pressure;
	bool is_oom_killed;
	int64_t driver_ns, driver_calls;
	/*
	 * Of the GPU on which the run's processes had most in use; of a run that opened none, tensors on the CPU. -1:
	 * it had neither.
	 */
	int64_t peak, need, elastic, unexplained;
	int processes;
	char note[1024]; /* what was degraded, or "" */
};

/*
 * Reads the recordings of one run and writes the rows of devices, accounts, phases …; the caller has begun a
 * transaction. Fails only if the database fails: of a recording that cannot be read `note` says so.
 */
int tare_measure_run(struct tare_db *db, int64_t run, const char *const *recordings, size_t recording_nr,
                     struct tare_measure *out, struct tare_err *err);

#endif
