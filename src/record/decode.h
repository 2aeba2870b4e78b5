/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORD_DECODE_H
#define TARE_RECORD_DECODE_H

#include "base/str.h"
#include "record/format.h"

#include <stdbool.h>
#include <string.h>

/* What record.def says, as data: one row per kind, one per field. */
enum tare_tail { TARE_TAIL_NONE, TARE_TAIL_TEXT, TARE_TAIL_PCS };

struct tare_word;

struct tare_field {
	const char *name;
	uint16_t offset, size; /* in the record's struct; 1, 2, 4 or 8 bytes */
	bool is_signed;
	enum tare_field_role role;
	const struct tare_word *words; /* of a WORD or FLAGS field; else NULL */
};

struct tare_kind_info {
	uint16_t kind;
	const char *name;
	const struct tare_field *fields;
	int field_nr;
	uint16_t fixed; /* size of the struct: where the tail begins */
	enum tare_tail tail;
	enum tare_record_class class;
	bool is_event;  /* belongs into the order of time, rather than into tables */
	bool is_schema; /* stands in the schema of a recording */
};

const struct tare_kind_info *tare_decode_kind(uint16_t kind);          /* NULL: not known to this version */
const struct tare_kind_info *tare_decode_kind_named(const char *name); /* NULL: no such kind */
const char *tare_record_name(uint16_t kind);                           /* "event"; "unknown" */

/* The value of a field; of a signed one the bits of its int64_t. pre: rec is the whole struct. */
static inline uint64_t tare_decode_value(const struct tare_field *field, const void *rec)
{
	const uint8_t *at = (const uint8_t *)rec + field->offset;
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (field->size) {
	case 1:
		return field->is_signed ? (uint64_t)(int8_t)*at : *at;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return field->is_signed ? (uint64_t)(int16_t)u16 : u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return field->is_signed ? (uint64_t)(int32_t)u32 : u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

/* Makes a field have that value: its low bytes, if it is narrower. */
void tare_encode_value(const struct tare_field *field, void *rec, uint64_t value);

/* The value of the last field, which is the length of the tail: bytes, or program counters. */
static inline uint64_t tare_decode_tail_length(const struct tare_kind_info *info, const void *rec)
{
	return tare_decode_value(&info->fields[info->field_nr - 1], rec);
}

/* How a value is best read. */
enum tare_look {
	TARE_LOOK_NUMBER,
	TARE_LOOK_BYTES, /* a byte count: TARE_NOT_KNOWN is possible */
	TARE_LOOK_HEX,   /* an address, a handle, a hash */
	TARE_LOOK_WORD,  /* one word of an enumeration */
	TARE_LOOK_FLAGS, /* words of its bits */
};

/* What field_role.def says of a role. */
struct tare_role_info {
	const char *name, *unit;
	enum tare_look look;
	uint64_t absent; /* the value of a field that a recording does not have */
};
const struct tare_role_info *tare_decode_role(enum tare_field_role role);
enum tare_look tare_decode_look(const struct tare_field *field);

/*
 * Appends the word of a WORD field ("new"), the words of a FLAGS field ("failed+weighed", "-" for
 * none). A value without a word appears as a number.
 */
void tare_decode_words(const struct tare_field *field, uint64_t value, struct tare_str *out);

/* Why records were given up (enum tare_lost_reason), as the end of a sentence with "because". */
const char *tare_lost_meaning(uint32_t reason);
const char *tare_lost_word(uint32_t reason); /* "disk-full" */

const char *tare_role_name(uint32_t role);
const char *tare_clock_name(uint32_t clock);

#endif
