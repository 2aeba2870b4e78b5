/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are missing: a line above everything that is shown, and what scripts read. */
#ifndef TARE_VIEW_LOSS_H
#define TARE_VIEW_LOSS_H

#include "base/emit.h"
#include "ledger/ledger.h"

void tare_loss_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_loss_json(struct tare_emit *e, const struct tare_ledger *ledger); /* member `losses` */

#endif
