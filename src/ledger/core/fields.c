/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what stands in structs of the books and in those of parts. */
#include "ledger/core/fields.h"

#include "ledger/core/bucket_state.h"

/* clang-format off */
#define SELF struct tare_high_water
static const struct tare_shape_field fields_tare_high_water[] = {
	TARE_INT(used), TARE_INT(live), TARE_INT(ns),
	TARE_FIELDS_END };
TARE_FIELD_TABLE(tare_high_water);
#undef SELF
/* clang-format on */
