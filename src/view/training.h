/* SPDX-License-Identifier: Apache-2.0 */
/* The first step of training beside the others, and what the most of its tensors grows with. */
#ifndef TARE_VIEW_TRAINING_H
#define TARE_VIEW_TRAINING_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* Nothing where no steps are known. */
void tare_training_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_training_json(struct tare_emit *e, const struct tare_ledger *ledger); /* the member "training" */

#endif
