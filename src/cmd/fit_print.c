/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/fit_print.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static void print_terms_json(struct tare_emit *e, const struct tare_fitted *f, size_t l)
{
	const struct tare_law *law = &f->laws.law[l];

	tare_emit_open(e, "terms", '[');
	for (size_t k = 0; k < law->count; k++) {
		const struct tare_term *t = &f->terms.items[law->term[k]];
		struct tare_str name = { 0 }, level = { 0 };

		tare_term_name(&f->data, t, &name);
		tare_term_levels(&f->data, t, &level);
		tare_emit_open(e, NULL, '{');
		if (e->format == TARE_EMIT_JSON)
			tare_json_number(&e->json, "coefficient",
					 t->is_minus ? -law->coef[k] : law->coef[k]);
		tare_emit_str(e, "of", tare_str_text(&name));
		tare_emit_str(e, "only", level.len ? tare_str_text(&level) : NULL);
		tare_emit_close(e);
		tare_str_free(&name);
		tare_str_free(&level);
	}
	tare_emit_close(e);
}

static void print_laws(struct tare_emit *e, const struct tare_problem *p,
		       const struct tare_fitted *f, const struct tare_fit_report *told)
{
	if (told->law_count == 1)
		tare_emit_note(e, "%s = %s", p->target, told->laws[0]);
	else
		tare_emit_note(e,
			       "%s is the greatest of %zu laws, each of one part of the program:",
			       p->target, told->law_count);
	tare_emit_open(e, "laws", '[');
	for (size_t l = 0; l < told->law_count; l++) {
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "text", told->laws[l]);
		tare_emit_uint(e, "cells", told->cells[l]);
		print_terms_json(e, f, l);
		tare_emit_close(e);
		if (told->law_count > 1)
			tare_emit_note(e, "  %zu. in %zu cells: %s", l + 1, told->cells[l],
				       told->laws[l]);
	}
	tare_emit_close(e);
}

void tare_fit_print(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f)
{
	struct tare_fit_report told;

	tare_tell(p, f, &told);
	tare_emit_str(e, "target", p->target);
	tare_emit_uint(e, "cells", p->data.row_count);
	print_laws(e, p, f, &told);
	if (e->format == TARE_EMIT_JSON) {
		tare_json_number(&e->json, "mean_error", f->mean_error);
		tare_json_number(&e->json, "error_90", f->error);
		tare_json_number(&e->json, "step", f->step);
		tare_emit_flag(e, "rounded_up", f->is_stairs);
	}
	tare_emit_note(
		e,
		"%zu cells; each left out and predicted: wrong by %.2f %% on average, 9 of 10 by less than %.2f %%",
		p->data.row_count, 100 * f->mean_error, 100 * f->error);
	tare_emit_open(e, "findings", '[');
	for (size_t i = 0; i < told.finding_count; i++) {
		const struct tare_fit_finding *g = &told.findings[i];

		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "param", g->param);
		tare_emit_str(e, "kind", tare_finding_name(g->kind));
		tare_emit_flag(e, "assumed", g->is_assumed);
		if (e->format == TARE_EMIT_JSON)
			tare_json_number(&e->json, "per_step", g->per_step);
		tare_emit_str(e, "text", g->text);
		tare_emit_close(e);
		tare_emit_note(e, "  %s", g->text);
	}
	tare_emit_close(e);
	tare_emit_open(e, "cautions", '[');
	for (size_t i = 0; i < told.caution_count; i++) {
		tare_emit_str(e, NULL, told.cautions[i]);
		tare_emit_note(e, "! %s", told.cautions[i]);
	}
	tare_emit_close(e);
	tare_emit_str(e, "next", told.next);
	tare_emit_str(e, "next_why", told.next_why);
	if (told.next)
		tare_emit_note(e, "Run next: %s (%s)", told.next, told.next_why);
	tare_told_free(&told);
}

/* The shortest that a law can be told in: of several, how many there are. */
static void short_law(const struct tare_fit_report *told, struct tare_str *out)
{
	if (told->law_count == 1)
		tare_str_add(out, told->laws[0]);
	for (size_t l = 0; l < told->law_count && told->law_count > 1; l++)
		tare_str_addf(out, "%s%s%s", l ? ", " : "greatest of (", told->laws[l],
			      l + 1 == told->law_count ? ")" : "");
}

static void print_parts_text(struct tare_emit *e, const struct tare_forecast *f)
{
	static const struct tare_column columns[] = {
		TARE_LOOSE(NULL, "WHAT", TEXT),
		TARE_LOOSE(NULL, "CELLS", COUNT),
		TARE_LOOSE(NULL, "ERROR", PERCENT),
		TARE_LOOSE(NULL, "LAW", TEXT),
	};

	tare_emit_table(e, NULL, NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < f->count; i++) {
		const struct tare_forecast_part *part = &f->parts[i];
		struct tare_fit_report told;
		struct tare_str law = { 0 };

		tare_tell(&part->problem, &part->fitted, &told);
		short_law(&told, &law);
		tare_emit_cell_text(e, part->name);
		tare_emit_cell_int(e, (int64_t)part->problem.data.row_count);
		tare_emit_cell_number(e, part->fitted.mean_error);
		tare_emit_cell_text(e, tare_str_text(&law));
		tare_emit_row(e);
		tare_str_free(&law);
		tare_told_free(&told);
	}
	tare_emit_table_end(e);
}

void tare_fit_print_parts(struct tare_emit *e, const struct tare_forecast *f)
{
	struct tare_fit_report told;

	if (e->format == TARE_EMIT_TEXT) {
		print_parts_text(e, f);
		tare_tell(&f->parts[0].problem, &f->parts[0].fitted, &told);
		tare_emit_note(e, "%s:", f->parts[0].name);
		for (size_t i = 0; i < told.finding_count; i++)
			tare_emit_note(e, "  %s", told.findings[i].text);
		for (size_t i = 0; i < told.caution_count; i++)
			tare_emit_note(e, "! %s", told.cautions[i]);
		if (told.next)
			tare_emit_note(e, "Run next: %s (%s)", told.next, told.next_why);
		tare_told_free(&told);
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
static void print_cell(struct tare_emit *e, const char *text, bool is_number)
{
	double v;

	tare_emit_cell_text(e, text);
	if (is_number && tare_table_number(text, &v))
		tare_emit_cell_number(e, v);
	else
		tare_emit_cell_text(e, text);
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

static void print_value(struct tare_emit *e, const struct tare_unit *unit, double v, bool is_known)
{
	struct tare_str s = { 0 };

	if (!is_known) {
		tare_emit_cell_unknown(e);
		tare_emit_cell_unknown(e);
		return;
	}
	tare_unit_add(unit, v, &s);
	tare_emit_cell_text(e, tare_str_text(&s));
	tare_emit_cell_number(e, unit->is_bytes ? (double)(int64_t)(v + 0.5) : v);
	tare_str_free(&s);
}

static const char *assumption(const struct tare_problem *p, const struct tare_fitted *f,
			      const struct tare_prediction *got, struct tare_str *out)
{
	const struct tare_fit_param *param = &p->params[got->beyond_param];

	tare_str_cut(out, 0);
	if (got->beyond > 1 && param->level_count < 2)
		tare_str_addf(out, "%s was %g everywhere: assumes that it does not matter",
			      param->name, param->least);
	else if (got->beyond > 1 && got->is_below)
		tare_str_addf(out, "less %s than measured: assumes that the law holds there%s",
			      param->name,
			      param->level_count == 2 ? ", of which two values were measured" : "");
	else if (got->beyond > 1)
		tare_str_addf(out,
			      "%.3g times beyond the measured %s: assumes that the law goes on%s",
			      got->beyond, param->name,
			      param->level_count == 2 ? ", of which two values were measured" : "");
	else
		tare_str_addf(out, "inside what was measured: assumes nothing but the law%s",
			      f->free_count ? "" : ", of which nothing is left to check it");
	return tare_str_text(out);
}

void tare_fit_print_cells(struct tare_emit *e, const struct tare_forecast *f,
			  const struct tare_table *cells)
{
	static const char *const ours[] = { "predicted", "low", "high" };
	struct tare_unit unit = tare_unit_of(&f->parts[0].problem);
	size_t n = cells->column_count, used = 0;
	struct tare_column *columns = tare_xcalloc(2 * n + 8, sizeof(*columns));
	bool *is_number = tare_xcalloc(n + 1, sizeof(*is_number));
	struct tare_str why = { 0 };

	for (size_t c = 0; c < n; c++) {
		if (is_ours(cells->columns[c]))
			continue;
		is_number[c] = is_numeric(cells, c);
		columns[used++] = (struct tare_column)TARE_LOOSE(NULL, cells->columns[c], TEXT);
		columns[used] = (struct tare_column)TARE_LOOSE(cells->columns[c], NULL, TEXT);
		if (is_number[c])
			columns[used].kind = TARE_COL_NUMBER;
		used++;
	}
	for (size_t i = 0; i < 3; i++) {
		columns[used++] = (struct tare_column)TARE_LOOSE(NULL, ours[i], TEXT);
		columns[used++] = (struct tare_column)TARE_LOOSE(ours[i], NULL, NUMBER);
	}
	columns[used++] =
		(struct tare_column)TARE_LOOSE(e->format == TARE_EMIT_JSON ? "assumes" : NULL, "",
					       TEXT);
	tare_emit_table(e, "rows", NULL, columns, used);
	for (size_t r = 0; r < cells->row_count; r++) {
		struct tare_prediction got = { 0 };
		const char *missing = NULL;
		size_t part = 0;
		bool is_known = tare_forecast_at(f, cells, r, &got, &part, &missing);
		const struct tare_forecast_part *p = &f->parts[part];

		for (size_t c = 0; c < n; c++)
			if (!is_ours(cells->columns[c]))
				print_cell(e, tare_table_cell(cells, r, c), is_number[c]);
		print_value(e, &unit, got.value, is_known);
		print_value(e, &unit, got.low, is_known);
		print_value(e, &unit, got.high, is_known);
		tare_emit_cell_text(e, is_known ? assumption(&p->problem, &p->fitted, &got, &why)
						: missing);
		tare_emit_row(e);
	}
	tare_emit_table_end(e);
	free(columns);
	free(is_number);
	tare_str_free(&why);
}

void tare_fit_print_terms(struct tare_emit *e, const struct tare_problem *p,
			  const struct tare_fitted *f)
{
	static const struct tare_column columns[] = {
		TARE_LOOSE("target", NULL, TEXT),        TARE_LOOSE("law", NULL, COUNT),
		TARE_LOOSE("coefficient", NULL, NUMBER), TARE_LOOSE("of", NULL, TEXT),
		TARE_LOOSE("only", NULL, TEXT),
	};

	tare_emit_table(e, "terms", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t l = 0; l < f->laws.count; l++)
		for (size_t k = 0; k < f->laws.law[l].count; k++) {
			const struct tare_term *t = &f->terms.items[f->laws.law[l].term[k]];
			struct tare_str name = { 0 }, level = { 0 };

			tare_term_name(&f->data, t, &name);
			tare_term_levels(&f->data, t, &level);
			tare_emit_cell_text(e, p->target);
			tare_emit_cell_int(e, (int64_t)l + 1);
			tare_emit_cell_number(e, t->is_minus ? -f->laws.law[l].coef[k]
							     : f->laws.law[l].coef[k]);
			tare_emit_cell_text(e, tare_str_text(&name));
			tare_emit_cell_text(e, tare_str_text(&level));
			tare_emit_row(e);
			tare_str_free(&name);
			tare_str_free(&level);
		}
	tare_emit_table_end(e);
}
