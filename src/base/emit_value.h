/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_VALUE_H
#define TARE_BASE_EMIT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum tare_column_kind {
	TARE_COL_TEXT,
	TARE_COL_COUNT,    /* whole number */
	TARE_COL_ID,       /* a number that counts nothing: a pid, a GPU, a line */
	TARE_COL_BYTES,    /* may be negative */
	TARE_COL_CHANGE,   /* bytes, for people with + or - */
	TARE_COL_DURATION, /* nanoseconds */
	TARE_COL_TIME,     /* the same, since the start of the recording */
	TARE_COL_NUMBER,   /* people: two decimals */
	TARE_COL_PERCENT,  /* cell is a fraction: 0.5; people "50.0 %" */
	TARE_COL_FLAG,     /* people: "yes" or nothing */
	TARE_COL_ADDRESS,  /* "0x7f00", in JSON a string */
};

/*
 * The field of a column whose rows are not all of one kind: sizes, and below them times. Zeroed it is not known. To
 * data it is its lower end.
 */
struct tare_value {
	bool is_known;
	enum tare_column_kind kind;
	const char *text;  /* TEXT */
	int64_t low, high; /* the others: the same, but of a range */
};

static inline struct tare_value tare_value_of(enum tare_column_kind kind, int64_t value)
{
	return (struct tare_value){ .is_known = true, .kind = kind, .low = value, .high = value };
}

static inline struct tare_value tare_value_text(const char *text)
{
	return (struct tare_value){ .is_known = true, .kind = TARE_COL_TEXT, .text = text };
}

#endif
