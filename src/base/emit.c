/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a report, hands its tables to the renderer of the chosen format, and ends it. */
#include "base/emit.h"

#include "base/arena.h"
#include "base/emit_sort.h"
#include "base/simulated.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Every name has a bar in front, the first one too many. */
#define TARE_FORMAT(KEY, NAME, RENDERER) "|" NAME
const char tare_emit_names_with_bar[] =
#include "base/emit_format.def"
	;

const struct tare_renderer *tare_emit_renderer(const struct tare_emit *e)
{
#define TARE_FORMAT(KEY, NAME, RENDERER) [TARE_EMIT_##KEY] = &(RENDERER),
	static const struct tare_renderer *const renderers[] = {
#include "base/emit_format.def"
	};

	return renderers[e->format];
}

bool tare_emit_is_for_people(const struct tare_emit *e)
{
	return tare_emit_renderer(e)->block != NULL;
}

bool tare_emit_has_members(const struct tare_emit *e)
{
	enum tare_members members = tare_emit_renderer(e)->members;

	return members == TARE_MEMBERS_ALL || (members == TARE_MEMBERS_IN_ROWS && e->json.depth);
}

void tare_emit_begin(struct tare_emit *e, enum tare_emit_format format, struct tare_str *out)
{
	*e = (struct tare_emit){
		.format = format, .out = out, .style = { .width = TARE_TEXT_WIDTH, .is_utf8 = true }, .start = out->len
	};
	e->json = (struct tare_json){ .out = out, .is_pretty = tare_emit_renderer(e)->members == TARE_MEMBERS_ALL };
	tare_emit_open(e, NULL, '{');
}

/* ---- figures of a GPU that is not there ---- */

static const char simulated_key[] = "simulated";

void tare_emit_simulated(struct tare_emit *e, bool is_simulated)
{
	e->has_gpu = true;
	e->is_simulated = is_simulated;
}

static void end_simulated(struct tare_emit *e)
{
	const char *text = tare_str_text(e->out) + e->start;

	if (e->has_gpu)
		tare_emit_flag(e, simulated_key, e->is_simulated);
	if (e->is_simulated && tare_emit_is_for_people(e) && !strstr(text, tare_simulated_mark(true)) &&
	    !strstr(text, TARE_SIMULATED_WORDS))
		tare_emit_renderer(e)->block(e, &(struct tare_emit_block){ .kind = TARE_BLOCK_NOTE,
		                                                           .text = "Of " TARE_SIMULATED_WORDS
		                                                                   ": nothing of this was measured." });
}

static bool has_column(const struct tare_column *columns, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (columns[i].key && !strcmp(columns[i].key, key))
			return true;
	return false;
}

/* Data without members has no other place than a column. */
static void add_simulated(const struct tare_emit *e, struct tare_emit_table *t)
{
	struct tare_column *columns;

	if (!e->is_simulated || tare_emit_is_for_people(e) || tare_emit_has_members(e) ||
	    has_column(t->columns, t->column_count, simulated_key))
		return;
	columns = tare_arena_alloc(&t->arena, (t->column_count + 1) * sizeof(*columns));
	memcpy(columns, t->columns, t->column_count * sizeof(*columns));
	columns[t->column_count++] =
		(struct tare_column){ .key = simulated_key, .kind = TARE_COL_FLAG, .type = TARE_FIELD_TRUE };
	t->columns = columns;
}

void tare_emit_end(struct tare_emit *e)
{
	end_simulated(e);
	tare_emit_close(e);
	if (tare_emit_renderer(e)->finish)
		tare_emit_renderer(e)->finish(e);
	tare_str_free(&e->sort_names);
}

static struct tare_cell *cells_for(struct tare_emit_table *t)
{
	return tare_arena_alloc(&t->arena, t->column_count * sizeof(struct tare_cell));
}

/* What people see drawn, or not at all. Data has its rows. */
static bool is_chart(const struct tare_emit *e, const struct tare_emit_table *t)
{
	return tare_emit_is_for_people(e) && (t->shape == TARE_SHAPE_SERIES || t->shape == TARE_SHAPE_INTERVALS);
}

void tare_emit_shape(struct tare_emit *e, enum tare_shape_kind shape, const char *key, const char *title,
                     const struct tare_column *columns, size_t count)
{
	struct tare_emit_table *t = tare_xcalloc(1, sizeof(*t));

	t->shape = shape;
	t->columns = columns;
	t->column_count = count;
	add_simulated(e, t);
	t->key = key;
	t->title = title ? tare_arena_strdup(&t->arena, title) : NULL;
	t->cells = cells_for(t);
	t->rest = cells_for(t);
	t->sums = cells_for(t);
	t->outer = e->table;
	e->table = t;
	if (!is_chart(e, t)) {
		tare_emit_order_begin(e, t);
		tare_emit_renderer(e)->table(e, t);
		return;
	}
	t->chart = tare_arena_alloc(&t->arena, sizeof(*t->chart));
	t->chart->shape = shape;
	t->chart->title = t->title;
}

void tare_emit_table(struct tare_emit *e, const char *key, const char *title, const struct tare_column *columns,
                     size_t count)
{
	tare_emit_shape(e, TARE_SHAPE_TABLE, key, title, columns, count);
}

static void free_table(struct tare_emit_table *t)
{
	if (t->chart)
		free(t->chart->parts);
	tare_arena_free(&t->arena);
	free(t);
}

/* A series in a table waits for the table: text must know how wide that is. */
static void end_chart(struct tare_emit *e, struct tare_emit_table *t)
{
	struct tare_emit_table *outer = t->outer;

	if (outer && !outer->series) {
		outer->series = t;
		return;
	}
	tare_emit_renderer(e)->chart(e, t->chart);
	free_table(t);
}

void tare_emit_table_end(struct tare_emit *e)
{
	struct tare_emit_table *t = e->table;
	struct tare_emit_table *series = t->series;

	e->table = t->outer;
	if (is_chart(e, t)) {
		end_chart(e, t);
		return;
	}
	tare_emit_order_end(e, t);
	tare_emit_renderer(e)->end(e, t);
	e->has_table = true;
	if (series)
		free_table(series);
	free_table(t);
}

void tare_emit_rows(struct tare_emit *e, const char *key, const char *title, const struct tare_column *columns,
                    size_t column_nr, const void *rows, size_t nr, size_t row_bytes)
{
	tare_emit_table(e, key, title, columns, column_nr);
	for (size_t i = 0; i < nr; i++)
		tare_emit_add(e, (const char *)rows + i * row_bytes);
	tare_emit_table_end(e);
}

/* ---- rows ---- */

static void sum_up(const struct tare_emit_table *t, struct tare_cell *sums)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].is_sum)
			tare_cell_sum(&sums[i], &t->cells[i]);
}

void tare_emit_add_as(struct tare_emit *e, const void *row, struct tare_row_look look)
{
	struct tare_emit_table *t = e->table;

	tare_cells_of(t->cells, t->columns, t->column_count, row);
	sum_up(t, t->sums);
	if (t->chart)
		tare_chart_add(t, t->cells);
	else if (t->order)
		tare_emit_order_add(t, look);
	else
		tare_emit_renderer(e)->row(e, t, &(struct tare_emit_row){ .cells = t->cells, .row = row, .look = look });
}

void tare_emit_add(struct tare_emit *e, const void *row)
{
	tare_emit_add_as(e, row, (struct tare_row_look){ 0 });
}

void tare_emit_leave_out(struct tare_emit *e, const void *row)
{
	struct tare_emit_table *t = e->table;

	tare_cells_of(t->cells, t->columns, t->column_count, row);
	sum_up(t, t->sums);
	sum_up(t, t->rest);
}

/* The label, the sums, and nothing in between. A sum of no rows is 0; of numbers that nobody knows there is none. */
static void add_sums(struct tare_emit *e, struct tare_cell *sums, const char *label)
{
	struct tare_emit_table *t = e->table;
	bool has_label = false;

	if (!tare_emit_is_for_people(e))
		return;
	tare_emit_order_flush(e, t);
	for (size_t i = 0; i < t->column_count; i++) {
		if (t->columns[i].is_sum) {
			if (t->columns[i].type != TARE_FIELD_DOUBLE)
				sums[i].type = TARE_CELL_INT;
			sums[i].kind = t->columns[i].kind;
			sums[i].digits = t->columns[i].digits ? t->columns[i].digits : 2;
			continue;
		}
		if (!t->columns[i].head)
			continue;
		sums[i] = (struct tare_cell){ .type = TARE_CELL_TEXT, .text = has_label ? "" : label };
		has_label = true;
	}
	tare_emit_renderer(e)->row(e, t, &(struct tare_emit_row){ .cells = sums, .look = { .tone = TARE_TONE_STRONG } });
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

void tare_emit_mark(struct tare_emit *e, double at, const char *name)
{
	struct tare_emit_table *t = e->table;

	if (!t->chart)
		return;
	t->chart->mark = at;
	t->chart->mark_name = tare_arena_strdup(&t->arena, name);
}

void tare_emit_line(struct tare_emit *e, const char *text)
{
	const struct tare_renderer *renderer = tare_emit_renderer(e);

	tare_emit_order_flush(e, e->table);
	if (renderer->line)
		renderer->line(e, e->table, text);
}

void tare_emit_rule(struct tare_emit *e)
{
	tare_emit_line(e, "");
}
