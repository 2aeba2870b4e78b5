/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a program by what they have in tensors on the CPU: a table with a column per ledger. */
#include "view/by.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "view/device_text.h"
#include "view/stack_tree.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 52429 /* bytes: what does not show as 0.0 MiB */ };

struct line {
	const char *name;
	int64_t *bytes; /* per ledger */
	int64_t most;
};

struct lines {
	struct line *items;
	size_t count, cap;
	struct tare_strmap places; /* label → place */
	int ledger_nr;
};

static void add(struct lines *lines, const char *label, const char *name, int ledger, int64_t bytes)
{
	bool is_new;
	uint64_t *place = tare_strmap_put(&lines->places, label, &is_new);
	struct line *line;

	if (is_new) {
		*place = lines->count;
		TARE_APPEND(lines->items, lines->count, lines->cap) =
			(struct line){ .name = name, .bytes = tare_xcalloc((size_t)lines->ledger_nr, sizeof(int64_t)) };
	}
	line = &lines->items[*place];
	line->bytes[ledger] += bytes;
	if (line->most < line->bytes[ledger])
		line->most = line->bytes[ledger];
}

/* By what one reads first. */
TARE_COMPARATOR(by_first, struct line, TARE_FALLING(bytes[0]) TARE_FALLING(most) TARE_ALPHABETIC(name))

/* Those that are shown first, each in the order in which it came. */
static void part(struct lines *lines)
{
	TARE_FREED_HERE struct line *items = tare_xcalloc(lines->count, sizeof(*items));
	size_t n = 0;

	for (int is_small = 0; is_small < 2; is_small++)
		for (size_t i = 0; i < lines->count; i++)
			if ((lines->items[i].most < LEAST) == is_small)
				items[n++] = lines->items[i];
	memcpy(lines->items, items, n * sizeof(*items));
}

static void collect(struct lines *lines, const struct tare_by_rows *all, bool is_ordered)
{
	for (int i = 0; i < lines->ledger_nr; i++) {
		for (size_t k = 0; k < all[i].count; k++) {
			const struct tare_by_row *row = &all[i].rows[k];

			if (!row->device)
				add(lines, row->label, tare_by_short_name(row), i, row->bytes);
		}
	}
	if (!lines->count)
		return;
	if (!is_ordered)
		TARE_SORT(lines->items, lines->count, by_first);
	part(lines);
}

static void add_row(struct tare_sheet *s, const int64_t *bytes, enum tare_text_tone tone)
{
	for (size_t i = 0; i < s->cell_nr; i++)
		s->row->cells[i] = tare_value_of(TARE_COL_BYTES, bytes[i]);
	tare_sheet_add(s, (struct tare_row_look){ .level = 1, .tone = tone });
}

/* A row for each line with LEAST bytes or more in any ledger, and one for all other lines together. */
static void add_rows(struct tare_sheet *s, const struct lines *lines)
{
	TARE_FREED_HERE int64_t *rest = tare_xcalloc((size_t)lines->ledger_nr, sizeof(*rest));
	size_t shown = 0;

	for (; shown < lines->count && lines->items[shown].most >= LEAST; shown++) {
		tare_str_add(&s->row->label, lines->items[shown].name);
		add_row(s, lines->items[shown].bytes, TARE_TONE_PLAIN);
	}
	for (size_t i = shown; i < lines->count; i++)
		for (int k = 0; k < lines->ledger_nr; k++)
			rest[k] += lines->items[i].bytes[k];
	if (shown < lines->count) {
		tare_str_addf(&s->row->label, "%zu smaller ones", lines->count - shown);
		add_row(s, rest, TARE_TONE_QUIET);
	}
}

static void show_stack(void *arg, const char *label, const struct tare_by_row *sums, struct tare_row_look look)
{
	struct tare_sheet *s = arg;

	tare_str_add(&s->row->label, label);
	for (size_t i = 0; sums && i < s->cell_nr; i++)
		s->row->cells[i] = tare_value_of(TARE_COL_BYTES, sums[i].bytes);
	tare_sheet_add(s, look);
}

static void add_stacks(struct tare_sheet *s, const struct tare_by_rows *all, int ledger_nr)
{
	struct tare_stack_tree tree = { .column_nr = ledger_nr };

	for (int i = 0; i < ledger_nr; i++)
		for (size_t r = 0; r < all[i].count; r++)
			if (!all[i].rows[r].device)
				tare_stack_tree_add(&tree, &all[i].rows[r], i);
	tare_stack_tree_show(&tree, show_stack, s);
	tare_stack_tree_free(&tree);
}

static void draw(struct tare_emit *e, enum tare_by by, const struct lines *lines, const struct tare_by_rows *all,
                 const struct tare_ledger *const *ledgers)
{
	struct tare_sheet s;

	tare_sheet_begin(&s, e, (size_t)lines->ledger_nr);
	for (int i = 0; i < lines->ledger_nr; i++)
		tare_device_text_instant(&s.heads[i], ledgers[i], ledgers[i]->t_ns);
	tare_sheet_open(&s, "CPU  live tensors: MiB that were asked for, whether resident or not", TARE_COL_COUNT);
	if (by == TARE_BY_STACK)
		add_stacks(&s, all, lines->ledger_nr);
	else
		add_rows(&s, lines);
	tare_sheet_end(&s);
	tare_emit_gap(e);
}

void tare_by_host_text(struct tare_emit *e, enum tare_by by, const struct tare_by_rows *all,
                       const struct tare_ledger *const *ledgers, int ledger_nr, bool is_ordered)
{
	struct lines lines = { .ledger_nr = ledger_nr };

	collect(&lines, all, is_ordered);
	if (lines.count && lines.items[0].most >= LEAST)
		draw(e, by, &lines, all, ledgers);
	for (size_t i = 0; i < lines.count; i++)
		free(lines.items[i].bytes);
	free(lines.items);
	tare_strmap_free(&lines.places);
}
