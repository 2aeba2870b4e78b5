/* SPDX-License-Identifier: Apache-2.0 */
/* What a program on a simulated GPU read back that a kernel would have computed, by its lines. */
#ifndef TARE_VIEW_READ_BACK_H
#define TARE_VIEW_READ_BACK_H

#include "base/emit.h"
#include "ledger/ledger.h"

void tare_read_back_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_read_back_json(struct tare_emit *e, const struct tare_ledger *ledger);

#endif
