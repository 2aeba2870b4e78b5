/* SPDX-License-Identifier: Apache-2.0 */
#include "base/emit.h"

#include "base/arena.h"
#include "base/emit_table.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdarg.h>
#include <stdlib.h>

static const struct tare_renderer *renderer(const struct tare_emit *e)
{
#define TARE_FORMAT(KEY, NAME, RENDERER) [TARE_EMIT_##KEY] = &(RENDERER),
	static const struct tare_renderer *const renderers[] = {
#include "base/emit_format.def"
	};
#undef TARE_FORMAT

	return renderers[e->format];
}

/* Can something stand here that is no row of a table? */
static bool has_members(const struct tare_emit *e)
{
	enum tare_members members = renderer(e)->members;

	return members == TARE_MEMBERS_ALL || (members == TARE_MEMBERS_IN_ROWS && e->json.depth);
}

void tare_emit_begin(struct tare_emit *e, enum tare_emit_format format, struct tare_str *out)
{
	*e = (struct tare_emit){ .format = format, .out = out };
	e->json = (struct tare_json){ .out = out,
				      .is_pretty = renderer(e)->members == TARE_MEMBERS_ALL };
	tare_emit_open(e, NULL, '{');
}

void tare_emit_end(struct tare_emit *e)
{
	tare_emit_close(e);
}

static struct tare_cell *cells_for(struct tare_emit_table *t)
{
	return tare_arena_alloc(&t->arena, t->column_count * sizeof(struct tare_cell));
}

void tare_emit_table(struct tare_emit *e, const char *key, const char *title,
		     const struct tare_column *columns, size_t count)
{
	struct tare_emit_table *t = tare_xcalloc(1, sizeof(*t));

	t->columns = columns;
	t->column_count = count;
	t->key = key;
	t->title = title ? tare_arena_strdup(&t->arena, title) : NULL;
	t->cells = cells_for(t);
	t->rest = cells_for(t);
	t->sums = cells_for(t);
	t->outer = e->table;
	e->table = t;
	renderer(e)->table(e, t);
}

void tare_emit_table_end(struct tare_emit *e)
{
	struct tare_emit_table *t = e->table;

	renderer(e)->end(e, t);
	e->has_table = true;
	e->table = t->outer;
	tare_arena_free(&t->arena);
	free(t);
}

/* ---- rows ---- */

static void fill(struct tare_cell *cells, const struct tare_column *columns, size_t count,
		 const void *row)
{
	for (size_t i = 0; i < count; i++)
		cells[i] = tare_cell_of(&columns[i], row);
}

static void sum_up(const struct tare_emit_table *t, struct tare_cell *sums)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].is_sum)
			tare_cell_sum(&sums[i], &t->cells[i]);
}

static void add_row(struct tare_emit *e, const void *row, size_t level, bool is_blank)
{
	struct tare_emit_table *t = e->table;

	fill(t->cells, t->columns, t->column_count, row);
	sum_up(t, t->sums);
	renderer(e)->row(e, t,
			 &(struct tare_emit_row){ .cells = t->cells,
						  .row = row,
						  .indent = level,
						  .is_blank = is_blank });
}

void tare_emit_add(struct tare_emit *e, const void *row)
{
	add_row(e, row, 0, false);
}

void tare_emit_add_indented(struct tare_emit *e, const void *row, size_t level)
{
	add_row(e, row, level, false);
}

void tare_emit_add_blank(struct tare_emit *e, const void *row)
{
	add_row(e, row, 0, true);
}

void tare_emit_leave_out(struct tare_emit *e, const void *row)
{
	struct tare_emit_table *t = e->table;

	fill(t->cells, t->columns, t->column_count, row);
	sum_up(t, t->sums);
	sum_up(t, t->rest);
}

/* The label, the sums, and nothing in between. A sum of no rows is 0. */
static void add_sums(struct tare_emit *e, struct tare_cell *sums, const char *label)
{
	struct tare_emit_table *t = e->table;
	bool has_label = false;

	if (e->format != TARE_EMIT_TEXT)
		return;
	for (size_t i = 0; i < t->column_count; i++) {
		if (t->columns[i].is_sum) {
			sums[i].type = TARE_CELL_INT;
			continue;
		}
		if (!t->columns[i].head)
			continue;
		sums[i] = (struct tare_cell){ .type = TARE_CELL_TEXT,
					      .text = has_label ? "" : label };
		has_label = true;
	}
	tare_render_text.row(e, t, &(struct tare_emit_row){ .cells = sums });
}

void tare_emit_rest(struct tare_emit *e, const char *label)
{
	add_sums(e, e->table->rest, label);
}

void tare_emit_sum(struct tare_emit *e, const char *label)
{
	tare_emit_rule(e);
	add_sums(e, e->table->sums, label);
}

void tare_emit_members(struct tare_emit *e, const struct tare_column *columns, size_t count,
		       const void *row)
{
	struct tare_cell *cells;

	if (!has_members(e))
		return;
	cells = tare_xcalloc(count, sizeof(*cells));
	fill(cells, columns, count, row);
	tare_emit_json_members(e, columns, count, cells, row);
	free(cells);
}

void tare_emit_object(struct tare_emit *e, const char *key, const struct tare_column *columns,
		      size_t count, const void *row)
{
	bool is_line = renderer(e)->members == TARE_MEMBERS_IN_ROWS && !e->json.depth;

	if (!row) {
		tare_emit_null(e, key);
		return;
	}
	if (is_line)
		tare_emit_json_line(e, key);
	else
		tare_emit_open(e, key, '{');
	tare_emit_members(e, columns, count, row);
	tare_emit_close(e);
}

void tare_emit_line(struct tare_emit *e, const char *text)
{
	if (renderer(e)->line)
		renderer(e)->line(e, e->table, text);
}

void tare_emit_rule(struct tare_emit *e)
{
	tare_emit_line(e, "");
}

/* ---- around tables ---- */

void tare_emit_open(struct tare_emit *e, const char *key, char bracket)
{
	if (has_members(e))
		tare_json_open(&e->json, key, bracket);
}

void tare_emit_close(struct tare_emit *e)
{
	if (has_members(e))
		tare_json_close(&e->json);
}

void tare_emit_str(struct tare_emit *e, const char *key, const char *text)
{
	if (has_members(e))
		tare_json_str(&e->json, key, text);
}

void tare_emit_str_n(struct tare_emit *e, const char *key, const char *text, size_t len)
{
	if (has_members(e))
		tare_json_str_n(&e->json, key, text, len);
}

void tare_emit_int(struct tare_emit *e, const char *key, int64_t v)
{
	if (has_members(e))
		tare_json_i64(&e->json, key, v);
}

void tare_emit_uint(struct tare_emit *e, const char *key, uint64_t v)
{
	if (has_members(e))
		tare_json_u64(&e->json, key, v);
}

void tare_emit_number(struct tare_emit *e, const char *key, double v)
{
	if (has_members(e))
		tare_json_number(&e->json, key, v);
}

void tare_emit_flag(struct tare_emit *e, const char *key, bool v)
{
	if (has_members(e))
		tare_json_bool(&e->json, key, v);
}

void tare_emit_null(struct tare_emit *e, const char *key)
{
	if (has_members(e))
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
