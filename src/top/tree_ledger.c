/* SPDX-License-Identifier: Apache-2.0 */
/* Adds what a ledger says of a process to the tree of `tare top`. */
#include "top/tree_ledger.h"

#include "base/comparator.h"
#include "base/str.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "top/tree_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROWS_MOST = 40, /* below one row: a program may have thousands of functions */
	LINES_MOST = 10,
};

/* A process's own row of a ledger; it has one for each program that the process was. */
static bool is_process(const struct tare_row *r, int64_t pid)
{
	return r->account == TARE_ACCOUNT_PROCESS && r->pid == pid;
}

bool tare_top_ledger_has(const struct tare_device_ledger *d, int64_t pid)
{
	for (int i = 0; i < d->row_nr; i++)
		if (is_process(&d->rows[i], pid))
			return true;
	return false;
}

int64_t tare_top_ledger_sum(const struct tare_device_ledger *d, int64_t pid)
{
	int64_t sum = 0;

	for (int i = 0; i < d->row_nr; i++)
		if (is_process(&d->rows[i], pid))
			sum += d->rows[i].bytes;
	return sum;
}

uint64_t tare_top_ledger_steps(const struct tare_ledger *ledger, int64_t pid, int device)
{
	uint64_t most = 0;

	for (int i = 0; i < ledger->training_nr; i++) {
		const struct tare_training *t = &ledger->trainings[i];

		if (t->pid == pid && t->device == device && t->count > most)
			most = t->count;
	}
	return most;
}

/* ---- rows ---- */

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -(v + 1) : v;
}

TARE_COMPARATOR_OF_POINTERS(by_magnitude, struct tare_row,
                            TARE_FALLING_BY(magnitude(it->bytes)) TARE_RISING_BY((uintptr_t)it))

/* The children of row `i` that are not nothing, in the order of the ledger; of many the largest first. */
static const struct tare_row **children_of(const struct tare_device_ledger *d, int i, size_t *count)
{
	const struct tare_row **list = tare_xcalloc((size_t)d->row_nr + 1, sizeof(const struct tare_row *));

	*count = 0;
	for (int k = i + 1; k < d->row_nr && d->rows[k].depth > d->rows[i].depth; k++)
		if (d->rows[k].parent == i && (d->rows[k].bytes || !d->rows[k].leaf))
			list[(*count)++] = &d->rows[k];
	if (*count > ROWS_MOST)
		TARE_SORT(list, *count, by_magnitude);
	return list;
}

static void label_of(const struct tare_row *r, struct tare_str *out)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "%s%s", r->elastic ? "~ " : "", r->label);
	if (r->count > 1)
		tare_str_addf(out, " (%s)", tare_units_count(text, r->count));
}

static void add_children(struct tare_top_tree *tree, int at, const struct tare_device_ledger *d, int i);

/* Rows below it are of its own account: owners, contexts, functions. What tensors are for is no detail. */
static bool has_details(const struct tare_device_ledger *d, int i)
{
	bool is_any = false;

	for (int k = i + 1; k < d->row_nr && d->rows[k].depth > d->rows[i].depth; k++) {
		if (d->rows[k].has_categories)
			return false;
		is_any = is_any || (d->rows[k].parent == i && d->rows[k].account == d->rows[i].account);
	}
	return is_any && !d->rows[i].has_categories;
}

static void add_row(struct tare_top_tree *tree, int at, const struct tare_device_ledger *d, const struct tare_row *r)
{
	struct tare_str label = { 0 };
	struct tare_top_row *row;
	int own = (int)tree->count;

	label_of(r, &label);
	row = tare_top_add(tree, at, TARE_TOP_PART, tare_str_text(&label), r->path);
	tare_str_free(&label);
	tare_top_set(row, r->bytes, r->is_category ? tare_category_evidence(r->evidence) : tare_evidence_name(r->evidence),
	             true);
	row->path = r->path;
	row->is_closed_at_first = has_details(d, (int)(r - d->rows));
	add_children(tree, own, d, (int)(r - d->rows));
}

static void add_rest(struct tare_top_tree *tree, int at, const struct tare_row *const *list, size_t from, size_t count)
{
	struct tare_str label = { 0 };
	struct tare_top_row *row;
	int64_t sum = 0;

	for (size_t k = from; k < count; k++)
		sum += list[k]->bytes;
	tare_str_addf(&label, "%zu smaller", count - from);
	row = tare_top_add(tree, at, TARE_TOP_PART, tare_str_text(&label), "smaller");
	tare_top_set(row, sum, "", true);
	tare_str_free(&label);
}

static void add_children(struct tare_top_tree *tree, int at, const struct tare_device_ledger *d, int i)
{
	size_t count, shown;
	const struct tare_row **list = children_of(d, i, &count);

	shown = count > ROWS_MOST ? ROWS_MOST - 1 : count;
	for (size_t k = 0; k < shown; k++)
		add_row(tree, at, d, list[k]);
	if (shown < count)
		add_rest(tree, at, list, shown, count);
	free(list);
}

void tare_top_add_ledger(struct tare_top_tree *tree, int at, const struct tare_device_ledger *d, int64_t pid)
{
	for (int i = 0; i < d->row_nr; i++)
		if (is_process(&d->rows[i], pid))
			add_children(tree, at, d, i);
}

/* ---- lines ---- */

struct line {
	const struct tare_ledger_line *line;
	int64_t bytes;
};

TARE_COMPARATOR(by_label, struct line, TARE_ALPHABETIC(line->label))

TARE_COMPARATOR(by_bytes, struct line, TARE_FALLING(bytes) TARE_ALPHABETIC(line->label))

/* A line that was come to by several ways is one. */
static size_t join(struct line *list, size_t count)
{
	size_t n = 0;

	TARE_SORT(list, count, by_label);
	for (size_t i = 0; i < count; i++) {
		if (n && !by_label(&list[n - 1], &list[i]))
			list[n - 1].bytes += list[i].bytes;
		else
			list[n++] = list[i];
	}
	TARE_SORT(list, n, by_bytes);
	return n;
}

/* Of a program with tensors what these take counts: its segments are asked for by whichever line came first. */
void tare_top_add_lines(struct tare_top_tree *tree, int at, const struct tare_ledger_line *lines, int line_nr,
                        int64_t pid)
{
	struct line *list = tare_xcalloc((size_t)line_nr + 1, sizeof(*list));
	bool has_tensors = false;
	int group = (int)tree->count;
	size_t count = 0;

	for (int i = 0; i < line_nr; i++)
		has_tensors = has_tensors || (lines[i].pid == pid && lines[i].tensors.bytes > 0);
	for (int i = 0; i < line_nr; i++) {
		int64_t bytes = has_tensors ? lines[i].tensors.bytes : lines[i].bytes;

		if (lines[i].pid == pid && bytes > 0)
			list[count++] = (struct line){ &lines[i], bytes };
	}
	count = join(list, count);
	if (count && list[0].bytes >= TARE_UNITS_LEAST)
		tare_top_add(tree, at, TARE_TOP_LINES, has_tensors ? "its tensors, by line" : "the same, by line", "lines");
	for (size_t i = 0; i < count && i < LINES_MOST && list[i].bytes >= TARE_UNITS_LEAST; i++) {
		struct tare_top_row *row =
			tare_top_add(tree, group, TARE_TOP_LINE, list[i].line->short_label, list[i].line->label);

		tare_top_set(row, list[i].bytes, tare_evidence_name(has_tensors ? TARE_EVIDENCE_EXACT : list[i].line->evidence),
		             false);
	}
	free(list);
}
