/* SPDX-License-Identifier: Apache-2.0 */
/* What form_encode.c and form_decode.c agree on. */
#ifndef TARE_STORE_FORM_PRIVATE_H
#define TARE_STORE_FORM_PRIVATE_H

#include "store/form.h"

/*
 * A value may be written as its difference from another value. Which one is a number, the reference: PLAIN, none; then four
 * numbers for each field: that field of the record before, of this record, of the record behind, or PAIR. Before the first record and
 * behind the last one all fields are 0.
 */
enum { PLAIN, REFERENCES };
enum reference { OF_LAST, OF_THIS, OF_NEXT, PAIR, REFERENCE_NR };

static inline unsigned reference(int field, enum reference which)
{
	return REFERENCES + REFERENCE_NR * (unsigned)field + which;
}

/* Fields beyond are never in a combination: which ones are is a set of bits. */
enum { COMBINED_MAX = 64 };

/* Of a field that is told by nothing but its own column, by its record before, or as a pair. */
static inline bool tare_form_is_alone(uint64_t number, int field)
{
	uint64_t of = (number - REFERENCES) / REFERENCE_NR;

	return number == PLAIN || (number - REFERENCES) % REFERENCE_NR == PAIR || of == (uint64_t)field;
}

/* What form_decode.c and form_columns.c share. */
struct tare_form_decoder {
	struct tare_unpack *in;
	struct tare_form_scratch *scratch;
	const struct tare_kind_info *info;
	uint8_t *records; /* one behind the other, each so many bytes long; NULL: as columns */
	size_t stride, n;
	int named; /* the field that scratch->ids are of; -1: none */
};
/* Into `table`, of which each has info->fixed bytes, and which of them each record has. False: damage, as of what follows. */
bool tare_form_read_combinations(struct tare_form_decoder *d, uint64_t combined, struct tare_pack *table,
                                 uint64_t *which);
void tare_form_skip_combinations(struct tare_unpack *in, const struct tare_kind_info *info, uint64_t combined);
/* The next column, which is of this field. pre: there are records, or tare_form_is_alone(). */
bool tare_form_read_values(struct tare_form_decoder *d, int field, uint64_t *values);

#endif
