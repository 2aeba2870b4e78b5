/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_H
#define TARE_BASE_EMIT_H

#include "base/json.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One call, three outputs. The code says its columns once and then its rows; text, JSON and CSV
 * come from the same cells, so they cannot disagree.
 *
 *     static const struct tare_column columns[] = {
 *             { "label", "ACCOUNT", TARE_COL_TEXT },
 *             { "bytes", "AT PEAK", TARE_COL_BYTES },
 *             { "evidence", "evidence", TARE_COL_TEXT },
 *             { "pid", NULL, TARE_COL_COUNT },           // data only
 *     };
 *     struct tare_emit e;
 *
 *     tare_emit_begin(&e, TARE_EMIT_TEXT, &str);
 *     tare_emit_str(&e, "at", "peak");                        // JSON member; nothing in text, CSV
 *     tare_emit_table(&e, "rows", "GPU 0  NVIDIA H200", columns, 4);
 *     tare_emit_cell_text(&e, "context");
 *     tare_emit_cell_int(&e, 549000000);
 *     tare_emit_cell_text(&e, "weighed");
 *     tare_emit_cell_unknown(&e);
 *     tare_emit_row(&e);
 *     tare_emit_table_end(&e);
 *     tare_emit_note(&e, "! a line under the table");         // text only
 *     tare_emit_end(&e);
 *
 * In text, sizes are MiB with one decimal and the unit stands once, at the right of the title (or,
 * without a title, behind the column's head). In JSON and CSV they are bytes. A cell that is not
 * known is "–", null, and empty. CSV holds tables only, each with its head, a blank line between.
 */
enum tare_emit_format { TARE_EMIT_TEXT, TARE_EMIT_JSON, TARE_EMIT_CSV };

enum tare_column_kind {
	TARE_COL_TEXT,
	TARE_COL_COUNT,    /* whole number */
	TARE_COL_BYTES,    /* may be negative */
	TARE_COL_CHANGE,   /* bytes, with + or - in text */
	TARE_COL_DURATION, /* nanoseconds */
	TARE_COL_NUMBER,   /* text: two decimals */
	TARE_COL_PERCENT,  /* cell is a fraction: 0.5; text "50.0 %" */
	TARE_COL_FLAG,     /* text "yes" or nothing */
};

struct tare_column {
	const char *key;  /* JSON member and CSV head; NULL: in text only */
	const char *head; /* in text; NULL: in data only */
	enum tare_column_kind kind;
};

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
void tare_emit_cell_text(struct tare_emit *e, const char *text); /* NULL: unknown */
void tare_emit_cell_textf(struct tare_emit *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tare_emit_cell_int(struct tare_emit *e, int64_t v); /* COUNT, BYTES, CHANGE, DURATION, FLAG */
void tare_emit_cell_uint(struct tare_emit *e, uint64_t v); /* COUNT, BYTES */
void tare_emit_cell_number(struct tare_emit *e, double v); /* NUMBER, PERCENT */
void tare_emit_cell_unknown(struct tare_emit *e);
void tare_emit_row(struct tare_emit *e); /* ends a row; missing cells are unknown */
void tare_emit_indent(struct tare_emit *e, size_t level); /* of the row being built, text only */
void tare_emit_rule(struct tare_emit *e); /* text only: a line over the whole width */
void tare_emit_line(struct tare_emit *e, const char *text); /* text only: a line inside a table */
void tare_emit_table_end(struct tare_emit *e);

/* JSON structure around tables; text and CSV ignore these. key is NULL inside an array. */
void tare_emit_open(struct tare_emit *e, const char *key, char bracket); /* '{' or '[' */
void tare_emit_close(struct tare_emit *e);
void tare_emit_str(struct tare_emit *e, const char *key, const char *text); /* NULL: null */
void tare_emit_int(struct tare_emit *e, const char *key, int64_t v);
void tare_emit_uint(struct tare_emit *e, const char *key, uint64_t v);
void tare_emit_flag(struct tare_emit *e, const char *key, bool v);
void tare_emit_null(struct tare_emit *e, const char *key);

/* A line between tables; JSON and CSV ignore it. */
void tare_emit_note(struct tare_emit *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
