/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures that somebody read, beside each other and beside the ledger: which rows make up what they differ by. Up to
 * three rows are tried, the fewest first: more would explain anything.
 */
#include "cmd/explain.h"

#include "base/units.h"

#include <stdlib.h>

enum { MOST_ROWS = 3 };

struct found {
	size_t rows[MOST_ROWS];
	int count; /* 0: none */
	int64_t rest;
};

/* Does a tool show what is not of the process alone? */
static bool is_of_all(enum tare_tool tool)
{
	struct tare_sum_term terms[TARE_SUM_MOST];
	int count = tare_figures_parse(tare_tools[tool].formula, terms);

	for (int i = 0; i < count; i++)
		switch (terms[i].figure) {
		case TARE_FIGURE_MEM_TOTAL:
		case TARE_FIGURE_SWAP_TOTAL:
		case TARE_FIGURE_GPU_USED:
		case TARE_FIGURE_GPU_FREE:
		case TARE_FIGURE_CGROUP:
			return true;
		default:
			break;
		}
	return false;
}

/* What is asked of the rows. Those of others count only where a tool shows them. */
struct question {
	const struct tare_explain *x;
	bool has_others;
};

/* The rows that come nearest to `wanted`, of `count` of them from row `from` on. */
static void search(const struct question *q, int64_t wanted, int count, size_t from, struct found *now,
                   struct found *best)
{
	const struct tare_explain *x = q->x;

	for (size_t i = from; i < x->count; i++) {
		if (x->rows[i].is_of_others && !q->has_others)
			continue;
		now->rows[now->count++] = i;
		now->rest = wanted - x->rows[i].bytes;
		if (count > 1)
			search(q, now->rest, count - 1, i + 1, now, best);
		else if (!best->count || llabs(now->rest) < llabs(best->rest))
			*best = *now;
		now->count--;
	}
}

/* Nothing if no few rows come as near as the figures are exact, or to a hundredth. */
static struct found find(const struct question *q, int64_t wanted, int64_t tolerance)
{
	int64_t near = wanted / 100 > tolerance ? wanted / 100 : tolerance;

	for (int count = 1; count <= MOST_ROWS; count++) {
		struct found now = { 0 }, best = { 0 };

		search(q, wanted, count, 0, &now, &best);
		if (best.count && llabs(best.rest) <= near)
			return best;
	}
	return (struct found){ .rest = wanted };
}

static const struct tare_column row_columns[] = {
	TARE_COLUMN(tare_explain_row, path, "path", NULL, TEXT),
	TARE_COLUMN(tare_explain_row, bytes, "bytes", NULL, BYTES),
};

static void print_found(struct tare_emit *e, const struct tare_explain *x, const struct found *f, struct tare_str *line)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (tare_emit_has_members(e)) {
		tare_emit_table(e, "rows", NULL, TARE_COLUMNS(row_columns));
		for (int i = 0; i < f->count; i++)
			tare_emit_add(e, &x->rows[f->rows[i]]);
		tare_emit_table_end(e);
		tare_emit_int(e, "rest_bytes", f->rest);
	}
	if (!f->count)
		tare_str_add(line, "no few rows make that up: were both read at the same time?");
	for (int i = 0; i < f->count; i++)
		tare_str_addf(line, "%s%s %s", i ? " + " : "", x->rows[f->rows[i]].path,
		              tare_units_mib(text, x->rows[f->rows[i]].bytes));
}

/* A figure beside what the tool shows by the ledger. */
static void print_one(struct tare_emit *e, const struct tare_explain *x, const struct tare_explain_given *g)
{
	const struct tare_tool_info *t = &tare_tools[g->tool];
	int64_t bytes = tare_figures_sum(&x->figures, t->shows), difference;
	bool is_known = bytes != TARE_FIGURE_NOT_KNOWN;
	char read[TARE_UNITS_TEXT_MAX], shows[TARE_UNITS_TEXT_MAX], by[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
	struct found f = { 0 };

	difference = is_known ? g->bytes - bytes : 0;
	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "tool", t->name);
	tare_emit_int(e, "given_bytes", g->bytes);
	tare_emit_int(e, "tolerance_bytes", g->tolerance);
	if (is_known) {
		tare_emit_int(e, "bytes", bytes);
		tare_emit_int(e, "difference_bytes", difference);
	} else {
		tare_emit_null(e, "bytes");
		tare_emit_null(e, "difference_bytes");
	}
	tare_units_mib(read, g->bytes);
	if (!is_known) {
		tare_str_addf(&line, "%s: you read %s; what it shows is not known here: %s", t->name, read, t->unknown);
	} else if (llabs(difference) <= g->tolerance + 4096) {
		tare_str_addf(&line, "%s: you read %s, and that is what it shows by the ledger: %s", t->name, read,
		              tare_units_mib(shows, bytes));
	} else {
		tare_str_addf(&line, "%s: you read %s; by the ledger it shows %s, %s %s: ", t->name, read,
		              tare_units_mib(shows, bytes), tare_units_mib(by, llabs(difference)),
		              difference < 0 ? "more" : "less");
		f = find(&(struct question){ x, is_of_all(g->tool) }, llabs(difference), g->tolerance);
	}
	if (is_known && llabs(difference) > g->tolerance + 4096) {
		print_found(e, x, &f, &line);
	} else {
		TARE_FREED_BY(tare_str_free) struct tare_str none = { 0 };

		print_found(e, x, &f, &none);
	}
	tare_emit_item(e, "%s", tare_str_text(&line));
	tare_emit_close(e);
}

/* Two figures beside each other. */
static void print_two(struct tare_emit *e, const struct tare_explain *x, const struct tare_explain_given *a,
                      const struct tare_explain_given *b)
{
	const struct tare_explain_given *more = a->bytes >= b->bytes ? a : b;
	const struct tare_explain_given *less = more == a ? b : a;
	int64_t difference = more->bytes - less->bytes;
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
	const struct question q = { x, is_of_all(a->tool) || is_of_all(b->tool) };
	struct found f = find(&q, difference, a->tolerance + b->tolerance);

	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "more", tare_tools[more->tool].name);
	tare_emit_str(e, "less", tare_tools[less->tool].name);
	tare_emit_int(e, "difference_bytes", difference);
	tare_str_addf(&line, "%s less %s: %s = ", tare_tools[more->tool].name, tare_tools[less->tool].name,
	              tare_units_mib(text, difference));
	print_found(e, x, &f, &line);
	tare_emit_item(e, "%s", tare_str_text(&line));
	tare_emit_close(e);
}

void tare_explain_print_given(struct tare_emit *e, const struct tare_explain *x, const struct tare_explain_given *given,
                              size_t count)
{
	if (!count || (!tare_emit_is_for_people(e) && !tare_emit_has_members(e)))
		return;
	tare_emit_gap(e);
	tare_emit_heading(e, "What you read (MiB)");
	tare_emit_open(e, "given", '[');
	for (size_t i = 0; i < count; i++)
		print_one(e, x, &given[i]);
	tare_emit_close(e);
	tare_emit_open(e, "between", '[');
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++)
			print_two(e, x, &given[i], &given[k]);
	tare_emit_close(e);
}
