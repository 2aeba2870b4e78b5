/* SPDX-License-Identifier: Apache-2.0 */
/* What of a training's tensors there was when there was most of them. */
#ifndef TARE_VIEW_TRAINING_PRIVATE_H
#define TARE_VIEW_TRAINING_PRIVATE_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* What it is made up of: parameters and what is as large, the batch, the rest. */
enum tare_training_share { TARE_TRAINING_MODEL, TARE_TRAINING_BATCH, TARE_TRAINING_OTHER };

int64_t tare_training_sum_of(const struct tare_training *t, enum tare_training_share part);
int64_t tare_training_parameters_of(const struct tare_training *t);
/* Are there enough parameters for a multiple of them to say something? */
bool tare_training_has_parameters(const struct tare_training *t);
/* Is its input a batch, as far as anybody can tell? */
bool tare_training_has_batch(const struct tare_training *t);

/* By what tensors are for and by module, with bars. */
void tare_training_most_text(struct tare_emit *e, const struct tare_training *t);

#endif
