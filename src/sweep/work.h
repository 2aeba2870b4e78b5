/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_WORK_H
#define TARE_SWEEP_WORK_H

#include "sweep/sweep.h"

/*
 * How many units of work a run of the cell does. TARE_E_USAGE where that is not a number above 0.
 */
int tare_sweep_work_amount(const struct tare_sweep *s, size_t work, size_t cell, double *amount, struct tare_err *err);

#endif
