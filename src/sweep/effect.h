/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_EFFECT_H
#define TARE_SWEEP_EFFECT_H

#include "db/db.h"
#include "sweep/summary.h"

/*
 * Finds parameters that CMD seems to ignore: cells that differ in nothing else have the same memory
 * by account, the same number of driver calls and the same output, for every value that was ok.
 */
int tare_effect_find(struct tare_db *db, struct tare_summary *s, struct tare_err *err);

#endif
