/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_TABLE_H
#define TARE_BASE_EMIT_TABLE_H

#include "base/emit.h"

/* The cells of an open table and its three renderings; only emit.c uses this. */
enum tare_cell_type {
	TARE_CELL_UNKNOWN, /* zero, so that a fresh row is unknown throughout */
	TARE_CELL_TEXT,
	TARE_CELL_INT,
	TARE_CELL_UINT,
	TARE_CELL_NUMBER,
};

struct tare_cell {
	enum tare_cell_type type;
	union {
		const char *text;
		int64_t i;
		uint64_t u;
		double number;
	};
};

struct tare_emit_row {
	struct tare_cell *cells; /* NULL: a line of text, or a rule when that is empty */
	const char *line;
	size_t indent;
};

struct tare_emit_table {
	const struct tare_column *columns;
	size_t column_count;
	const char *key, *title;
	struct tare_emit_row *rows;
	size_t row_count, row_cap, cell_at;
	bool is_row_open;
	struct tare_arena arena;
};

void tare_emit_table_text(const struct tare_emit_table *t, struct tare_str *out);
void tare_emit_table_json(const struct tare_emit_table *t, struct tare_json *json);
void tare_emit_table_csv(const struct tare_emit_table *t, struct tare_str *out);

#endif
