/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_H
#define TARE_BASE_EMIT_H

#include "base/emit_value.h"
#include "base/json.h"
#include "base/print.h"
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
 *     tare_emit_str(&e, "at", "peak");                        // a member, of data that has members
 *     tare_emit_table(&e, "rows", "GPU 0  NVIDIA H200", columns, 3);
 *     tare_emit_add(&e, &(struct row){ "context", 549000000, -1 });
 *     tare_emit_sum(&e, "all");                               // people only
 *     tare_emit_table_end(&e);
 *     tare_emit_note(&e, "a line under the table");           // people only
 *     tare_emit_end(&e);
 *
 * A format is for people (text, Markdown, HTML: heads, units, titles, sentences) or it is data (JSON, CSV: keys, sizes
 * in bytes). For people sizes are MiB with one decimal; in text the unit stands once, at the right of the title (or,
 * without a title, behind the column's head). A cell that is not known is "–", null, and empty. CSV holds tables only,
 * each with its head, a blank line between. JSON Lines has an object a line for each row and each object, and
 * nothing of what stands around them. All but text are written row by row; that waits for the end of a table, for its
 * widths.
 *
 * What is shown has one of four shapes. To data they are all tables:
 *
 *     table      rows
 *     tree       rows below rows (struct tare_row_look, level); in text as wide as the screen
 *     series     a value over a span: what columns are AS_FROM, AS_TO, AS_VALUE. Drawn as a history
 *     intervals  spans in lanes: AS_LANE, AS_NAME, AS_FROM, AS_TO, and what a lane comes to, AS_VALUE. Drawn by formats
 *                that can draw, and left out by the others: so a view shows them beside a table
 */
#define TARE_FORMAT(KEY, NAME, RENDERER) TARE_EMIT_##KEY,
enum tare_emit_format {
#include "base/emit_format.def"
	TARE_EMIT_FORMAT_NR
};

/* "text|json|…", for an option table. */
extern const char tare_emit_names_with_bar[];
#define TARE_EMIT_NAMES (tare_emit_names_with_bar + 1)

enum tare_shape_kind { TARE_SHAPE_TABLE, TARE_SHAPE_TREE, TARE_SHAPE_SERIES, TARE_SHAPE_INTERVALS };

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
	TARE_FIELD_VALUE, /* which says its kind itself */
	TARE_FIELD_TRUE,  /* no field either: it is so in every row */
};

/* Which value of a field means that it is not known. A text is not known if it is NULL, a double if it is NaN. */
enum tare_unknown {
	TARE_UNKNOWN_NEVER,
	TARE_UNKNOWN_ZERO,
	TARE_UNKNOWN_NEGATIVE,
	TARE_UNKNOWN_HUGE, /* more than INT64_MAX, as TARE_NOT_KNOWN is */
};

/* What a column is to a series or to intervals. */
enum tare_column_as {
	TARE_AS_CELL,
	TARE_AS_LANE,
	TARE_AS_NAME,
	TARE_AS_FROM,
	TARE_AS_TO,
	TARE_AS_VALUE,
};

struct tare_emit;

struct tare_column {
	const char *key;  /* JSON member and CSV head; NULL: for people only */
	const char *head; /* for people; NULL: in data only */
	enum tare_column_kind kind;
	enum tare_field_type type; /* of the field at … */
	size_t offset;             /* … in the row's struct */
	enum tare_unknown unknown;
	size_t when;          /* TARE_WHEN: the bool that must be true, else the field is not known */
	bool is_sum;          /* tare_emit_sum adds the fields of all rows up */
	bool is_quiet;        /* text: dimmed where there are colours, and left out first where a screen is too narrow */
	bool is_whole;        /* text: a figure with words, which means nothing when it is cut; it is left out rather */
	bool is_main;         /* text: what the table is about, left out last */
	bool is_blank;        /* people: nothing, and not "–", where it is not known */
	unsigned char digits; /* of a NUMBER, for people, behind the point; 0: two */
	enum tare_column_as as;
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
		 double: TARE_FIELD_DOUBLE,                                                        \
		 struct tare_value: TARE_FIELD_VALUE)
/* clang-format on */

/* What stands behind KIND are members of struct tare_column: .unknown = TARE_UNKNOWN_ZERO. */
#define TARE_COLUMN(STRUCT, FIELD, KEY, HEAD, ...)                                                                     \
	{                                                                                                                  \
		.key = KEY, .head = HEAD, .type = TARE_FIELD_TYPE(STRUCT, FIELD), .offset = offsetof(struct STRUCT, FIELD),    \
		.kind = TARE_COL_##__VA_ARGS__                                                                                 \
	}
#define TARE_WHEN(STRUCT, FIELD) (1 + offsetof(struct STRUCT, FIELD))
#define TARE_NESTED(KEY, FUNCTION)                                                                                     \
	{                                                                                                                  \
		.key = KEY, .nested = FUNCTION                                                                                 \
	}
#define TARE_COLUMNS(COLUMNS) (COLUMNS), sizeof(COLUMNS) / sizeof((COLUMNS)[0])

struct tare_emit {
	enum tare_emit_format format;
	struct tare_str *out;
	struct tare_text_style style; /* of text: 80 columns of UTF-8, unless the caller sets another */
	struct tare_json json;
	struct tare_emit_table *table; /* the open one */
	bool has_table;                /* one was written before */
	size_t start;                  /* of this report in `out` */
	int last;                      /* kind of the block before, or -1; what a page needs to know */
	bool is_open;                  /* a page was begun */
	bool has_gpu, is_simulated;    /* tare_emit_simulated was called; with true */
	/* Rows in the order of a column, by its key or head; "-KEY" for the other way round. Set by the caller. */
	const char *sort;
	bool is_sorted;             /* set: a table had such a column */
	struct tare_str sort_names; /* set: what columns are called; freed by tare_emit_end */
};

void tare_emit_begin(struct tare_emit *e, enum tare_emit_format format, struct tare_str *out);
void tare_emit_end(struct tare_emit *e);
bool tare_emit_is_for_people(const struct tare_emit *e);
bool tare_emit_has_members(const struct tare_emit *e); /* JSON, or inside a row of JSON Lines */

/*
 * Says, before any table, whether figures are of a GPU that is not there. JSON has it as a member, `simulated`. If they
 * are, each table of CSV, TSV and JSON Lines has a last column of that name, and people are told at the end, unless
 * what they read says so already.
 */
void tare_emit_simulated(struct tare_emit *e, bool is_simulated);

/* Columns are kept by reference until tare_emit_table_end. `title` may be NULL. */
void tare_emit_table(struct tare_emit *e, const char *key, const char *title, const struct tare_column *columns,
                     size_t count);
/* Another shape. A series may be begun in a table for people that has no row yet: it is drawn below the title. */
void tare_emit_shape(struct tare_emit *e, enum tare_shape_kind shape, const char *key, const char *title,
                     const struct tare_column *columns, size_t count);

/* How people see a row. */
struct tare_row_look {
	size_t level;     /* of a tree */
	const char *mark; /* before a row of level 1 and more, two columns wide; or NULL */
	enum tare_text_tone tone;
	bool is_blank; /* what is not known is left blank */
	bool is_whole; /* text: the first cell is not cut; without room it has a line of its own above the others */
};

/* One row of a table whose columns are bound to fields of `row`, which need not live on. */
void tare_emit_add(struct tare_emit *e, const void *row);
void tare_emit_add_as(struct tare_emit *e, const void *row, struct tare_row_look look);
/* A row that only enters the sums, because the table would be too long; … */
void tare_emit_leave_out(struct tare_emit *e, const void *row);
/* … for people: a row with the sums of those that were left out, then one below a line with the sums of all. */
void tare_emit_rest(struct tare_emit *e, const char *label);
void tare_emit_sum(struct tare_emit *e, const char *label);
/* Intervals: a line at a place that has a name, such as the size of a card. */
void tare_emit_mark(struct tare_emit *e, double at, const char *name);

/* JSON only: an object of one row, NULL for null; or its members, into the object that is open. */
void tare_emit_object(struct tare_emit *e, const char *key, const struct tare_column *columns, size_t count,
                      const void *row);
void tare_emit_members(struct tare_emit *e, const struct tare_column *columns, size_t count, const void *row);

void tare_emit_rule(struct tare_emit *e);                   /* text: a line over the whole width */
void tare_emit_line(struct tare_emit *e, const char *text); /* people: a line inside a table */
void tare_emit_table_end(struct tare_emit *e);
/* A table that has these rows and nothing else: TARE_COLUMNS(columns), TARE_ROWS(items, nr). */
#define TARE_ROWS(items, nr) (items), (size_t)(nr), sizeof(*(items))
void tare_emit_rows(struct tare_emit *e, const char *key, const char *title, const struct tare_column *columns,
                    size_t column_nr, const void *rows, size_t nr, size_t row_bytes);

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

/* What people read between tables; data has none of it. Texts may hold anything: each format escapes what it must. */
#define TARE_PRINTS __attribute__((format(printf, 2, 3)))
void tare_emit_page(struct tare_emit *e, const char *fmt, ...) TARE_PRINTS; /* what a page is called; not in text */
void tare_emit_title(struct tare_emit *e, const char *fmt, ...) TARE_PRINTS;
void tare_emit_heading(struct tare_emit *e, const char *fmt, ...) TARE_PRINTS;
void tare_emit_paragraph(struct tare_emit *e, const char *fmt, ...) TARE_PRINTS;
void tare_emit_item(struct tare_emit *e, const char *fmt, ...) TARE_PRINTS;
void tare_emit_alarm(struct tare_emit *e, const char *fmt, ...) TARE_PRINTS;
void tare_emit_note(struct tare_emit *e, const char *fmt, ...) TARE_PRINTS; /* in text one line */
#undef TARE_PRINTS
/* A paragraph with a left margin: of its first line, and of the others. */
void tare_emit_indented(struct tare_emit *e, size_t first, size_t others, const char *text);
/* A head and what is said of it: "host  demo (pid 7) …", in text wrapped below itself. */
void tare_emit_term(struct tare_emit *e, enum tare_text_tone tone, const char *head, const char *text);
void tare_emit_gap(struct tare_emit *e); /* text: an empty line */

#endif
