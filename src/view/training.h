/* SPDX-License-Identifier: Apache-2.0 */
/* The first step of training beside the others, and what the most of its tensors grows with. */
#ifndef TARE_VIEW_TRAINING_H
#define TARE_VIEW_TRAINING_H

#include "base/emit.h"
#include "ledger/ledger.h"
#include "view/text_table.h"

/* Nothing where no steps are known. */
void tare_training_text(struct tare_str *out, const struct tare_ledger *ledger,
			const struct tare_text_style *style);
void tare_training_json(struct tare_emit *e,
			const struct tare_ledger *ledger); /* the member "training" */

#endif
