/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_FIELDS_H
#define TARE_LEDGER_FIELDS_H

#include "base/shape.h"

/*
 * What of a fold is kept when it is saved (ledger/state): every field of its structs. Each struct has a table of its
 * fields, a part's in the part's folder, the books' in state/tables.c. A field that is not kept stands as TARE_LEFT
 * with the reason; tools/check-state.py compares the tables with the structs.
 *
 *     #define SELF struct tare_loss_fold
 *     static const struct tare_shape_field fields_tare_loss_fold[] = { TARE_INT(process), …, TARE_FIELDS_END };
 *     static TARE_FIELD_TABLE(tare_loss_fold);
 *     #undef SELF
 */
#define TARE_FIELD_TABLE(type) const struct tare_shape tare_shape_##type = { #type, sizeof(struct type), fields_##type }

/* Pointers that are saved as numbers, and how many a list has that no field counts: state/state.c knows. */
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

extern const struct tare_shape tare_shape_tare_high_water;  /* of the books and of phases */
extern const struct tare_shape tare_shape_tare_known_block; /* of the books and of tensors */

#endif
