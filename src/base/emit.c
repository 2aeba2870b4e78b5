/* SPDX-License-Identifier: Apache-2.0 */
#include "base/emit.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/emit_table.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tare_emit_begin(struct tare_emit *e, enum tare_emit_format format, struct tare_str *out)
{
	*e = (struct tare_emit){ .format = format, .out = out };
	e->json = (struct tare_json){ .out = out, .is_pretty = true };
	tare_emit_open(e, NULL, '{');
}

void tare_emit_end(struct tare_emit *e)
{
	tare_emit_close(e);
}

void tare_emit_table(struct tare_emit *e, const char *key, const char *title,
		     const struct tare_column *columns, size_t count)
{
	struct tare_emit_table *t = tare_xcalloc(1, sizeof(*t));

	t->columns = columns;
	t->column_count = count;
	t->key = key;
	t->title = title ? tare_arena_strdup(&t->arena, title) : NULL;
	e->table = t;
}

static struct tare_cell *next_cell(struct tare_emit_table *t)
{
	struct tare_emit_row *row;

	if (!t->is_row_open) {
		t->rows = tare_array_reserve(t->rows, &t->row_cap, t->row_count + 1,
					     sizeof(*t->rows));
		t->rows[t->row_count++] = (struct tare_emit_row){
			.cells = tare_arena_alloc(&t->arena,
						  t->column_count * sizeof(struct tare_cell)),
		};
		t->is_row_open = true;
		t->cell_at = 0;
	}
	row = &t->rows[t->row_count - 1];
	/* One cell too many is a mistake in a view; it must not become a write past the row. */
	return t->cell_at < t->column_count ? &row->cells[t->cell_at++] : NULL;
}

void tare_emit_cell_text(struct tare_emit *e, const char *text)
{
	struct tare_cell *c = next_cell(e->table);

	if (c && text)
		*c = (struct tare_cell){ .type = TARE_CELL_TEXT,
					 .text = tare_arena_strdup(&e->table->arena, text) };
}

void tare_emit_cell_textf(struct tare_emit *e, const char *fmt, ...)
{
	struct tare_str s = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&s, fmt, ap);
	va_end(ap);
	tare_emit_cell_text(e, tare_str_text(&s));
	tare_str_free(&s);
}

void tare_emit_cell_int(struct tare_emit *e, int64_t v)
{
	struct tare_cell *c = next_cell(e->table);

	if (c)
		*c = (struct tare_cell){ .type = TARE_CELL_INT, .i = v };
}

void tare_emit_cell_uint(struct tare_emit *e, uint64_t v)
{
	struct tare_cell *c = next_cell(e->table);

	if (c)
		*c = (struct tare_cell){ .type = TARE_CELL_UINT, .u = v };
}

void tare_emit_cell_number(struct tare_emit *e, double v)
{
	struct tare_cell *c = next_cell(e->table);

	if (c)
		*c = (struct tare_cell){ .type = TARE_CELL_NUMBER, .number = v };
}

void tare_emit_cell_unknown(struct tare_emit *e)
{
	next_cell(e->table); /* the arena's zeroes mean "unknown" */
}

void tare_emit_row(struct tare_emit *e)
{
	e->table->is_row_open = false;
}

void tare_emit_indent(struct tare_emit *e, size_t level)
{
	struct tare_emit_table *t = e->table;

	if (t->is_row_open)
		t->rows[t->row_count - 1].indent = level;
}

void tare_emit_line(struct tare_emit *e, const char *text)
{
	struct tare_emit_table *t = e->table;

	t->is_row_open = false;
	t->rows = tare_array_reserve(t->rows, &t->row_cap, t->row_count + 1, sizeof(*t->rows));
	t->rows[t->row_count++] = (struct tare_emit_row){
		.line = tare_arena_strdup(&t->arena, text),
	};
}

void tare_emit_rule(struct tare_emit *e)
{
	tare_emit_line(e, "");
}

void tare_emit_table_end(struct tare_emit *e)
{
	struct tare_emit_table *t = e->table;

	switch (e->format) {
	case TARE_EMIT_TEXT:
		tare_emit_table_text(t, e->out);
		break;
	case TARE_EMIT_JSON:
		tare_emit_table_json(t, &e->json);
		break;
	case TARE_EMIT_CSV:
		if (e->has_table)
			tare_str_add_char(e->out, '\n');
		tare_emit_table_csv(t, e->out);
		break;
	}
	e->has_table = true;
	e->table = NULL;
	tare_arena_free(&t->arena);
	free(t->rows);
	free(t);
}

void tare_emit_open(struct tare_emit *e, const char *key, char bracket)
{
	if (e->format == TARE_EMIT_JSON)
		tare_json_open(&e->json, key, bracket);
}

void tare_emit_close(struct tare_emit *e)
{
	if (e->format == TARE_EMIT_JSON)
		tare_json_close(&e->json);
}

void tare_emit_str(struct tare_emit *e, const char *key, const char *text)
{
	if (e->format == TARE_EMIT_JSON)
		tare_json_str(&e->json, key, text);
}

void tare_emit_int(struct tare_emit *e, const char *key, int64_t v)
{
	if (e->format == TARE_EMIT_JSON)
		tare_json_i64(&e->json, key, v);
}

void tare_emit_uint(struct tare_emit *e, const char *key, uint64_t v)
{
	if (e->format == TARE_EMIT_JSON)
		tare_json_u64(&e->json, key, v);
}

void tare_emit_flag(struct tare_emit *e, const char *key, bool v)
{
	if (e->format == TARE_EMIT_JSON)
		tare_json_bool(&e->json, key, v);
}

void tare_emit_null(struct tare_emit *e, const char *key)
{
	if (e->format == TARE_EMIT_JSON)
		tare_json_null(&e->json, key);
}

void tare_emit_note(struct tare_emit *e, const char *fmt, ...)
{
	struct tare_str line = { 0 };
	va_list ap;

	if (e->format != TARE_EMIT_TEXT)
		return;
	va_start(ap, fmt);
	tare_str_vaddf(&line, fmt, ap);
	va_end(ap);
	tare_text_add_name(e->out, tare_str_text(&line));
	tare_str_add_char(e->out, '\n');
	tare_str_free(&line);
}
