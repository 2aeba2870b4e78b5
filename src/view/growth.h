/* SPDX-License-Identifier: Apache-2.0 */
/* What grows: by how much a step or a second, since when, and from which line. */
#ifndef TARE_VIEW_GROWTH_H
#define TARE_VIEW_GROWTH_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* Nothing where nothing grows. */
void tare_growth_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_growth_json(struct tare_emit *e, const struct tare_ledger *ledger); /* "growth" */

#endif
