/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_ADVICE_H
#define TARE_VIEW_ADVICE_H

#include "ledger/ledger.h"
#include "view/text_table.h"

/*
 * Adds what stands out, one "! sentence" each: accounts that take very much and what would make them
 * less, what is unexplained, what was recorded as degraded. Nothing if nothing does.
 */
void tare_advice_text(struct tare_str *out, const struct tare_ledger *const *ledgers, int ledger_nr,
		      const struct tare_text_style *style);

#endif
