/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_TABLE_H
#define TARE_BASE_EMIT_TABLE_H

#include "base/arena.h"
#include "base/emit.h"

/* Cells, the open table and what renders both; only emit*.c use this. */
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
	const struct tare_cell *cells;
	const void *row; /* what the columns are bound to; NULL: sums */
	size_t indent;
	bool is_blank; /* where a cell is not known */
};

struct tare_emit_table {
	const struct tare_column *columns;
	size_t column_count;
	const char *key, *title;
	struct tare_cell *cells, *rest,
		*sums;                    /* of the row being built, of those left out, of all */
	struct tare_emit_text_rows *text; /* emit_text.c: what waits for the widths */
	struct tare_emit_table *outer;    /* in whose row this one lies, or NULL */
	struct tare_arena arena;
};

/* Whether a format has what stands outside the columns of a table: members, objects, arrays. */
enum tare_members { TARE_MEMBERS_NONE, TARE_MEMBERS_IN_ROWS, TARE_MEMBERS_ALL };

/* One per format. Every table is begun and ended; cells are good during the call. */
struct tare_renderer {
	enum tare_members members;
	void (*table)(struct tare_emit *e, struct tare_emit_table *t);
	void (*row)(struct tare_emit *e, struct tare_emit_table *t,
		    const struct tare_emit_row *row);
	void (*line)(struct tare_emit *e, struct tare_emit_table *t,
		     const char *line); /* or NULL */
	void (*end)(struct tare_emit *e, struct tare_emit_table *t);
};
#define TARE_FORMAT(KEY, NAME, RENDERER) extern const struct tare_renderer RENDERER;
#include "base/emit_format.def"
#undef TARE_FORMAT

/* emit_cell.c: the value of a bound column, and sums of them. */
struct tare_cell tare_cell_of(const struct tare_column *column, const void *row);
void tare_cell_sum(struct tare_cell *sum, const struct tare_cell *cell);

/* What an address looks like everywhere. */
enum { TARE_ADDRESS_MAX = 24 };
const char *tare_cell_address(char text[static TARE_ADDRESS_MAX], const struct tare_cell *cell);

/* emit_json.c: the members of one row. */
void tare_emit_json_members(struct tare_emit *e, const struct tare_column *columns, size_t count,
			    const struct tare_cell *cells, const void *row);

/* emit_json_lines.c: begins the line of a row, which tare_json_close ends. */
void tare_emit_json_line(struct tare_emit *e, const char *table);

#endif
