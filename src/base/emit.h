/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_H
#define TARE_BASE_EMIT_H

#include "base/json.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One report, many formats (emit_format.def). A view fills a struct per row; a table of columns says once what the
 * fields of that struct are called, and every format comes from the same fields, so they cannot disagree.
 *
 *     struct row {
 *             const char *label;
 *             int64_t bytes, pid;
 *     };
 *
 *     static const struct tare_column columns[] = {
 *             TARE_COLUMN(row, label, "label", "ACCOUNT", TEXT),
 *             TARE_COLUMN(row, bytes, "bytes", "AT PEAK", BYTES, .is_sum = true),
 *             TARE_COLUMN(row, pid, "pid", NULL, COUNT, .unknown = TARE_UNKNOWN_NEGATIVE), // data only
 *     };
 *     struct tare_emit e;
 *
 *     tare_emit_begin(&e, TARE_EMIT_TEXT, &str);
 *     tare_emit_str(&e, "at", "peak");                        // JSON member; nothing in text, CSV
 *     tare_emit_table(&e, "rows", "GPU 0  NVIDIA H200", columns, 3);
 *     tare_emit_add(&e, &(struct row){ "context", 549000000, -1 });
 *     tare_emit_sum(&e, "all");                               // text only
 *     tare_emit_table_end(&e);
 *     tare_emit_note(&e, "! a line under the table");         // text only
 *     tare_emit_end(&e);
 *
 * In text, sizes are MiB with one decimal and the unit stands once, at the right of the title (or,
 * without a title, behind the column's head). In JSON and CSV they are bytes. A cell that is not
 * known is "–", null, and empty. CSV holds tables only, each with its head, a blank line between.
 * JSON and CSV are written row by row; text waits for the end of a table, for its widths. JSON Lines has an object a
 * line for each row and each object, and nothing of what stands around them.
 */
#define TARE_FORMAT(KEY, NAME, RENDERER) TARE_EMIT_##KEY,
enum tare_emit_format {
#include "base/emit_format.def"
	TARE_EMIT_FORMAT_NR
};
#undef TARE_FORMAT

enum tare_column_kind {
	TARE_COL_TEXT,
	TARE_COL_COUNT,    /* whole number */
	TARE_COL_BYTES,    /* may be negative */
	TARE_COL_CHANGE,   /* bytes, with + or - in text */
	TARE_COL_DURATION, /* nanoseconds */
	TARE_COL_NUMBER,   /* text: two decimals */
	TARE_COL_PERCENT,  /* cell is a fraction: 0.5; text "50.0 %" */
	TARE_COL_FLAG,     /* text "yes" or nothing */
	TARE_COL_ADDRESS,  /* "0x7f00", in JSON a string */
};

/* The C type of a field; TARE_COLUMN finds it out, and a field of any other type does not compile. */
enum tare_field_type {
	TARE_FIELD_NONE, /* what is nested has no field */
	TARE_FIELD_TEXT,
	TARE_FIELD_CHARS, /* char[] */
	TARE_FIELD_STR,
	TARE_FIELD_BOOL,
	TARE_FIELD_INT,
	TARE_FIELD_UNSIGNED, /* enums too */
	TARE_FIELD_INT64,
	TARE_FIELD_UINT64,
	TARE_FIELD_DOUBLE,
};

/* Which value of a field means that it is not known. A text is not known if it is NULL, a double if it is NaN. */
enum tare_unknown {
	TARE_UNKNOWN_NEVER,
	TARE_UNKNOWN_ZERO,
	TARE_UNKNOWN_NEGATIVE,
	TARE_UNKNOWN_HUGE, /* more than INT64_MAX, as TARE_NOT_KNOWN is */
};

struct tare_emit;

struct tare_column {
	const char *key;  /* JSON member and CSV head; NULL: in text only */
	const char *head; /* in text; NULL: in data only */
	enum tare_column_kind kind;
	enum tare_field_type type; /* of the field at … */
	size_t offset;             /* … in the row's struct */
	enum tare_unknown unknown;
	size_t when;   /* TARE_WHEN: the bool that must be true, else the field is not known */
	bool is_sum;   /* tare_emit_sum adds the fields of all rows up */
	bool is_blank; /* text: nothing, and not "–", where it is not known */
	/* What an enum's value is called. */
	const char *(*name)(unsigned value);
	/* What no field can hold: adds the member `key` in JSON, where the row is open. Text and CSV leave it out. */
	void (*nested)(struct tare_emit *e, const char *key, const void *row);
};

/* clang-format off */
#define TARE_FIELD_TYPE(STRUCT, FIELD)                                                             \
	_Generic(((struct STRUCT *)0)->FIELD,                                                      \
		 const char *: TARE_FIELD_TEXT,                                                    \
		 char *: TARE_FIELD_CHARS,                                                         \
		 struct tare_str: TARE_FIELD_STR,                                                  \
		 bool: TARE_FIELD_BOOL,                                                            \
		 int: TARE_FIELD_INT,                                                              \
		 unsigned: TARE_FIELD_UNSIGNED,                                                    \
		 int64_t: TARE_FIELD_INT64,                                                        \
		 uint64_t: TARE_FIELD_UINT64,                                                      \
		 double: TARE_FIELD_DOUBLE)
/* clang-format on */

/* What stands behind KIND are members of struct tare_column: .unknown = TARE_UNKNOWN_ZERO. */
#define TARE_COLUMN(STRUCT, FIELD, KEY, HEAD, ...)                                                 \
	{                                                                                          \
		.key = KEY, .head = HEAD, .type = TARE_FIELD_TYPE(STRUCT, FIELD),                  \
		.offset = offsetof(struct STRUCT, FIELD), .kind = TARE_COL_##__VA_ARGS__           \
	}
#define TARE_WHEN(STRUCT, FIELD) (1 + offsetof(struct STRUCT, FIELD))
#define TARE_NESTED(KEY, FUNCTION)                                                                 \
	{                                                                                          \
		.key = KEY, .nested = FUNCTION                                                     \
	}
#define TARE_COLUMNS(COLUMNS) (COLUMNS), sizeof(COLUMNS) / sizeof((COLUMNS)[0])

struct tare_emit {
	enum tare_emit_format format;
	struct tare_str *out;
	struct tare_json json;
	struct tare_emit_table *table; /* the open one */
	bool has_table;                /* one was written before */
};

void tare_emit_begin(struct tare_emit *e, enum tare_emit_format format, struct tare_str *out);
void tare_emit_end(struct tare_emit *e);

/* Columns are kept by reference until tare_emit_table_end. `title` may be NULL. */
void tare_emit_table(struct tare_emit *e, const char *key, const char *title,
		     const struct tare_column *columns, size_t count);

/* One row of a table whose columns are bound to fields of `row`, which need not live on. */
void tare_emit_add(struct tare_emit *e, const void *row);
void tare_emit_add_indented(struct tare_emit *e, const void *row, size_t level); /* in text */
/* Text leaves blank what is not known in this row. */
void tare_emit_add_blank(struct tare_emit *e, const void *row);
/* A row that only enters the sums, because the table would be too long; … */
void tare_emit_leave_out(struct tare_emit *e, const void *row);
/* … text only: a row with the sums of those that were left out, then one below a line with the sums of all. */
void tare_emit_rest(struct tare_emit *e, const char *label);
void tare_emit_sum(struct tare_emit *e, const char *label);

/* JSON only: an object of one row, NULL for null; or its members, into the object that is open. */
void tare_emit_object(struct tare_emit *e, const char *key, const struct tare_column *columns,
		      size_t count, const void *row);
void tare_emit_members(struct tare_emit *e, const struct tare_column *columns, size_t count,
		       const void *row);

void tare_emit_rule(struct tare_emit *e); /* text only: a line over the whole width */
void tare_emit_line(struct tare_emit *e, const char *text); /* text only: a line inside a table */
void tare_emit_table_end(struct tare_emit *e);

/* JSON structure around tables; text and CSV ignore these. key is NULL inside an array. */
void tare_emit_open(struct tare_emit *e, const char *key, char bracket); /* '{' or '[' */
void tare_emit_close(struct tare_emit *e);
void tare_emit_str(struct tare_emit *e, const char *key, const char *text); /* NULL: null */
void tare_emit_str_n(struct tare_emit *e, const char *key, const char *text, size_t len);
void tare_emit_int(struct tare_emit *e, const char *key, int64_t v);
void tare_emit_uint(struct tare_emit *e, const char *key, uint64_t v);
void tare_emit_number(struct tare_emit *e, const char *key, double v);
void tare_emit_flag(struct tare_emit *e, const char *key, bool v);
void tare_emit_null(struct tare_emit *e, const char *key);

/* A line between tables; JSON and CSV ignore it. */
void tare_emit_note(struct tare_emit *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
