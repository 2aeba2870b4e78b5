/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder. */
#ifndef TARE_LEDGER_STATE_PRIVATE_H
#define TARE_LEDGER_STATE_PRIVATE_H

#include "ledger/core/fields.h"
#include "ledger/state/state.h"

struct tare_fold;
struct tare_tensors_part;

extern const struct tare_shape tare_shape_tare_fold;

/* state.c: what lies behind `until` is left out; it is found again. */
void tare_fold_state_save(struct tare_fold *f, const struct tare_ledger_names *names, int64_t until,
                          struct tare_str *out);
bool tare_fold_state_load(struct tare_fold *f, const struct tare_ledger_names *names,
                          const struct tare_ledger_state *from);

/* ended.c: the blocks that went, as bytes; and what a fold that shows a moment finds there of those that it watches. */
void tare_ended_save(const struct tare_tensors_part *tensors, struct tare_str *out);
void tare_ended_learn(struct tare_tensors_part *tensors, struct tare_tensors_part *later, const struct tare_str *bytes);

#endif
