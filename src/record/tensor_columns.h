/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORD_TENSOR_COLUMNS_H
#define TARE_RECORD_TENSOR_COLUMNS_H

#include "record/format.h"

/*
 * Many records of blocks of tensors (TARE_KIND_TENSOR) as columns, which is how segments have them: of each its stamp, its address
 * and its bytes, and which of `others` it is in all other fields, of which there are few combinations.
 */
struct tare_tensor_columns {
	const uint64_t *stamps;
	const uint64_t *addresses;
	int64_t *bytes;
	const uint64_t *which;
	const struct tare_rec_tensor *others; /* their heads, `block` and `bytes` may be anything */
};

static inline struct tare_tensor_columns tare_tensor_columns_from(struct tare_tensor_columns c, size_t first)
{
	return (struct tare_tensor_columns){ c.stamps + first, c.addresses + first, c.bytes + first, c.which + first,
		                                 c.others };
}

/* The ith as a record, its seal left out. */
static inline void tare_tensor_columns_get(const struct tare_tensor_columns *c, size_t i, struct tare_rec_tensor *rec)
{
	*rec = c->others[c->which[i]];
	rec->head =
		(struct tare_record){ .kind = TARE_KIND_TENSOR, .cells = sizeof(*rec) / TARE_CELL, .stamp = c->stamps[i] };
	rec->block = c->addresses[i];
	rec->bytes = c->bytes[i];
}

#endif
