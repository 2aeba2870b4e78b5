/* SPDX-License-Identifier: Apache-2.0 */
/* `--by X` on the screen: what the ledger shows, grouped another way. */
#include "view/by.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"
#include "view/columns.h"
#include "view/device_text.h"
#include "view/stack_tree.h"

#include <stdlib.h>
#include <string.h>

static const struct tare_by_row *find(const struct tare_by_rows *rows, const struct tare_device_ledger *device,
                                      const struct tare_by_row *like)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].device == device && !strcmp(rows->rows[i].label, like->label) &&
		    (like->line || rows->rows[i].pid == like->pid))
			return &rows->rows[i];
	return NULL;
}

/* A group that at least one of the ledgers has. */
struct line {
	const struct tare_by_row *group; /* in the first of them */
	int64_t first, largest;          /* in the first column, and in any */
};

static const struct tare_by_row *cell_of(const struct tare_columns *c, const struct tare_by_rows *all, int column,
                                         const struct tare_by_row *group)
{
	return c->devices[column] ? find(&all[column], c->devices[column], group) : NULL;
}

static size_t collect(struct line **lines, const struct tare_columns *c, const struct tare_by_rows *all)
{
	size_t count = 0, cap = 0;

	for (int i = 0; i < c->column_nr; i++)
		for (size_t r = 0; r < all[i].count; r++) {
			const struct tare_by_row *group = &all[i].rows[r];
			const struct tare_by_row *first;
			int64_t largest = group->bytes;
			bool is_known = group->device != c->devices[i];

			for (int k = 0; k < c->column_nr; k++) {
				const struct tare_by_row *cell = cell_of(c, all, k, group);

				is_known = is_known || (cell && k < i);
				largest = cell && cell->bytes > largest ? cell->bytes : largest;
			}
			if (is_known)
				continue;
			first = cell_of(c, all, 0, group);
			TARE_APPEND(*lines, count, cap) = (struct line){ group, first ? first->bytes : 0, largest };
		}
	return count;
}

/* By what one reads first; what is in no column but another stands below. */
TARE_COMPARATOR(compare, struct line, TARE_FALLING(first) TARE_FALLING(largest) TARE_ALPHABETIC(group->label))

static const char *without_folders(const struct tare_by_row *group)
{
	if (!group->line)
		return group->label;
	return group->label == group->line->label ? group->line->short_label : group->line->short_stack;
}

/* Where two files have the same name, the label has their folders. */
static const char *short_label(const struct line *lines, size_t count, size_t at)
{
	const char *text = without_folders(lines[at].group);

	for (size_t i = 0; i < count; i++)
		if (i != at && !strcmp(without_folders(lines[i].group), text))
			return lines[at].group->label;
	return text;
}

static void add_lines(struct tare_sheet *s, const struct tare_columns *c, const struct tare_by_rows *all,
                      bool is_ordered)
{
	struct line *lines = NULL;
	size_t count = collect(&lines, c, all);

	if (count && !is_ordered)
		TARE_SORT(lines, count, compare);
	for (size_t l = 0; l < count; l++) {
		const struct tare_by_row *group = lines[l].group;
		enum tare_evidence weakest = group->evidence;

		tare_str_add(&s->row->label, short_label(lines, count, l));
		for (int i = 0; i < c->column_nr; i++) {
			const struct tare_by_row *cell = cell_of(c, all, i, group);

			if (cell)
				s->row->cells[i] = tare_value_of(TARE_COL_BYTES, cell->bytes);
			weakest = cell && cell->evidence > weakest ? cell->evidence : weakest;
		}
		s->row->word = tare_device_text_evidence(group->device, weakest);
		tare_sheet_add(s, (struct tare_row_look){ .level = 1 });
	}
	free(lines);
}

/* ---- stacks ---- */

struct stacks {
	struct tare_sheet *s;
	const struct tare_columns *c;
	const struct tare_device_ledger *device;
};

static void show_stack(void *arg, const char *label, const struct tare_by_row *sums, struct tare_row_look look)
{
	struct stacks *to = arg;
	enum tare_evidence weakest = TARE_EVIDENCE_EXACT;

	tare_str_add(&to->s->row->label, label);
	for (int i = 0; sums && i < to->c->column_nr; i++) {
		if (!sums[i].ledger)
			continue;
		to->s->row->cells[i] = tare_value_of(TARE_COL_BYTES, sums[i].bytes);
		weakest = sums[i].evidence > weakest ? sums[i].evidence : weakest;
	}
	if (sums)
		to->s->row->word = tare_device_text_evidence(to->device, weakest);
	tare_sheet_add(to->s, look);
}

/* Are frames left out? */
static bool add_stacks(struct tare_sheet *s, const struct tare_columns *c, const struct tare_by_rows *all,
                       const struct tare_device_ledger *device)
{
	struct tare_stack_tree tree = { .column_nr = c->column_nr };
	struct stacks to = { s, c, device };
	bool leaves_out;

	for (int i = 0; i < c->column_nr; i++)
		for (size_t r = 0; r < all[i].count; r++)
			if (all[i].rows[r].device && all[i].rows[r].device == c->devices[i])
				tare_stack_tree_add(&tree, &all[i].rows[r], i);
	tare_stack_tree_show(&tree, show_stack, &to);
	leaves_out = tree.leaves_out;
	tare_stack_tree_free(&tree);
	return leaves_out;
}

static void add_device(struct tare_emit *e, enum tare_by by, const struct tare_by_rows *all,
                       const struct tare_ledger *const *ledgers, int ledger_nr, const struct tare_device_ledger *device,
                       bool is_ordered)
{
	struct tare_sheet s;
	struct tare_columns c;
	bool leaves_out = false;

	tare_columns_build(&c, ledgers, ledger_nr, device);
	tare_device_text_begin(&s, e, &c, ledgers, device);
	tare_device_text_used(&s, &c, device);
	if (by == TARE_BY_STACK)
		leaves_out = add_stacks(&s, &c, all, device);
	else
		add_lines(&s, &c, all, is_ordered);
	tare_device_text_end(&s, &c);
	tare_stack_tree_note(e, leaves_out);
	tare_device_text_behind(e, device);
	tare_columns_free(&c);
}

void tare_by_rows_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const struct tare_ledger *const *ledgers = ask->ledgers, *last;
	bool is_lines = tare_by_is_line(ask->by) && tare_by_has_more(ledgers, ask->ledger_nr);
	struct tare_by_rows *all;
	int n = ask->ledger_nr;
	bool is_ordered;

	if (tare_by_why_empty(ask->by)) {
		tare_emit_paragraph(e, "%s", tare_by_why_empty(ask->by));
		return;
	}
	last = ledgers[n - 1];
	all = tare_xcalloc((size_t)n, sizeof(*all));
	for (int i = 0; i < n; i++) {
		tare_by_build(&all[i], ask->by, ledgers[i]);
		tare_by_leave_out_empty(&all[i]);
	}
	/* A stack's rows are those of a tree, which has no more columns than one sees. */
	is_ordered = ask->by != TARE_BY_STACK && tare_by_order(e, ask->by, all, n);
	for (int i = 0; i < last->device_nr; i++) {
		if (!tare_device_text_is_touched(ledgers, n, &last->devices[i]))
			continue;
		if (is_lines && !last->devices[i].is_heap) /* which has no tensors in it */
			tare_by_lines_text(e, ask->by, all, ledgers, n, &last->devices[i]);
		else
			add_device(e, ask->by, all, ledgers, n, &last->devices[i], is_ordered);
	}
	if (tare_by_is_line(ask->by))
		tare_by_host_text(e, ask->by, all, ledgers, n, is_ordered);
	for (int i = 0; i < n; i++)
		tare_by_free(&all[i]);
	free(all);
}
