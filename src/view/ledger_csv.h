/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_LEDGER_CSV_H
#define TARE_VIEW_LEDGER_CSV_H

#include "base/emit.h"
#include "ledger/ledger.h"

/*
 * One table for everything a spreadsheet may want: per ledger and device what the device says
 * (kind total, reserved, used), every row of the tree (kind parent or leaf) and what is unexplained.
 * The leaves and `unexplained` of one device and instant sum to its `used`.
 */
void tare_ledger_csv(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

#endif
