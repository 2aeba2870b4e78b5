/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU as the device of a run that opened no GPU: its tensors by category, and what was resident. */
#ifndef TARE_SWEEP_CPU_H
#define TARE_SWEEP_CPU_H

#include "base/err.h"
#include "db/db.h"
#include "sweep/measure.h"

struct tare_recording;
struct tare_ledger;

/* The device number of the CPU in the file of a sweep. */
enum { TARE_SWEEP_CPU = -1 };

/* Writes the row of `devices` and the rows of `accounts` where the run has any memory on the CPU. */
int tare_sweep_write_cpu(struct tare_db *db, int64_t run, struct tare_recording *recording, struct tare_measure *out,
                         struct tare_err *err);

/* Writes the rows of `phase_accounts`: what the tensors were at the peak of a phase, whose ledger `at` is. */
int tare_sweep_write_cpu_phase(struct tare_db *db, int64_t run, int64_t phase, const struct tare_ledger *at,
                               struct tare_err *err);

#endif
