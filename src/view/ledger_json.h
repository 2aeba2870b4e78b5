/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_LEDGER_JSON_H
#define TARE_VIEW_LEDGER_JSON_H

#include "base/emit.h"
#include "ledger/ledger.h"

/*
 * Adds the members of one ledger to the object that is open, as docs/JSON.md describes them:
 * scripts rely on them, so members are added and never changed.
 */
void tare_ledger_json(struct tare_emit *e, const struct tare_ledger *ledger);

#endif
