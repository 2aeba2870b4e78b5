/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which rows of a device a screen shows. */
#include "view/text_rows.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/sat.h"
#include "base/units.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_DETAILS = 6,
};

struct builder {
	struct tare_text_rows *out;
	const struct tare_columns *columns;
	int64_t tiny;       /* a detail below this in every column is added to its like */
	bool has_processes; /* more than one, so that each gets a heading */
	size_t room;        /* for a label with counts that are spelled out */
};

/* The children of a line that are to be shown, as indices of lines. */
struct children {
	int *lines;
	size_t count, cap;
};

static int64_t largest(const struct builder *b, int line)
{
	int64_t max = 0;

	for (int i = 0; i < b->columns->column_nr; i++) {
		const struct tare_row *cell = b->columns->lines[line].cells[i];

		if (cell && tare_sat_abs(cell->bytes) > max)
			max = tare_sat_abs(cell->bytes);
		if (cell && cell->contended && tare_sat_abs(cell->high) > max)
			max = tare_sat_abs(cell->high);
	}
	return max;
}

/* "other processes" is shown at 0 too: that it is 0 is an answer. */
static bool is_shown(const struct builder *b, int line)
{
	int depth = b->columns->lines[line].row->depth;

	if (b->columns->lines[line].row->account == TARE_ACCOUNT_OTHER || largest(b, line) > 0)
		return true;
	for (int i = line + 1; i < b->columns->line_nr; i++) {
		if (b->columns->lines[i].row->depth <= depth)
			break;
		if (largest(b, i) > 0)
			return true; /* a sum of 0 made of parts that are not */
	}
	return false;
}

static struct children children_of(const struct builder *b, int parent)
{
	struct children c = { 0 };

	for (int i = parent + 1; i < b->columns->line_nr; i++) {
		if (b->columns->lines[i].parent < parent)
			break;
		if (b->columns->lines[i].parent != parent || !is_shown(b, i))
			continue;
		TARE_APPEND(c.lines, c.count, c.cap) = i;
	}
	return c;
}

static struct tare_text_row *new_row(struct builder *b, int indent)
{
	struct tare_text_rows *out = b->out;
	struct tare_text_row *row;

	row = &TARE_APPEND(out->rows, out->count, out->cap);
	*row = (struct tare_text_row){
		.indent = indent,
		.cells = tare_xcalloc((size_t)out->column_nr, sizeof(*row->cells)),
	};
	return row;
}

/* One word stands for all columns: that of the weakest. What a program says of its tensors is surer than a rule. */
static void weaken(struct tare_text_row *row, const struct tare_row *by)
{
	bool is_weaker = by->is_category && row->is_category ? by->evidence < row->evidence : by->evidence > row->evidence;

	if (is_weaker)
		row->evidence = by->evidence;
	row->is_category = by->is_category;
}

static void add_to_cells(struct builder *b, struct tare_text_row *row, int line)
{
	const struct tare_columns_line *l = &b->columns->lines[line];

	for (int i = 0; i < b->columns->column_nr; i++) {
		const struct tare_row *from = l->cells[i];
		struct tare_text_cell *to = &row->cells[i];

		if (!from)
			continue;
		weaken(row, from);
		to->is_present = true;
		to->bytes += from->bytes;
		to->low += from->contended ? from->low : from->bytes;
		to->high += from->contended ? from->high : from->bytes;
		to->is_contended = to->low != to->high;
	}
}

/* "15 at peak · 2 at end" */
static void add_words(struct builder *b, struct tare_str *out, const struct tare_columns_line *l)
{
	char text[TARE_UNITS_TEXT_MAX];

	for (int i = 0; i < b->columns->column_nr; i++) {
		uint64_t count = l->cells[i] ? l->cells[i]->count : 0;

		tare_str_addf(out, "%s%s at %s", i ? " · " : "", tare_units_count(text, count), b->columns->ledgers[i]->at);
	}
}

/* The first of counts that differ is spelled out, behind its label or, where there is no room, below the rows. */
static bool tell_count(struct builder *b, struct tare_str *out, const struct tare_columns_line *l)
{
	struct tare_str *words = &b->out->counts_mean;

	if (!words->len)
		add_words(b, words, l);
	if (tare_str_columns(tare_str_text(out)) + tare_str_columns(tare_str_text(words)) + 3 > b->room)
		return false;
	tare_str_addf(out, " (%s)", tare_str_text(words));
	return true;
}

/* "(8)", or "(8·4)" where the instants differ. */
static void add_short(struct builder *b, struct tare_str *out, const struct tare_columns_line *l, bool is_same)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "(%s", tare_units_count(text, l->row->count));
	for (int i = 0; i < b->columns->column_nr && !is_same; i++) {
		if (l->cells[i] == l->row)
			continue;
		tare_str_addf(out, "·%s", l->cells[i] ? tare_units_count(text, l->cells[i]->count) : "–");
	}
	tare_str_add_char(out, ')');
}

/* Nothing for a single object. */
static void add_count(struct builder *b, struct tare_str *out, const struct tare_columns_line *l)
{
	uint64_t first = l->row->count;
	bool is_same = true, is_many = false;

	for (int i = 0; i < b->columns->column_nr; i++) {
		is_same = is_same && (!l->cells[i] || l->cells[i]->count == first);
		is_many = is_many || (l->cells[i] && l->cells[i]->count > 1);
	}
	if (!is_many)
		return;
	if (!is_same && !b->out->counts_mean.len) {
		if (tell_count(b, out, l))
			return;
		add_short(b, &b->out->counts, l, is_same);
	}
	tare_str_add_char(out, ' ');
	add_short(b, out, l, is_same);
}

/* A row below an account that details it: a context, an owner, a function. */
static bool is_detail(const struct builder *b, int line)
{
	int parent = b->columns->lines[line].parent;

	return parent >= 0 && b->columns->lines[parent].row->account == b->columns->lines[line].row->account;
}

/* Rows that may be added up with similar rows when there are too many: details and processes. */
static bool is_foldable(const struct builder *b, int line)
{
	return is_detail(b, line) || b->columns->lines[line].row->account == TARE_ACCOUNT_PROCESS;
}

/* An only child that says the same as its parent: their labels are joined on one row. */
static bool is_joined(const struct builder *b, const struct children *c, int line)
{
	return c->count == 1 && is_detail(b, c->lines[0]) && b->columns->lines[c->lines[0]].row->leaf &&
	       largest(b, c->lines[0]) == largest(b, line);
}

TARE_FALLING_SCALAR_COMPARATOR(by_size, int64_t)

/* How large a row must be so that at most MAX_DETAILS are. */
static int64_t threshold(const struct builder *b, const struct children *c)
{
	int64_t *sizes, limit = b->tiny;

	if (c->count <= MAX_DETAILS)
		return limit;
	sizes = tare_xmalloc(c->count * sizeof(*sizes));
	for (size_t i = 0; i < c->count; i++)
		sizes[i] = largest(b, c->lines[i]);
	TARE_SORT(sizes, c->count, by_size);
	if (sizes[MAX_DETAILS] + 1 > limit)
		limit = sizes[MAX_DETAILS] + 1;
	free(sizes);
	return limit;
}

static void add_folded(struct builder *b, const struct children *c, int64_t limit, int indent)
{
	struct tare_text_row *row = NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (!is_foldable(b, c->lines[i]) || largest(b, c->lines[i]) >= limit)
			continue;
		if (!row)
			row = new_row(b, indent);
		row->account = b->columns->lines[c->lines[i]].row->account;
		add_to_cells(b, row, c->lines[i]);
		n++;
	}
	if (row)
		tare_str_addf(&row->label, "%zu smaller%s", n, row->account == TARE_ACCOUNT_PROCESS ? " processes" : "");
}

static size_t count_small(const struct builder *b, const struct children *c, int64_t limit)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++)
		n += is_foldable(b, c->lines[i]) && largest(b, c->lines[i]) < limit;
	return n;
}

static void add_line(struct builder *b, int line, int indent);

static void add_children(struct builder *b, const struct children *c, int indent)
{
	int64_t limit = threshold(b, c);
	bool is_folding = count_small(b, c, limit) > 1;

	for (size_t i = 0; i < c->count; i++)
		if (!is_folding || !is_foldable(b, c->lines[i]) || largest(b, c->lines[i]) >= limit)
			add_line(b, c->lines[i], indent);
	if (is_folding)
		add_folded(b, c, limit, indent);
}

static void add_line(struct builder *b, int line, int indent)
{
	const struct tare_columns_line *l = &b->columns->lines[line];
	struct children c = children_of(b, line);
	bool is_join = is_joined(b, &c, line);

	if (b->has_processes || l->row->account != TARE_ACCOUNT_PROCESS) {
		struct tare_text_row *row = new_row(b, indent++);

		row->account = l->row->account;
		row->elastic = l->row->elastic;
		tare_str_add(&row->label, l->row->label);
		if (is_join && strcmp(l->row->label, b->columns->lines[c.lines[0]].row->label)) {
			tare_str_add(&row->label, ": ");
			tare_str_add(&row->label, b->columns->lines[c.lines[0]].row->label);
		}
		if (l->row->account != TARE_ACCOUNT_PROCESS)
			add_count(b, &row->label, l);
		add_to_cells(b, row, line);
	}
	if (!is_join)
		add_children(b, &c, indent);
	free(c.lines);
}

static bool has_processes(const struct builder *b)
{
	int n = 0;

	for (int i = 0; i < b->columns->line_nr; i++)
		n += b->columns->lines[i].row->account == TARE_ACCOUNT_PROCESS && is_shown(b, i);
	return n > 1;
}

/* Rows with fewer bytes are tiny: less than a two-thousandth of the bytes in use, or printed as 0.0 in any case. */
static int64_t tiny_of(const struct tare_columns *columns)
{
	uint64_t used = 0;

	for (int i = 0; i < columns->column_nr; i++) {
		const struct tare_device_ledger *d = columns->devices[i];

		if (d && d->used != UINT64_MAX && d->used > used)
			used = d->used;
	}
	return used / 2000 > 52429 ? (int64_t)(used / 2000) : 52429;
}

void tare_text_rows_build(struct tare_text_rows *out, const struct tare_columns *columns, size_t room)
{
	struct builder b = { .out = out, .columns = columns, .tiny = tiny_of(columns), .room = room };
	struct children top;

	*out = (struct tare_text_rows){ .column_nr = columns->column_nr };
	b.has_processes = has_processes(&b);
	top = children_of(&b, -1);
	add_children(&b, &top, 0);
	free(top.lines);
}
