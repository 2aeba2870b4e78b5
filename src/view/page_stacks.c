/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asked for memory, at the peak, at the end and at some moments between: stacks by their frames, each frame and each stack
 * written once. Lines are the same rows: each stack has the line that it counts for.
 */
#include "view/page.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/emit.h"
#include "base/map.h"
#include "view/by.h"

#include <stdlib.h>

/* So many rows of a moment, and lines of a heap; the others are one row, without a stack, so that the sums stay. */
enum { ROWS_MAX = 300, REST = -1, CPU = -1 };

/* Texts by number, in the order in which they came. */
struct texts {
	struct tare_strmap numbers;
	const char **items;
	size_t nr, cap;
};

struct stack {
	int *frames, frame_nr, line;
};

struct tare_page_stack_list {
	struct texts frames, lines, keys;
	struct stack *items;
	size_t nr, cap;
	struct tare_arena arena;
};

static int number_of(struct texts *t, const char *text, bool *is_new)
{
	bool fresh;
	uint64_t *number = tare_strmap_put(&t->numbers, text, &fresh);

	if (fresh) {
		TARE_APPEND(t->items, t->nr, t->cap) = text;
		*number = t->nr - 1;
	}
	if (is_new)
		*is_new = fresh;
	return (int)*number;
}

static void add_frames(struct tare_page_stack_list *s, struct stack *stack, const struct tare_ledger_line *line,
                       const char *label)
{
	size_t from = 0;
	int nr = line && line->frame_nr ? line->frame_nr : 1;

	stack->frames = tare_arena_alloc(&s->arena, (size_t)nr * sizeof(*stack->frames));
	if (!line || !line->frame_nr) {
		stack->frames[stack->frame_nr++] = number_of(&s->frames, tare_arena_strdup(&s->arena, label), NULL);
		return;
	}
	for (int i = 0; i < nr; i++) {
		size_t end = line->frame_ends[i];

		stack->frames[stack->frame_nr++] =
			number_of(&s->frames, tare_arena_strndup(&s->arena, line->stack + from, end - from), NULL);
		from = end + sizeof(" < ") - 1;
	}
}

/* Its number. A stack may count for another line in another process: then it is another. */
static int stack_of(struct tare_page_stack_list *s, const struct tare_by_row *row)
{
	const char *line = row->line ? row->line->label : row->label;
	struct tare_str key = { 0 };
	struct stack stack = { 0 };
	bool is_new;
	int number;

	tare_str_addf(&key, "%s\n%s", row->label, line);
	number = number_of(&s->keys, tare_arena_strdup(&s->arena, tare_str_text(&key)), &is_new);
	tare_str_free(&key);
	if (!is_new)
		return number;
	stack.line = number_of(&s->lines, tare_arena_strdup(&s->arena, line), NULL);
	add_frames(s, &stack, row->line, row->label);
	TARE_APPEND(s->items, s->nr, s->cap) = stack;
	return number;
}

int tare_page_stack_of(struct tare_page_stack_list *list, const struct tare_ledger_line *line)
{
	const struct tare_by_row row = { .label = line->stack, .line = line };

	return stack_of(list, &row);
}

static int64_t weight(const struct tare_by_row *row)
{
	return row->bytes > row->tensors.bytes ? row->bytes : row->tensors.bytes;
}

/* By device, then the heaviest first. */
TARE_COMPARATOR(compare, struct tare_by_row, TARE_RISING(device) TARE_FALLING_BY(weight(it)))

/* [device, stack, bytes, objects, bytes of live tensors, tensors, and all that were ever handed out, their bytes] */
static void add_row(struct tare_emit *e, int stack, const struct tare_by_row *row)
{
	tare_emit_open(e, NULL, '[');
	tare_emit_int(e, NULL, row->device ? row->device->index : CPU);
	tare_emit_int(e, NULL, stack);
	tare_emit_int(e, NULL, row->bytes);
	tare_emit_uint(e, NULL, row->count);
	tare_emit_int(e, NULL, row->tensors.bytes);
	tare_emit_uint(e, NULL, row->tensors.count);
	if (row->tensors.ever) {
		tare_emit_uint(e, NULL, row->tensors.ever);
		tare_emit_int(e, NULL, row->tensors.ever_bytes);
	}
	tare_emit_close(e);
}

static void add_rows(struct tare_emit *e, struct tare_page_stack_list *s, struct tare_by_rows *all)
{
	for (size_t i = 0, from = 0; i < all->count; i++) {
		struct tare_by_row *row = &all->rows[i], *rest;

		if (row->device != all->rows[from].device)
			from = i;
		if (i - from < ROWS_MAX) {
			add_row(e, stack_of(s, row), row);
			continue;
		}
		rest = &all->rows[from + ROWS_MAX];
		if (rest != row) {
			rest->bytes += row->bytes;
			rest->count += row->count;
			rest->tensors.bytes += row->tensors.bytes;
			rest->tensors.count += row->tensors.count;
			rest->tensors.ever += row->tensors.ever;
			rest->tensors.ever_bytes += row->tensors.ever_bytes;
		}
		if (i + 1 == all->count || all->rows[i + 1].device != row->device)
			add_row(e, REST, rest);
	}
}

TARE_COMPARATOR(by_calls, struct tare_by_row, TARE_FALLING(ever) TARE_FALLING(ever_bytes) TARE_ALPHABETIC(label))

static void add_line_calls(struct tare_emit *e, const struct tare_by_row *row, int line)
{
	tare_emit_open(e, NULL, '[');
	tare_emit_int(e, NULL, row->device->index);
	tare_emit_int(e, NULL, line);
	tare_emit_uint(e, NULL, row->ever);
	tare_emit_int(e, NULL, row->ever_bytes);
	tare_emit_close(e);
}

/* [device, line, how often it was given memory so far, those bytes] of the heap, as --by line has them. */
static void add_calls(struct tare_emit *e, struct tare_page_stack_list *s, const struct tare_ledger *l)
{
	struct tare_by_rows rows;
	struct tare_by_row rest = { 0 };
	size_t nr = 0;

	tare_by_build(&rows, TARE_BY_LINE, l);
	for (size_t i = 0; i < rows.count; i++)
		if (rows.rows[i].ever)
			rows.rows[nr++] = rows.rows[i];
	TARE_SORT(rows.rows, nr, by_calls);
	tare_emit_open(e, "calls", '[');
	for (size_t i = 0; i < nr; i++) {
		if (i < ROWS_MAX) {
			add_line_calls(e, &rows.rows[i],
			               number_of(&s->lines, tare_arena_strdup(&s->arena, rows.rows[i].label), NULL));
			continue;
		}
		rest.device = rows.rows[i].device;
		rest.ever += rows.rows[i].ever;
		rest.ever_bytes += rows.rows[i].ever_bytes;
	}
	if (rest.ever)
		add_line_calls(e, &rest, REST);
	tare_emit_close(e);
	tare_by_free(&rows);
}

static void add_moment(struct tare_emit *e, struct tare_page_stack_list *s, const struct tare_ledger *l,
                       const char *label)
{
	struct tare_by_rows rows;

	tare_by_build(&rows, TARE_BY_STACK, l);
	tare_by_leave_out_empty(&rows);
	TARE_SORT(rows.rows, rows.count, compare);
	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "at", label);
	if (l->t_ns >= 0)
		tare_emit_int(e, "t_ns", l->t_ns);
	else
		tare_emit_null(e, "t_ns");
	tare_emit_open(e, "rows", '[');
	add_rows(e, s, &rows);
	tare_emit_close(e);
	if (label)
		add_calls(e, s, l);
	tare_emit_close(e);
	tare_by_free(&rows);
}

static void add_texts(struct tare_emit *e, const char *key, const struct texts *t)
{
	tare_emit_open(e, key, '[');
	for (size_t i = 0; i < t->nr; i++)
		tare_emit_str(e, NULL, t->items[i]);
	tare_emit_close(e);
}

/* [line, frames…], the innermost first */
static void add_stacks(struct tare_emit *e, const struct tare_page_stack_list *s)
{
	tare_emit_open(e, "stacks", '[');
	for (size_t i = 0; i < s->nr; i++) {
		tare_emit_open(e, NULL, '[');
		tare_emit_int(e, NULL, s->items[i].line);
		for (int f = 0; f < s->items[i].frame_nr; f++)
			tare_emit_int(e, NULL, s->items[i].frames[f]);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

static void free_texts(struct texts *t)
{
	tare_strmap_free(&t->numbers);
	free(t->items);
}

void tare_page_stacks(struct tare_emit *e, const struct tare_page *p)
{
	struct tare_page_stack_list s = { 0 };

	tare_emit_open(e, "moments", '[');
	for (int i = 0; i < p->ledger_nr; i++)
		add_moment(e, &s, &p->ledgers[i], p->ledgers[i].at);
	for (int i = 0; i < p->moment_nr; i++)
		add_moment(e, &s, &p->moments[i], NULL);
	tare_emit_close(e);
	tare_page_blocks(e, p, &s);
	add_texts(e, "frames", &s.frames);
	add_texts(e, "lines", &s.lines);
	add_stacks(e, &s);
	tare_page_sources(e, p, s.lines.items, s.lines.nr, s.frames.items, s.frames.nr);
	free_texts(&s.frames);
	free_texts(&s.lines);
	free_texts(&s.keys);
	free(s.items);
	tare_arena_free(&s.arena);
}
