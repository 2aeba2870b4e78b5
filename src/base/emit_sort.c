/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in another order: those between two lines of a table wait until the next of these, and go on sorted. In a tree
 * rows stay below the row that they are below of.
 */
#include "base/emit_sort.h"

#include "base/array.h"
#include "base/comparator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct waiting {
	struct tare_cell *cells;
	struct tare_row_look look;
	const struct tare_cell *by;
	size_t place; /* in which it came: equal rows stay in this order */
	int sign;     /* 1: the least first */
};

struct tare_emit_order {
	size_t column;
	int sign;
	struct waiting *rows;
	size_t count, cap;
};

static bool is_called(const struct tare_column *c, const char *key)
{
	return (c->key && !strcasecmp(c->key, key)) || (c->head && !strcasecmp(c->head, key));
}

/* Names, numbers that count nothing and times go up; sizes, counts and durations begin with the most. */
static int sign_of(const struct tare_column *c)
{
	switch (c->kind) {
	case TARE_COL_TEXT:
	case TARE_COL_ID:
	case TARE_COL_TIME:
	case TARE_COL_ADDRESS:
		return 1;
	default:
		return -1;
	}
}

static void keep_name(struct tare_emit *e, const struct tare_column *c)
{
	const char *name = c->key ? c->key : c->head;

	if (!name || !name[0] || c->nested)
		return;
	for (const char *p = strstr(tare_str_text(&e->sort_names), name); p; p = strstr(p + 1, name)) {
		char after = p[strlen(name)];

		if ((p == e->sort_names.data || p[-1] == ' ') && (!after || after == ','))
			return;
	}
	tare_str_addf(&e->sort_names, "%s%s", e->sort_names.len ? ", " : "", name);
}

size_t tare_emit_order_find(struct tare_emit *e, const struct tare_column *columns, size_t count, int *sign)
{
	const char *key = e->sort;
	bool is_down = key && key[0] == '-';

	for (size_t i = 0; key && i < count; i++) {
		keep_name(e, &columns[i]);
		if (!is_called(&columns[i], key + is_down))
			continue;
		e->is_sorted = true;
		*sign = sign_of(&columns[i]) * (is_down ? -1 : 1);
		return i;
	}
	return count;
}

void tare_emit_order_begin(struct tare_emit *e, struct tare_emit_table *t)
{
	const char *key = e->sort;
	bool is_down = key && key[0] == '-', has_nested = false;
	size_t found = t->column_count;

	if (!key || t->outer || (t->shape != TARE_SHAPE_TABLE && t->shape != TARE_SHAPE_TREE))
		return;
	key += is_down;
	for (size_t i = 0; i < t->column_count; i++) {
		has_nested = has_nested || t->columns[i].nested;
		keep_name(e, &t->columns[i]);
		if (found == t->column_count && is_called(&t->columns[i], key))
			found = i;
	}
	if (found == t->column_count || has_nested)
		return;
	e->is_sorted = true;
	t->order = tare_arena_alloc(&t->arena, sizeof(*t->order));
	t->order->column = found;
	t->order->sign = sign_of(&t->columns[found]) * (is_down ? -1 : 1);
}

void tare_emit_order_add(struct tare_emit_table *t, struct tare_row_look look)
{
	struct tare_emit_order *o = t->order;
	size_t size = t->column_count * sizeof(struct tare_cell);
	struct waiting *row;

	o->rows = tare_array_reserve(o->rows, &o->cap, o->count + 1, sizeof(*o->rows));
	row = &o->rows[o->count];
	*row = (struct waiting){
		.cells = tare_arena_alloc(&t->arena, size), .look = look, .place = o->count++, .sign = o->sign
	};
	memcpy(row->cells, t->cells, size);
	for (size_t i = 0; i < t->column_count; i++)
		if (row->cells[i].type == TARE_CELL_TEXT)
			row->cells[i].text = tare_arena_strdup(&t->arena, row->cells[i].text);
	row->by = &row->cells[o->column];
}

double tare_cell_number(const struct tare_cell *c)
{
	switch (c->type) {
	case TARE_CELL_INT:
	case TARE_CELL_RANGE:
		return (double)c->i;
	case TARE_CELL_UINT:
		return (double)c->u;
	case TARE_CELL_NUMBER:
		return c->number;
	default:
		return NAN;
	}
}

/* What is not known comes last, and a text behind numbers. */
int tare_cell_compare(const struct tare_cell *x, const struct tare_cell *y, int sign)
{
	bool x_known = tare_cell_is_known(x), y_known = tare_cell_is_known(y);
	bool x_text = x->type == TARE_CELL_TEXT, y_text = y->type == TARE_CELL_TEXT;
	double less;
	int order = 0;

	if (x_known != y_known)
		return x_known ? -1 : 1;
	if (x_text != y_text)
		return x_text ? 1 : -1;
	if (x_text) {
		order = strcmp(x->text, y->text);
	} else if (x_known) {
		less = tare_cell_number(x) - tare_cell_number(y);
		order = less < 0 ? -1 : less > 0;
	}
	return order * sign;
}

TARE_COMPARATOR(compare, struct waiting, TARE_COMPARED(tare_cell_compare(x->by, y->by, x->sign)) TARE_RISING(place))

/* How many rows are the first one's: itself, and those below it. */
static size_t family(const struct waiting *rows, size_t count)
{
	size_t n = 1;

	while (n < count && rows[n].look.level > rows[0].look.level)
		n++;
	return n;
}

/* Puts `count` rows into `out`, sorted, each followed by its own. */
static void sort(struct waiting *out, const struct waiting *rows, size_t count)
{
	TARE_FREED_HERE struct waiting *heads = tare_xcalloc(count + 1, sizeof(*heads));
	size_t n = 0, at = 0;

	for (size_t i = 0; i < count; i += family(&rows[i], count - i)) {
		heads[n] = rows[i];
		heads[n++].place = i;
	}
	TARE_SORT(heads, n, compare);
	for (size_t i = 0; i < n; i++) {
		size_t first = heads[i].place, own = family(&rows[first], count - first);

		out[at++] = heads[i];
		if (own > 1)
			sort(out + at, &rows[first + 1], own - 1);
		at += own - 1;
	}
}

void tare_emit_order_flush(struct tare_emit *e, struct tare_emit_table *t)
{
	struct tare_emit_order *o = t->order;
	struct waiting *sorted;
	size_t count;

	if (!o || !o->count)
		return;
	count = o->count;
	o->count = 0;
	sorted = tare_xcalloc(count, sizeof(*sorted));
	sort(sorted, o->rows, count);
	for (size_t i = 0; i < count; i++)
		tare_emit_renderer(e)->row(e, t, &(struct tare_emit_row){ .cells = sorted[i].cells, .look = sorted[i].look });
	free(sorted);
}

void tare_emit_order_end(struct tare_emit *e, struct tare_emit_table *t)
{
	tare_emit_order_flush(e, t);
	if (t->order)
		free(t->order->rows);
}
