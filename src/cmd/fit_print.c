/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one fitted quantity: laws, errors, what each parameter does. */
#include "cmd/fit.h"

#include "base/array.h"
#include "base/xalloc.h"
#include "fit/unseen.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void print_terms_json(struct tare_emit *e, const struct tare_fitted *f, size_t l)
{
	const struct tare_law *law = &f->laws.law[l];

	tare_emit_open(e, "terms", '[');
	for (size_t k = 0; k < law->count; k++) {
		const struct tare_term *t = &f->terms.items[law->term[k]];
		TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 }, level = { 0 };

		tare_term_name(&f->data, t, &name);
		tare_term_levels(&f->data, t, &level);
		tare_emit_open(e, NULL, '{');
		tare_emit_number(e, "coefficient", t->is_minus ? -law->coef[k] : law->coef[k]);
		tare_emit_str(e, "of", tare_str_text(&name));
		tare_emit_str(e, "only", level.len ? tare_str_text(&level) : NULL);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

static void print_laws(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f,
                       const struct tare_fit_report *report)
{
	if (f->strength == TARE_FIT_NO_LAW)
		tare_emit_note(e, "%s has no law; its middle is %s", p->target, report->laws[0]);
	else if (report->law_count == 1)
		tare_emit_note(e, "%s = %s%s", p->target, report->laws[0], f->strength == TARE_FIT_WEAK_LAW ? " (weak)" : "");
	else
		tare_emit_note(e, "%s is the greatest of %zu laws, each of one part of the program:", p->target,
		               report->law_count);
	tare_emit_open(e, "laws", '[');
	for (size_t l = 0; l < report->law_count; l++) {
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "text", report->laws[l]);
		tare_emit_uint(e, "cells", report->cells[l]);
		print_terms_json(e, f, l);
		tare_emit_close(e);
		if (report->law_count > 1)
			tare_emit_note(e, "  %zu. in %zu cells: %s", l + 1, report->cells[l], report->laws[l]);
	}
	tare_emit_close(e);
}

static const struct tare_column strength_columns[] = {
	TARE_COLUMN(tare_fitted, explained, "explained", NULL, NUMBER),
};

static const struct tare_column error_columns[] = {
	TARE_COLUMN(tare_fitted, mean_error, "mean_error", NULL, NUMBER),
	TARE_COLUMN(tare_fitted, error, "error_90", NULL, NUMBER),
	TARE_COLUMN(tare_fitted, step, "step", NULL, NUMBER),
	TARE_COLUMN(tare_fitted, is_stairs, "rounded_up", NULL, FLAG),
};

struct finding {
	const char *kind, *text;
	struct tare_fit_finding of;
};

static const struct tare_column finding_columns[] = {
	TARE_COLUMN(finding, of.param, "param", NULL, TEXT),
	TARE_COLUMN(finding, kind, "kind", NULL, TEXT),
	TARE_COLUMN(finding, of.is_assumed, "assumed", NULL, FLAG),
	TARE_COLUMN(finding, of.per_step, "per_step", NULL, NUMBER),
	TARE_COLUMN(finding, text, "text", NULL, TEXT),
};

/* On the screen a line for each. */
static void print_findings(struct tare_emit *e, const struct tare_fit_report *report)
{
	if (tare_emit_has_members(e))
		tare_emit_table(e, "findings", NULL, TARE_COLUMNS(finding_columns));
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct tare_fit_finding *g = &report->findings[i];

		if (tare_emit_has_members(e))
			tare_emit_add(e, &(struct finding){ tare_fit_finding_name(g->kind), g->text, *g });
		tare_emit_note(e, "  %s", g->text);
	}
	if (tare_emit_has_members(e))
		tare_emit_table_end(e);
}

void tare_fit_print(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f)
{
	struct tare_fit_report report;

	tare_fit_report_make(p, f, &report);
	tare_emit_str(e, "target", p->target);
	tare_emit_uint(e, "cells", p->data.row_count);
	print_laws(e, p, f, &report);
	tare_emit_str(e, "strength", tare_fit_strength_name(f->strength));
	tare_emit_members(e, TARE_COLUMNS(strength_columns), f);
	tare_emit_members(e, TARE_COLUMNS(error_columns), f);
	tare_emit_note(e,
	               "%zu cells; each left out and predicted: wrong by %.2f %% on average, 9 of 10 by less than %.2f %%",
	               p->data.row_count, 100 * f->mean_error, 100 * f->error);
	print_findings(e, &report);
	tare_emit_open(e, "cautions", '[');
	for (size_t i = 0; i < report.caution_count; i++) {
		tare_emit_str(e, NULL, report.cautions[i]);
		tare_emit_note(e, "! %s", report.cautions[i]);
	}
	tare_emit_close(e);
	tare_emit_str(e, "next", report.next);
	tare_emit_str(e, "next_why", report.next_why);
	if (report.next)
		tare_emit_note(e, "Run next: %s (%s)", report.next, report.next_why);
	tare_fit_report_free(&report);
}

/* The shortest that a law can be told in: of several, how many there are. */
static void short_law(const struct tare_fitted *f, const struct tare_fit_report *report, struct tare_str *out)
{
	if (f->strength == TARE_FIT_NO_LAW)
		tare_str_add(out, "no law; the middle: ");
	if (report->law_count == 1)
		tare_str_add(out, report->laws[0]);
	for (size_t l = 0; l < report->law_count && report->law_count > 1; l++)
		tare_str_addf(out, "%s%s%s", l ? ", " : "greatest of (", report->laws[l],
		              l + 1 == report->law_count ? ")" : "");
	if (f->strength == TARE_FIT_WEAK_LAW)
		tare_str_add(out, " (weak)");
}

struct part {
	const char *name;
	uint64_t cells;
	double error;
	struct tare_str law;
};

static const struct tare_column part_columns[] = {
	TARE_COLUMN(part, name, NULL, "WHAT", TEXT),
	TARE_COLUMN(part, cells, NULL, "CELLS", COUNT),
	TARE_COLUMN(part, error, NULL, "ERROR", PERCENT),
	TARE_COLUMN(part, law, NULL, "LAW", TEXT),
};

static struct part part_of(const struct tare_forecast_part *part)
{
	struct part row = { .name = part->name, .cells = part->problem.data.row_count, .error = part->fitted.mean_error };
	struct tare_fit_report report;

	tare_fit_report_make(&part->problem, &part->fitted, &report);
	short_law(&part->fitted, &report, &row.law);
	tare_fit_report_free(&report);
	return row;
}

/* Is the table wider than the screen? A law that is cut is none. */
static bool is_too_wide(const struct tare_emit *e, const struct part *rows, size_t count)
{
	enum { FIGURES = 18 }; /* columns of cells and errors */
	size_t name = 0, law = 0;

	for (size_t i = 0; i < count; i++) {
		size_t n = tare_str_columns(rows[i].name);
		size_t l = tare_str_columns(tare_str_text(&rows[i].law));

		name = n > name ? n : name;
		law = l > law ? l : law;
	}
	return e->style.is_screen && name + FIGURES + law > (size_t)e->style.width;
}

static void print_parts_text(struct tare_emit *e, const struct tare_forecast *f)
{
	TARE_FREED_HERE struct part *rows = tare_xcalloc(f->count + 1, sizeof(*rows));
	bool is_list;

	for (size_t i = 0; i < f->count; i++)
		rows[i] = part_of(&f->parts[i]);
	is_list = is_too_wide(e, rows, f->count);
	if (!is_list)
		tare_emit_table(e, NULL, NULL, TARE_COLUMNS(part_columns));
	for (size_t i = 0; i < f->count; i++) {
		if (is_list)
			tare_emit_note(e, "%s = %s (%llu cells, %.1f %% off)", rows[i].name, tare_str_text(&rows[i].law),
			               (unsigned long long)rows[i].cells, 100 * rows[i].error);
		else
			tare_emit_add(e, &rows[i]);
	}
	if (!is_list)
		tare_emit_table_end(e);
	for (size_t i = 0; i < f->count; i++)
		tare_str_free(&rows[i].law);
}

void tare_fit_print_parts(struct tare_emit *e, const struct tare_forecast *f)
{
	struct tare_fit_report report;

	if (tare_emit_is_for_people(e)) {
		print_parts_text(e, f);
		tare_fit_report_make(&f->parts[0].problem, &f->parts[0].fitted, &report);
		tare_emit_note(e, "%s:", f->parts[0].name);
		for (size_t i = 0; i < report.finding_count; i++)
			tare_emit_note(e, "  %s", report.findings[i].text);
		for (size_t i = 0; i < report.caution_count; i++)
			tare_emit_note(e, "! %s", report.cautions[i]);
		if (report.next)
			tare_emit_note(e, "Run next: %s (%s)", report.next, report.next_why);
		tare_fit_report_free(&report);
		return;
	}
	tare_emit_open(e, "series", '[');
	for (size_t i = 0; i < f->count; i++) {
		tare_emit_open(e, NULL, '{');
		tare_fit_print(e, &f->parts[i].problem, &f->parts[i].fitted);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

static bool is_ours(const char *column)
{
	return !strcmp(column, "predicted") || !strcmp(column, "low") || !strcmp(column, "high");
}

/* A column of the table: its text for people, its value (a number where it is one) for programs. */
struct cell {
	const char *text;
	double number;
	struct tare_str made; /* of which `text` is, or nothing */
};

static struct tare_column column_of(const char *key, const char *head, size_t cell, bool is_number)
{
	return (struct tare_column){
		.key = key,
		.head = head,
		.kind = is_number ? TARE_COL_NUMBER : TARE_COL_TEXT,
		.type = is_number ? TARE_FIELD_DOUBLE : TARE_FIELD_TEXT,
		.offset =
			cell * sizeof(struct cell) + (is_number ? offsetof(struct cell, number) : offsetof(struct cell, text)),
	};
}

static void set_cell(struct cell *cell, const char *text)
{
	cell->text = text;
	if (!text || !tare_table_number(text, &cell->number))
		cell->number = NAN;
}

static bool is_numeric(const struct tare_table *t, size_t column)
{
	double v;

	for (size_t r = 0; r < t->row_count; r++) {
		const char *text = tare_table_cell(t, r, column);

		if (text && !tare_table_number(text, &v))
			return false;
	}
	return true;
}

static void set_value(struct cell *cell, const struct tare_unit *unit, double v, bool is_known)
{
	tare_str_cut(&cell->made, 0);
	tare_unit_add(unit, is_known ? v : 0, &cell->made);
	cell->text = is_known ? tare_str_text(&cell->made) : NULL;
	cell->number = !is_known ? NAN : unit->is_bytes ? (double)(int64_t)(v + 0.5) : v;
}

/* The parameters that are beyond what was measured beside the one that is farthest. */
static void add_others_beyond(const struct tare_problem *p, const struct tare_prediction *got, struct tare_str *out)
{
	for (size_t i = 0; i < p->param_count; i++) {
		const struct tare_fit_param *param = &p->params[i];

		if (i == got->beyond_param || !(got->times[i] > 1))
			continue;
		if (param->level_count < 2)
			tare_str_addf(out, "; %s was %g everywhere", param->name, param->least);
		else if (got->is_less[i])
			tare_str_addf(out, "; less %s than measured", param->name);
		else
			tare_str_addf(out, "; %.3g times beyond the measured %s", got->times[i], param->name);
		if (param->level_count == 2)
			tare_str_add(out, ", of which two values were measured");
	}
}

static void assumption(const struct tare_problem *p, const struct tare_fitted *f, const struct tare_prediction *got,
                       struct tare_str *out)
{
	const struct tare_fit_param *param = &p->params[got->beyond_param];

	tare_str_cut(out, 0);
	if (f->strength == TARE_FIT_NO_LAW) {
		tare_str_addf(out, "there is no law: the middle of all cells%s",
		              got->beyond > 1 ? ", though this one is beyond them" : "");
		return;
	}
	if (f->strength == TARE_FIT_WEAK_LAW)
		tare_str_add(out, "a weak law; ");
	if (got->beyond > 1 && param->level_count < 2)
		tare_str_addf(out, "%s was %g everywhere: assumes that it does not matter", param->name, param->least);
	else if (got->beyond > 1 && got->is_below)
		tare_str_addf(out, "less %s than measured: assumes that the law holds there%s", param->name,
		              param->level_count == 2 ? ", of which two values were measured" : "");
	else if (got->beyond > 1)
		tare_str_addf(out, "%.3g times beyond the measured %s: assumes that the law goes on%s", got->beyond,
		              param->name, param->level_count == 2 ? ", of which two values were measured" : "");
	else
		tare_str_addf(out, "inside what was measured: assumes nothing but the law%s",
		              f->free_count ? "" : ", of which nothing is left to check it");
	if (got->beyond > 1)
		add_others_beyond(p, got, out);
}

/* What may be the greatest there, and was it in no measured run. */
static const char *add_unseen(const struct tare_forecast *f, const struct tare_prediction *got, const char *unseen,
                              struct tare_str *out)
{
	if (unseen)
		tare_str_addf(out, "; %s, the greatest in no measured run, may be the greatest there", unseen);
	else if (f->has_no_phases && got->beyond > 1)
		tare_str_add(out, "; no phase was recorded, and one that was the greatest in no run may be so there");
	return tare_str_text(out);
}

static const char *const ours[] = { "predicted", "low", "high" };

/* In pairs: for people, for programs. Behind those of the table are ours, and what is assumed. */
static size_t columns_of(struct tare_column *columns, const struct tare_table *cells, bool is_json)
{
	size_t n = cells->column_count, used = 0;

	for (size_t c = 0; c < n; c++) {
		if (is_ours(cells->columns[c]))
			continue;
		columns[used++] = column_of(NULL, cells->columns[c], c, false);
		columns[used++] = column_of(cells->columns[c], NULL, c, is_numeric(cells, c));
	}
	for (size_t i = 0; i < 3; i++) {
		columns[used] = column_of(NULL, ours[i], n + i, false);
		columns[used].is_main = columns[used].is_whole = true;
		used++;
		columns[used++] = column_of(ours[i], NULL, n + i, true);
	}
	columns[used] = column_of(is_json ? "assumes" : NULL, "", n + 3, false);
	columns[used++].is_quiet = true;
	if (is_json)
		columns[used++] = column_of("unseen_phase", NULL, n + 4, false);
	return used;
}

/* Sentences that many rows share: for people a row has the number of its own, and they stand below the table. */
struct sentences {
	char **items;
	size_t count, room;
	char number[24];
};

static const char *number_of(struct sentences *all, const char *text)
{
	size_t i = 0;

	while (i < all->count && strcmp(all->items[i], text) != 0)
		i++;
	if (i == all->count) {
		TARE_APPEND(all->items, all->count, all->room) = tare_xstrdup(text);
	}
	snprintf(all->number, sizeof(all->number), "(%zu)", i + 1);
	return all->number;
}

static void print_sentences(struct tare_emit *e, struct sentences *all)
{
	for (size_t i = 0; i < all->count; i++) {
		tare_emit_paragraph(e, "(%zu) %s", i + 1, all->items[i]);
		free(all->items[i]);
	}
	free(all->items);
}

void tare_fit_print_cells(struct tare_emit *e, const struct tare_forecast *f, const struct tare_table *cells)
{
	struct tare_unit unit = tare_unit_of(&f->parts[0].problem);
	size_t n = cells->column_count;
	TARE_FREED_HERE struct tare_column *columns = tare_xcalloc(2 * n + 9, sizeof(*columns));
	TARE_FREED_HERE struct cell *row = tare_xcalloc(n + 5, sizeof(*row));
	bool is_json = tare_emit_has_members(e);
	struct sentences said = { 0 };
	TARE_FREED_BY(tare_str_free) struct tare_str why = { 0 };

	tare_emit_table(e, "rows", NULL, columns, columns_of(columns, cells, is_json));
	for (size_t r = 0; r < cells->row_count; r++) {
		struct tare_prediction got = { 0 };
		const char *missing = NULL;
		const struct tare_forecast_part *p = f->parts;
		bool is_known = tare_forecast_at(f, cells, r, &got, &p, &missing);

		for (size_t c = 0; c < n; c++)
			set_cell(&row[c], tare_table_cell(cells, r, c));
		set_value(&row[n], &unit, got.value, is_known);
		set_value(&row[n + 1], &unit, got.low, is_known);
		set_value(&row[n + 2], &unit, got.high, is_known);
		row[n + 3].text = missing;
		row[n + 4].text = is_known ? tare_unseen_at(f, cells, r) : NULL;
		if (is_known) {
			assumption(&p->problem, &p->fitted, &got, &why);
			row[n + 3].text = add_unseen(f, &got, row[n + 4].text, &why);
		}
		if (!is_json)
			row[n + 3].text = number_of(&said, row[n + 3].text);
		tare_emit_add(e, row);
	}
	tare_emit_table_end(e);
	print_sentences(e, &said);
	for (size_t i = 0; i < 3; i++)
		tare_str_free(&row[n + i].made);
}

struct term {
	const char *target;
	uint64_t law;
	double coefficient;
	struct tare_str of, only;
};

static const struct tare_column term_columns[] = {
	TARE_COLUMN(term, target, "target", NULL, TEXT),
	TARE_COLUMN(term, law, "law", NULL, COUNT),
	TARE_COLUMN(term, coefficient, "coefficient", NULL, NUMBER),
	TARE_COLUMN(term, of, "of", NULL, TEXT),
	TARE_COLUMN(term, only, "only", NULL, TEXT),
};

void tare_fit_print_terms(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f)
{
	tare_emit_table(e, "terms", NULL, TARE_COLUMNS(term_columns));
	for (size_t l = 0; l < f->laws.count; l++)
		for (size_t k = 0; k < f->laws.law[l].count; k++) {
			const struct tare_term *t = &f->terms.items[f->laws.law[l].term[k]];
			double coef = f->laws.law[l].coef[k];
			struct term row = { .target = p->target, .law = l + 1, .coefficient = t->is_minus ? -coef : coef };

			tare_term_name(&f->data, t, &row.of);
			tare_term_levels(&f->data, t, &row.only);
			tare_emit_add(e, &row);
			tare_str_free(&row.of);
			tare_str_free(&row.only);
		}
	tare_emit_table_end(e);
}
