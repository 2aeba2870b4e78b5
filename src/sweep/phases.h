/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_PHASES_H
#define TARE_SWEEP_PHASES_H

#include "db/db.h"
#include "ledger/ledger.h"

struct tare_recording;

/* Writes the rows of a run's phases; `ledger` is of any instant of the recording. */
int tare_sweep_write_phases(struct tare_db *db, int64_t run, struct tare_recording *recording,
                            const struct tare_ledger *ledger, struct tare_err *err);

#endif
