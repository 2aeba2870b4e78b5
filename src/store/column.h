/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_COLUMN_H
#define TARE_STORE_COLUMN_H

#include "base/owned.h"
#include "store/pack.h"

/*
 * Many numbers that mean the same, one behind the other: how they are written is chosen by what is shortest
 * (one number if all are equal; the numbers; or the different numbers, and for each which of them it is: "named").
 * Returns true if it was named.
 */
bool tare_column_encode(struct tare_pack *out, const uint64_t *values, size_t n);

/*
 * Of a column that names its different numbers: which of them each value is, ids below id_nr. Else id_nr is 0.
 * The memory is used again by the next column.
 */
struct tare_column_ids {
	TARE_OWNED uint32_t *ids;
	size_t cap, id_nr;
};

/* Memory that decoding uses, again for each column. {0} to begin with. */
struct tare_column_scratch {
	TARE_OWNED struct tare_pack bytes, planes;
	TARE_OWNED uint64_t *words;
	size_t word_cap;
};
TARE_FREES(tare_column_scratch_free, tare_column_scratch);

/* What the numbers of a column stand for. */
enum tare_column_meaning {
	TARE_COLUMN_NUMBERS,
	TARE_COLUMN_SIGNED, /* zigzag */
	TARE_COLUMN_SUMS,   /* the same of what each value differs by from the one before */
};

/* False: damage; values are anything then. `ids` may be NULL. */
bool tare_column_decode(struct tare_unpack *in, struct tare_column_scratch *scratch, enum tare_column_meaning meaning,
                        uint64_t *values, size_t n, struct tare_column_ids *ids);
/* Numbers that name something: one that is not less than `limit` is damage. pre: the limit is less than 2^63. */
bool tare_column_decode_names(struct tare_unpack *in, struct tare_column_scratch *scratch, uint64_t *values, size_t n,
                              uint64_t limit);
void tare_column_skip(struct tare_unpack *in);

#endif
