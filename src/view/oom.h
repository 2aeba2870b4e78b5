/* SPDX-License-Identifier: Apache-2.0 */
/* Moments at which memory ran out: what was asked for, what there was, what would have had to give. */
#ifndef TARE_VIEW_OOM_H
#define TARE_VIEW_OOM_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* Nothing where memory never ran out. */
void tare_oom_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_oom_json(struct tare_emit *e, const struct tare_ledger *ledger); /* the member "out_of_memory" */

#endif
