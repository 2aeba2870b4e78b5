/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_LEDGER_TEXT_H
#define TARE_VIEW_LEDGER_TEXT_H

#include "base/emit.h"
#include "ledger/ledger.h"

/*
 * What stands at the end of a run: per GPU its rows with one column per ledger, then
 * the host memory of each process and what stands out. The ledgers are of one recording at different
 * instants, at least one.
 */
void tare_ledger_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

#endif
