/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of measured quantities: finding, adding and dropping columns. */
#include "fit/series.h"

#include "base/array.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tare_series *tare_series_find(struct tare_series_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, name))
			return &list->items[i];
	return NULL;
}

struct tare_series *tare_series_get(struct tare_series_list *list, enum tare_series_kind kind, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].kind == kind && !strcmp(list->items[i].name, name))
			return &list->items[i];
	return TARE_ADD(list->items, list->count, list->cap,
	                (struct tare_series){ .kind = kind, .name = tare_arena_strdup(&list->arena, name) });
}

void tare_series_row(struct tare_series_list *list, struct tare_series *s)
{
	struct tare_table *t = &s->table;

	(void)list;
	t->row_count++;
	t->cells = tare_array_reserve(t->cells, &s->row_cap, t->row_count * t->column_count + 1, sizeof(*t->cells));
	for (size_t c = 0; c < t->column_count; c++)
		t->cells[(t->row_count - 1) * t->column_count + c] = NULL;
}

/*
 * Adds a column, for which every row is moved. Columns are few, and nearly all come with the first row.
 */
static size_t add_column(struct tare_series_list *list, struct tare_series *s, const char *column)
{
	struct tare_table *t = &s->table;
	size_t n = t->column_count++;

	t->columns = tare_array_reserve(t->columns, &s->column_cap, n + 1, sizeof(*t->columns));
	t->columns[n] = tare_arena_strdup(&list->arena, column);
	t->cells = tare_array_reserve(t->cells, &s->row_cap, t->row_count * (n + 1) + 1, sizeof(*t->cells));
	for (size_t r = t->row_count; r-- > 0;) {
		memmove(t->cells + r * (n + 1), t->cells + r * n, n * sizeof(*t->cells));
		t->cells[r * (n + 1) + n] = NULL;
	}
	return n;
}

void tare_series_set(struct tare_series_list *list, struct tare_series *s, const char *column, const char *text)
{
	struct tare_table *t = &s->table;
	size_t c = tare_table_column(t, column);

	if (c == TARE_TABLE_NONE)
		c = add_column(list, s, column);
	t->cells[(t->row_count - 1) * t->column_count + c] = tare_arena_strdup(&list->arena, text);
}

void tare_series_set_number(struct tare_series_list *list, struct tare_series *s, const char *column, double v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", v);
	tare_series_set(list, s, column, text);
}

static bool is_gap(char c)
{
	return c == ' ' || c == ',' || c == ';' || c == '\t';
}

char *tare_series_phase_name(struct tare_series_list *list, const char *path)
{
	char *out = tare_arena_alloc(&list->arena, strlen(path) + 1), *to = out;

	while (*path) {
		size_t len = 0;

		while (path[len] && path[len] != '/' && !is_gap(path[len]))
			len++;
		if (!memchr(path, '=', len)) {
			memcpy(to, path, len);
			to += len;
		}
		path += len;
		while (is_gap(*path)) {
			if (to > out && to[-1] != ' ' && to[-1] != '/')
				*to++ = ' ';
			path++;
		}
		if (*path == '/') {
			while (to > out && to[-1] == ' ')
				to--;
			*to++ = *path++;
		}
	}
	while (to > out && to[-1] == ' ')
		to--;
	*to = '\0';
	return out;
}

static bool is_small(const struct tare_series *s, double least)
{
	size_t column = tare_table_column(&s->table, s->name);
	double v;

	for (size_t r = 0; r < s->table.row_count; r++)
		if (tare_table_number(tare_table_cell(&s->table, r, column), &v) && fabs(v) >= least)
			return false;
	return true;
}

static void free_one(struct tare_series *s)
{
	free(s->table.columns);
	free(s->table.cells);
}

void tare_series_drop(struct tare_series_list *list, size_t at)
{
	free_one(&list->items[at]);
	memmove(&list->items[at], &list->items[at + 1], (--list->count - at) * sizeof(*list->items));
}

void tare_series_drop_small(struct tare_series_list *list, enum tare_series_kind kind, double least)
{
	for (size_t i = list->count; i-- > 0;)
		if (list->items[i].kind == kind && is_small(&list->items[i], least))
			tare_series_drop(list, i);
}

void tare_series_free(struct tare_series_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free_one(&list->items[i]);
	free(list->items);
	tare_arena_free(&list->arena);
	memset(list, 0, sizeof(*list));
}
