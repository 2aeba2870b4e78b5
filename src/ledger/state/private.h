/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder. */
#ifndef TARE_LEDGER_STATE_PRIVATE_H
#define TARE_LEDGER_STATE_PRIVATE_H

#include "base/shape.h"
#include "ledger/state/state.h"

struct tare_fold;
struct tare_tensors_part;

/* Pointers that are saved as numbers, and how many there are of what no field counts. */
enum {
	TARE_STATE_PROCESS,
	TARE_STATE_DEVICE,
	TARE_STATE_PYTHON,
	TARE_STATE_STACK,
	TARE_STATE_DEVICES,      /* one for each device */
	TARE_STATE_SAMPLES,      /* of struct tare_samples */
	TARE_STATE_SAMPLE_PARTS, /* the same */
	TARE_STATE_TRAININGS,    /* of struct tare_training_part */
};

/* Made out of their structs by tools/state-tables.py: ledger/saved.h. */
extern const struct tare_shape tare_shape_tare_fold;
extern const struct tare_shape tare_shape_tare_parts;
extern const struct tare_shape tare_shape_tare_blocks;
extern const struct tare_shape tare_shape_tare_ended_blocks;

/* state.c: what lies behind `until` is left out; it is found again. */
void tare_fold_state_save(struct tare_fold *f, const struct tare_ledger_names *names, int64_t until,
                          struct tare_str *out);
bool tare_fold_state_load(struct tare_fold *f, const struct tare_ledger_names *names,
                          const struct tare_ledger_state *from);
/* The same of all that another fold knows, also of what it looked at ahead; that one must live longer, stays as it is, and can go on. */
void tare_fold_state_copy(struct tare_fold *f, struct tare_fold *of, const struct tare_ledger_names *names);

/* ended.c: the blocks that went, as bytes; and what a fold that shows a moment finds there of those that it watches. */
void tare_ended_save(const struct tare_tensors_part *tensors, struct tare_str *out);
void tare_ended_learn(struct tare_tensors_part *tensors, struct tare_tensors_part *later, const struct tare_str *bytes);

#endif
