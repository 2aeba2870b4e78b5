/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_MEASURE_H
#define TARE_SWEEP_MEASURE_H

#include "base/err.h"
#include "db/db.h"
#include "ledger/ledger.h"
#include "ledger/pressure.h"

#include <stddef.h>

struct tare_recording;

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

/* Writes the rows of a run's phases; `ledger` is of any instant of the recording. */
int tare_sweep_write_phases(struct tare_db *db, int64_t run, struct tare_recording *recording,
                            const struct tare_ledger *ledger, struct tare_err *err);

/*
 * cpu.c: the CPU as the device of a run that opened no GPU: its tensors by category, and what was resident. This is the device number of the CPU in the file of a sweep.
 */
enum { TARE_SWEEP_CPU = -1 };

/* Writes the row of `devices` and the rows of `accounts` where the run has any memory on the CPU. */
int tare_sweep_write_cpu(struct tare_db *db, int64_t run, struct tare_recording *recording, struct tare_measure *out,
                         struct tare_err *err);

/* Writes the rows of `phase_accounts`: what the tensors were at the peak of a phase, whose ledger `at` is. */
int tare_sweep_write_cpu_phase(struct tare_db *db, int64_t run, int64_t phase, const struct tare_ledger *at,
                               struct tare_err *err);

#endif
