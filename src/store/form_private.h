/* SPDX-License-Identifier: Apache-2.0 */
/* What form_encode.c and form_decode.c agree on. */
#ifndef TARE_STORE_FORM_PRIVATE_H
#define TARE_STORE_FORM_PRIVATE_H

#include "store/form.h"

/*
 * What a value is told by its difference from, as a number: PLAIN 0, nothing; then four for each field, by what is
 * looked at: the field of the record before, of this one, of the next, or PAIR. Before the first record and
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

#endif
