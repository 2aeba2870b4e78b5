/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_ADVICE_H
#define TARE_VIEW_ADVICE_H

#include "base/emit.h"
#include "ledger/ledger.h"

/*
 * Adds what can be done about the memory, a handful of lines with the bytes they save, and then what
 * is wrong, one "! " sentence each: what is unexplained, what was recorded as degraded. Nothing if
 * there is nothing.
 */
void tare_advice_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

/* The latter alone: what was recorded as degraded; before it, where imported figures come from. */
void tare_degraded_text(struct tare_emit *e, const struct tare_ledger *ledger);

/* Adds what was found, with its placeholders filled in. */
void tare_advice_finding(struct tare_str *out, const struct tare_finding *finding);

#endif
