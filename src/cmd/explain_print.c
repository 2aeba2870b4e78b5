/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the terms between a figure of a tool and the ledger. */
#include "cmd/explain.h"

#include "base/units.h"

#include <string.h>

struct row {
	const char *tool, *word, *prints;
	int64_t bytes, most, sampled, rows; /* rows: what the rows of the ledger come to */
	bool is_known, has_most, has_sampled, has_rows;
	const char *formula, *leaves_out, *counts_twice, *unknown;
};

#define KNOWN .when = TARE_WHEN(row, is_known)

static const struct tare_column data_columns[] = {
	TARE_COLUMN(row, tool, "tool", NULL, TEXT),
	TARE_COLUMN(row, word, "word", NULL, TEXT),
	TARE_COLUMN(row, bytes, "bytes", NULL, BYTES, KNOWN),
	TARE_COLUMN(row, prints, "prints", NULL, TEXT),
	TARE_COLUMN(row, most, "max_bytes", NULL, BYTES, .when = TARE_WHEN(row, has_most)),
	TARE_COLUMN(row, sampled, "sampled_max_bytes", NULL, BYTES, .when = TARE_WHEN(row, has_sampled)),
	TARE_COLUMN(row, formula, "formula", NULL, TEXT),
	TARE_COLUMN(row, rows, "formula_bytes", NULL, BYTES, .when = TARE_WHEN(row, has_rows)),
	TARE_COLUMN(row, leaves_out, "leaves_out", NULL, TEXT),
	TARE_COLUMN(row, counts_twice, "counts_twice", NULL, TEXT),
	TARE_COLUMN(row, unknown, "not_known_because", NULL, TEXT),
};

static const struct tare_column columns_now[] = {
	TARE_COLUMN(row, tool, NULL, "TOOL", TEXT),
	TARE_COLUMN(row, bytes, NULL, "SHOWS", BYTES, KNOWN),
	TARE_COLUMN(row, prints, NULL, "AS IT PRINTS", TEXT, .is_whole = true),
	TARE_COLUMN(row, rows, NULL, "BY THE LEDGER", BYTES, .when = TARE_WHEN(row, has_rows)),
};

static const struct tare_column columns_course[] = {
	TARE_COLUMN(row, tool, NULL, "TOOL", TEXT),
	TARE_COLUMN(row, bytes, NULL, "THEN", BYTES, KNOWN),
	TARE_COLUMN(row, prints, NULL, "AS IT PRINTS", TEXT, .is_whole = true),
	TARE_COLUMN(row, most, NULL, "MAXIMUM", BYTES, .when = TARE_WHEN(row, has_most)),
	TARE_COLUMN(row, sampled, NULL, "AT 1 HZ", BYTES, .when = TARE_WHEN(row, has_sampled)),
};

static const char gpu_path[] = "GPU/";

/* A recording has the rows of the GPU's memory: they stand in place of their sum. */
static bool describe_gpu(struct tare_str *out, const struct tare_explain *x, const char *sum, bool has_values)
{
	size_t start = out->len;
	char text[TARE_UNITS_TEXT_MAX];

	if (strcmp(sum, "GPU_PROCESS") != 0)
		return false;
	for (size_t i = 0; i < x->count; i++) {
		const struct tare_explain_row *r = &x->rows[i];

		if (strncmp(r->path, gpu_path, sizeof(gpu_path) - 1) != 0 || r->is_of_others)
			continue;
		tare_str_addf(out, "%s%s", out->len > start ? " + " : "", r->path + sizeof(gpu_path) - 1);
		if (has_values)
			tare_str_addf(out, " %s", tare_units_mib(text, r->bytes));
	}
	return out->len > start;
}

static void describe(struct tare_str *out, const struct tare_explain *x, const char *sum, bool has_values)
{
	if (!describe_gpu(out, x, sum, has_values))
		tare_figures_describe(out, has_values ? &x->figures : NULL, sum);
}

/* Does only a run under the tool itself know it? */
static bool is_of_heap(const struct tare_tool_info *t)
{
	struct tare_sum_term terms[TARE_SUM_MOST];

	return tare_figures_parse(t->shows, terms) > 0 && terms[0].figure == TARE_FIGURE_HEAP;
}

/* What a recording lacks was not there to be recorded, or nobody asked for it. */
static const char *why_unknown(const struct tare_explain *x, const struct tare_tool_info *t)
{
	return x->is_recorded && !is_of_heap(t) ? "the recording does not have it" : t->unknown;
}

static void add_row(struct tare_emit *e, const struct tare_explain *x, enum tare_tool tool)
{
	const struct tare_tool_info *t = &tare_tools[tool];
	TARE_FREED_BY(tare_str_free) struct tare_str prints = { 0 }, formula = { 0 };
	struct row row = { .tool = t->name,
		               .word = t->word,
		               .leaves_out = t->leaves_out,
		               .counts_twice = t->counts_twice,
		               .bytes = tare_figures_sum(&x->figures, t->shows),
		               .rows = tare_figures_sum(&x->figures, t->formula),
		               .most = x->has_course ? x->most[tool] : TARE_FIGURE_NOT_KNOWN,
		               .sampled = x->has_course ? x->sampled[tool] : TARE_FIGURE_NOT_KNOWN };

	row.is_known = row.bytes != TARE_FIGURE_NOT_KNOWN;
	row.has_rows = row.rows != TARE_FIGURE_NOT_KNOWN;
	row.has_most = row.most != TARE_FIGURE_NOT_KNOWN;
	row.has_sampled = row.sampled != TARE_FIGURE_NOT_KNOWN;
	row.unknown = row.is_known ? NULL : why_unknown(x, t);
	if (row.is_known)
		tare_tool_print(&prints, tool, row.bytes);
	row.prints = row.is_known ? tare_str_text(&prints) : NULL;
	describe(&formula, x, t->formula, tare_emit_is_for_people(e) && row.has_rows);
	row.formula = tare_str_text(&formula);
	tare_emit_add(e, &row);
}

/* ---- what each of them is, for people ---- */

static bool is_known(const struct tare_explain *x, enum tare_tool tool)
{
	return tare_figures_sum(&x->figures, tare_tools[tool].shows) != TARE_FIGURE_NOT_KNOWN;
}

/* A recording may be of another machine: of that, people see all that is known. */
static bool is_everything_shown(const struct tare_explain *x)
{
	return x->is_all || x->has_course;
}

/* tegrastats exists on a Jetson only, though its figure can be computed on any machine. */
static bool is_shown(const struct tare_explain *x, enum tare_tool tool)
{
	return is_known(x, tool) && (is_everything_shown(x) || x->has_board || !tare_tool_is_of_board(tool));
}

/* What is said of both is the same: in short that is only what they are the sum of. */
static bool is_alike(const struct tare_explain *x, enum tare_tool one, enum tare_tool other)
{
	const struct tare_tool_info *a = &tare_tools[one], *b = &tare_tools[other];

	if (strcmp(a->formula, b->formula) != 0 || !x->is_all)
		return !strcmp(a->formula, b->formula);
	return !strcmp(a->leaves_out, b->leaves_out) && !strcmp(a->counts_twice, b->counts_twice);
}

static void print_term(struct tare_emit *e, const struct tare_explain *x, int tool)
{
	const struct tare_tool_info *t = &tare_tools[tool];
	TARE_FREED_BY(tare_str_free) struct tare_str head = { 0 }, text = { 0 };

	for (int i = 0; i < TARE_TOOL_NR; i++) {
		if (!is_shown(x, (enum tare_tool)i) || !is_alike(x, (enum tare_tool)i, (enum tare_tool)tool))
			continue;
		if (i < tool) { /* it stands with that one */
			return;
		}
		tare_str_addf(&head, "%s%s", head.len ? ", " : "", tare_tools[i].name);
	}
	tare_str_add(&text, "= ");
	describe(&text, x, t->formula, true);
	tare_emit_paragraph(e, "%s %s", tare_str_text(&head), tare_str_text(&text));
	tare_str_cut(&text, 0);
	tare_str_addf(&text, "Leaves out: %s.", t->leaves_out);
	if (x->is_all)
		tare_emit_indented(e, 4, 4, tare_str_text(&text));
	if (x->is_all && strcmp(t->counts_twice, "nothing") != 0) {
		tare_str_cut(&text, 0);
		tare_str_addf(&text, "Counts twice: %s.", t->counts_twice);
		tare_emit_indented(e, 4, 4, tare_str_text(&text));
	}
}

/* Tools that are not known, by the reason: the first of each speaks for the others. */
static void print_unknown(struct tare_emit *e, const struct tare_explain *x, int tool)
{
	const char *why = why_unknown(x, &tare_tools[tool]);
	TARE_FREED_BY(tare_str_free) struct tare_str names = { 0 };
	bool is_first = true;

	for (int i = 0; i < TARE_TOOL_NR; i++) {
		if (is_known(x, (enum tare_tool)i) || strcmp(why_unknown(x, &tare_tools[i]), why))
			continue;
		is_first = is_first && i >= tool;
		tare_str_addf(&names, "%s%s", names.len ? ", " : "", tare_tools[i].name);
	}
	if (is_first)
		tare_emit_item(e, "Not known: %s: %s.", tare_str_text(&names), why);
}

static void print_words(struct tare_emit *e, const struct tare_explain *x)
{
	int hidden = 0;

	for (int i = 0; i < TARE_TOOL_NR; i++) {
		if (is_shown(x, (enum tare_tool)i))
			print_term(e, x, i);
		else
			hidden++;
	}
	tare_emit_gap(e);
	for (int i = 0; i < TARE_TOOL_NR && x->is_all; i++)
		if (!is_known(x, (enum tare_tool)i))
			print_unknown(e, x, i);
	if (!x->is_all && hidden)
		tare_emit_item(
			e, "--all tells what each leaves out or counts twice, and of %d more that are not here or not known.",
			hidden);
	else if (!x->is_all)
		tare_emit_item(e, "--all tells what each leaves out or counts twice.");
}

/* ---- what must not be added up ---- */

struct pair {
	const char *one, *other, *why;
};

static const struct tare_column pair_columns[] = {
	TARE_COLUMN(pair, one, "one", NULL, TEXT),
	TARE_COLUMN(pair, other, "other", NULL, TEXT),
	TARE_COLUMN(pair, why, "why", NULL, TEXT),
};

static void print_pairs(struct tare_emit *e, const struct tare_explain *x)
{
	bool is_data = !tare_emit_is_for_people(e);

	if (is_data)
		tare_emit_table(e, "do_not_add", NULL, TARE_COLUMNS(pair_columns));
	else
		tare_emit_gap(e);
	for (size_t i = 0; i < tare_tool_pair_count; i++) {
		const struct tare_tool_pair *p = &tare_tool_pairs[i];
		struct pair row = { tare_tools[p->one].name, tare_tools[p->other].name, p->why };

		if (!(is_data ? is_known(x, p->one) && is_known(x, p->other) : is_shown(x, p->one) && is_shown(x, p->other)))
			continue;
		if (is_data)
			tare_emit_add(e, &row);
		else
			tare_emit_item(e, "Do not add %s and %s: %s.", row.one, row.other, row.why);
	}
	if (is_data)
		tare_emit_table_end(e);
}

static void print_rows(struct tare_emit *e, const struct tare_explain *x)
{
	for (int i = 0; i < TARE_TOOL_NR; i++)
		if (!tare_emit_is_for_people(e) || is_shown(x, (enum tare_tool)i))
			add_row(e, x, (enum tare_tool)i);
}

void tare_explain_print(struct tare_emit *e, const struct tare_explain *x)
{
	if (!tare_emit_is_for_people(e)) {
		tare_emit_str(e, "title", x->title);
		tare_emit_table(e, "tools", NULL, TARE_COLUMNS(data_columns));
		print_rows(e, x);
		tare_emit_table_end(e);
		print_pairs(e, x);
		return;
	}
	if (x->has_course)
		tare_emit_table(e, "tools", x->title, TARE_COLUMNS(columns_course));
	else
		tare_emit_table(e, "tools", x->title, TARE_COLUMNS(columns_now));
	print_rows(e, x);
	tare_emit_table_end(e);
	tare_emit_note(
		e, "MiB are 1024 x 1024: the M and MB of htop, tegrastats and nvidia-smi; heaptrack's MB are 1000 x 1000");
	tare_emit_gap(e);
	print_words(e, x);
	print_pairs(e, x);
}
