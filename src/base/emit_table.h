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
	TARE_CELL_RANGE, /* from i to high */
};

struct tare_cell {
	enum tare_cell_type type;
	enum tare_column_kind kind; /* the column's, or that of a struct tare_value */
	unsigned char digits;
	union {
		const char *text;
		int64_t i;
		uint64_t u;
		double number;
	};
	int64_t high;
};

struct tare_emit_row {
	const struct tare_cell *cells;
	const void *row; /* what the columns are bound to; NULL: sums */
	struct tare_row_look look;
};

/* A series or intervals, as a format that draws them gets it. */
struct tare_chart_part {
	const char *lane, *name, *value;
	double from, to, amount; /* amount: the value as a number */
};
struct tare_chart {
	enum tare_shape_kind shape;
	const char *title; /* or NULL */
	struct tare_chart_part *parts;
	size_t count, cap;
	enum tare_column_kind kind, amount_kind; /* of from and to, of amounts */
	double mark;                             /* a line there, if it has a name */
	const char *mark_name;
};

struct tare_emit_table {
	enum tare_shape_kind shape;
	const struct tare_column *columns;
	size_t column_count;
	const char *key, *title;
	struct tare_cell *cells, *rest, *sums; /* of the row being built, of those left out, of all */
	struct tare_emit_text_rows *text;      /* emit_text.c: what waits for the widths */
	struct tare_chart *chart;              /* what people see of a series, of intervals */
	struct tare_emit_table *series;        /* of another shape: the series to be drawn with it */
	struct tare_emit_order *order;         /* emit_sort.c: rows that wait for it; or NULL */
	bool is_begun;                         /* Markdown, HTML: its heads are written */
	struct tare_emit_table *outer;         /* in whose row this one lies, or NULL */
	struct tare_arena arena;
};

enum tare_block_kind {
	TARE_BLOCK_NONE,
	TARE_BLOCK_PAGE,
	TARE_BLOCK_TITLE,
	TARE_BLOCK_HEADING,
	TARE_BLOCK_PARAGRAPH,
	TARE_BLOCK_TERM,
	TARE_BLOCK_ITEM,
	TARE_BLOCK_ALARM,
	TARE_BLOCK_NOTE,
	TARE_BLOCK_GAP,
};

struct tare_emit_block {
	enum tare_block_kind kind;
	const char *text;
	size_t first, others;     /* PARAGRAPH: left margins in text */
	const char *head;         /* TERM */
	enum tare_text_tone tone; /* of the head */
};

/* Whether a format has what stands outside the columns of a table: members, objects, arrays. */
enum tare_members { TARE_MEMBERS_NONE, TARE_MEMBERS_IN_ROWS, TARE_MEMBERS_ALL };

/*
 * One per format. Every table is begun and ended; cells are good during the call. One for people has `block`; `chart`,
 * if it is there, gets series and intervals, whose rows `row` does not see.
 */
struct tare_renderer {
	enum tare_members members;
	void (*table)(struct tare_emit *e, struct tare_emit_table *t);
	void (*row)(struct tare_emit *e, struct tare_emit_table *t, const struct tare_emit_row *row);
	void (*line)(struct tare_emit *e, struct tare_emit_table *t, const char *line); /* or NULL */
	void (*end)(struct tare_emit *e, struct tare_emit_table *t);
	void (*block)(struct tare_emit *e, const struct tare_emit_block *block); /* NULL: data */
	void (*chart)(struct tare_emit *e, const struct tare_chart *chart);
	void (*finish)(struct tare_emit *e); /* or NULL */
};
#define TARE_FORMAT(KEY, NAME, RENDERER) extern const struct tare_renderer RENDERER;
#include "base/emit_format.def"

const struct tare_renderer *tare_emit_renderer(const struct tare_emit *e);

/* emit_cell.c: the value of a bound column, and sums of them. */
struct tare_cell tare_cell_of(const struct tare_column *column, const void *row);
void tare_cells_of(struct tare_cell *cells, const struct tare_column *columns, size_t count, const void *row);
void tare_cell_sum(struct tare_cell *sum, const struct tare_cell *cell);

/* What an address looks like everywhere. */
enum { TARE_ADDRESS_MAX = 24 };
const char *tare_cell_address(char text[static TARE_ADDRESS_MAX], const struct tare_cell *cell);

/* As a cell of data that is text, nothing escaped: sizes in bytes, nothing where it is not known. */
void tare_cell_write(struct tare_str *out, const struct tare_cell *cell);

/* As people read it, nothing escaped; the head of a column, a comma and its unit. */
bool tare_cell_is_known(const struct tare_cell *cell);
void tare_cell_read(struct tare_str *out, const struct tare_cell *cell, bool is_blank);
bool tare_kind_is_size(enum tare_column_kind kind);
void tare_column_read(struct tare_str *out, const struct tare_column *column, const char *comma);

/* emit_json.c: the members of one row. */
void tare_emit_json_members(struct tare_emit *e, const struct tare_column *columns, size_t count,
                            const struct tare_cell *cells, const void *row);

/* emit_json_lines.c: begins the line of a row, which tare_json_close ends. */
void tare_emit_json_line(struct tare_emit *e, const char *table);

/* emit_text_block.c: a line or more of text; what is wider than a screen goes on below where it begins. */
void tare_text_add_wrapped(struct tare_emit *e, struct tare_str *out, const char *line);
void tare_text_toned(struct tare_emit *e, const char *text, enum tare_text_tone tone);
/* A table's: no wider than a screen or a pipe, its parts go on on the next line; `unit` stands at the end of `total` columns, "": none. */
void tare_text_add_title(struct tare_emit *e, struct tare_str *out, const char *title, const char *unit, size_t total);
void tare_text_block(struct tare_emit *e, const struct tare_emit_block *block);

/* emit_chart.c: a row of a series or of intervals; a place, or an amount, as people read it. */
void tare_chart_add(struct tare_emit_table *t, const struct tare_cell *cells);
void tare_chart_read(struct tare_str *out, enum tare_column_kind kind, double amount);

/*
 * A series in one line, "0 s ▁▂▅█▇▇▃▁ 41.2 s · TAIL", from nothing to the most, at most `width` columns wide. Nothing
 * where there is nothing to see: it never changes. `tail` may be NULL.
 */
bool tare_chart_is_flat(const struct tare_chart *chart);
void tare_chart_spark(struct tare_str *out, const struct tare_chart *chart, size_t width, const char *tail);

/* emit_html_chart.c: a series as a curve, intervals as bars. Nothing where there is nothing to see. */
void tare_html_chart(struct tare_str *out, const struct tare_chart *chart);

/* What makes them look as they do, in the style of the page; its colours are --c0 … */
enum { TARE_HTML_COLOURS = 9 };
extern const char tare_html_chart_style[];

#endif
