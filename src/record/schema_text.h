/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema of a log as it stands in the log's file, between its header and position 0: what record.def says of each
 * kind, so that a reader of another version finds fields by their names. A line per kind:
 *
 *   ID NAME TAIL CLASS FIELD:TYPE:ROLE FIELD:TYPE:ROLE …
 *
 * Fields lie one behind the other, from byte 16 of the record on. A NUL ends the text. The header has a sum of it
 * (`schema`), by which a reader of the same version knows that it need not look at the text.
 */
#ifndef TARE_RECORD_SCHEMA_TEXT_H
#define TARE_RECORD_SCHEMA_TEXT_H

#include "record/format.h"

#define TARE_SCHEMA_HEAD "tare schema 1\n"

#define TARE_TYPE_int8_t   "i8"
#define TARE_TYPE_uint8_t  "u8"
#define TARE_TYPE_int16_t  "i16"
#define TARE_TYPE_uint16_t "u16"
#define TARE_TYPE_int32_t  "i32"
#define TARE_TYPE_uint32_t "u32"
#define TARE_TYPE_int64_t  "i64"
#define TARE_TYPE_uint64_t "u64"

/* Records of the class FRAME are part of the format: a log could not be read without them. */
#define TARE_SCHEMA_EVENT(line) line
#define TARE_SCHEMA_KEPT(line)  line
#define TARE_SCHEMA_TABLE(line) line
#define TARE_SCHEMA_PART(line)  line
#define TARE_SCHEMA_FRAME(line)

#define F(type, field, role)                          " " #field ":" TARE_TYPE_##type ":" #role
#define TARE_RECORD(id, key, name, cls, fields, tail) TARE_SCHEMA_##cls(#id " " #name " " #tail " " #cls fields "\n")
static const char tare_schema_text[] = TARE_SCHEMA_HEAD
#include "record/record.def"
	;

/* Where position 0 lies in a file that has this schema. */
enum {
	TARE_SCHEMA_BYTES = (sizeof(tare_schema_text) + TARE_CELL - 1) / TARE_CELL * TARE_CELL,
	TARE_LOG_BEGIN = TARE_HEADER_BYTES + TARE_SCHEMA_BYTES,
	TARE_SCHEMA_MAX = 1 << 16, /* a longer one is none */
};

/* Position 0 can lie there. */
static inline int tare_schema_is_begin(uint32_t header_bytes)
{
	return header_bytes >= TARE_HEADER_BYTES && header_bytes % TARE_CELL == 0 &&
	       header_bytes <= TARE_HEADER_BYTES + TARE_SCHEMA_MAX;
}

/* What the header says of a schema, its NUL not included; never 0, which is a log without a schema (0.1.0). */
static inline uint32_t tare_schema_sum(const char *text, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325u, word;
	size_t i;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		__builtin_memcpy(&word, text + i, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	for (; i < size; i++)
		sum = (sum ^ (uint8_t)text[i]) * 0x100000001b3u;
	sum ^= sum >> 32;
	return (uint32_t)sum ? (uint32_t)sum : 1;
}

#endif
