/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the sentences of a fit: what a law says in words, where it fails, which cells it misses, and how sure its
 * numbers are.
 */
#include "fit/fit_report.h"

#include "base/array.h"
#include "base/xalloc.h"
#include "fit/twins.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ln(ratio of the quantity) / ln(ratio of the parameter): 1 is proportional. */
#define WEAK_BELOW         0.1
#define PROPORTIONAL_ABOVE 0.9

static const char *const kinds[] = {
	[TARE_FIT_FINDING_PROPORTIONAL] = "proportional",
	[TARE_FIT_FINDING_LINEAR] = "linear",
	[TARE_FIT_FINDING_CURVED] = "curved",
	[TARE_FIT_FINDING_WEAK] = "weak",
	[TARE_FIT_FINDING_NONE] = "none",
	[TARE_FIT_FINDING_LEVELS] = "levels",
	[TARE_FIT_FINDING_ONE_VALUE] = "one value",
};

const char *tare_fit_finding_name(enum tare_fit_finding_kind kind)
{
	return kinds[kind];
}

const char *tare_fit_strength_name(enum tare_fit_strength strength)
{
	static const char *const names[] = {
		[TARE_FIT_LAW] = "law", [TARE_FIT_WEAK_LAW] = "weak", [TARE_FIT_NO_LAW] = "none"
	};

	return names[strength];
}

static void caution(struct tare_fit_report *report, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void caution(struct tare_fit_report *report, const char *fmt, ...)
{
	struct tare_str s = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&s, fmt, ap);
	va_end(ap);
	TARE_APPEND(report->cautions, report->caution_count, report->caution_cap) = tare_str_steal(&s);
}

/* Terms by what they bring in the greatest cell of the law, the constant first. */
static void law_text(const struct tare_fitted *f, size_t l, const size_t *owner, const struct tare_unit *unit,
                     struct tare_str *out)
{
	const struct tare_law *law = &f->laws.law[l];
	size_t order[TARE_LAW_TERMS_MAX], at = 0;
	double brings[TARE_LAW_TERMS_MAX];

	for (size_t i = 0; i < f->data.row_count; i++)
		if (owner[i] == l && (owner[at] != l || f->data.y[i] > f->data.y[at]))
			at = i;
	for (size_t k = 0; k < law->count; k++) {
		size_t to = k;
		const struct tare_term *t = &f->terms.items[law->term[k]];
		double v = law->term[k] ? fabs(law->coef[k] * tare_term_value(&f->data, t, tare_fit_x(&f->data, at))) : 1e300;

		for (; to > 0 && brings[to - 1] < v; to--) {
			brings[to] = brings[to - 1];
			order[to] = order[to - 1];
		}
		brings[to] = v;
		order[to] = k;
	}
	for (size_t o = 0; o < law->count; o++) {
		const struct tare_term *t = &f->terms.items[law->term[order[o]]];
		TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 }, level = { 0 };

		tare_term_name(&f->data, t, &name);
		tare_term_levels(&f->data, t, &level);
		tare_str_add(out, o ? (t->is_minus ? " - " : " + ") : (t->is_minus ? "-" : ""));
		tare_unit_add(unit, law->coef[order[o]], out);
		if (strcmp(tare_str_text(&name), "1"))
			tare_str_addf(out, " × %s", tare_str_text(&name));
		if (level.len)
			tare_str_addf(out, " [%s]", tare_str_text(&level));
	}
	if (!law->count)
		tare_str_add(out, "0");
}

static void laws(const struct tare_fitted *f, const struct tare_unit *unit, struct tare_fit_report *report)
{
	TARE_FREED_HERE size_t *owner = tare_xcalloc(f->data.row_count + 1, sizeof(*owner));

	tare_laws_own(&f->terms, &f->laws, owner);
	report->law_count = f->laws.count;
	report->laws = tare_xcalloc(f->laws.count, sizeof(*report->laws));
	report->cells = tare_xcalloc(f->laws.count, sizeof(*report->cells));
	for (size_t i = 0; i < f->data.row_count; i++)
		report->cells[owner[i]]++;
	for (size_t l = 0; l < f->laws.count; l++) {
		struct tare_str s = { 0 };

		law_text(f, l, owner, unit, &s);
		if (f->is_stairs) {
			tare_str_add(&s, ", rounded up to ");
			tare_unit_add(unit, f->step, &s);
		}
		report->laws[l] = tare_str_steal(&s);
	}
}

/* The mean over all cells of the quantity where the parameter is `value` there. */
static double mean_at(const struct tare_fitted *f, size_t p, double value, bool is_log)
{
	double x[TARE_FIT_PARAMS_MAX], sum = 0;
	size_t n = f->data.row_count;

	for (size_t i = 0; i < n; i++) {
		double v;

		memcpy(x, tare_fit_x(&f->data, i), f->data.param_count * sizeof(double));
		x[p] = value;
		v = tare_laws_at(&f->data, &f->terms, &f->laws, x, NULL);
		sum += is_log ? (v > 0 ? log(v) : 0) : v;
	}
	return sum / (double)n;
}

/* The highest power of a parameter in the laws: 0 none, 1 linear, 2 any curve. */
static int bend(const struct tare_fitted *f, size_t p, bool *is_used)
{
	int most = 0;

	*is_used = false;
	for (size_t l = 0; l < f->laws.count; l++)
		for (size_t k = 0; k < f->laws.law[l].count; k++) {
			int power = f->terms.items[f->laws.law[l].term[k]].of[p];

			*is_used |= power != TARE_POWER_NONE;
			if (power > TARE_POWER_NONE)
				most = power > TARE_POWER_1 ? 2 : most ? most : 1;
		}
	return most;
}

static void number_finding(const struct tare_fitted *f, size_t p, const struct tare_unit *unit,
                           struct tare_fit_finding *out)
{
	const struct tare_fit_param *param = &f->data.params[p];
	double low = mean_at(f, p, param->least, false), high = mean_at(f, p, param->most, false);
	double elastic = 0;
	bool is_used;
	int curve = bend(f, p, &is_used);
	struct tare_str s = { 0 }, step = { 0 };

	if (param->least > 0)
		elastic = (mean_at(f, p, param->most, true) - mean_at(f, p, param->least, true)) /
		          (log(param->most) - log(param->least));
	out->per_step = (high - low) / (param->most - param->least);
	tare_str_add(&step, out->per_step < 0 ? "" : "+");
	tare_unit_add(unit, out->per_step, &step);
	out->kind = !is_used                                         ? TARE_FIT_FINDING_NONE
	            : param->least > 0 && fabs(elastic) < WEAK_BELOW ? TARE_FIT_FINDING_WEAK
	            : curve == 2                                     ? TARE_FIT_FINDING_CURVED
	            : elastic > PROPORTIONAL_ABOVE                   ? TARE_FIT_FINDING_PROPORTIONAL
	                                                             : TARE_FIT_FINDING_LINEAR;
	tare_str_addf(&s, "%s: ", param->name);
	switch (out->kind) {
	case TARE_FIT_FINDING_NONE:
		if (f->strength == TARE_FIT_NO_LAW) {
			tare_str_addf(&s, "no effect that could not be chance between %g and %g", param->least, param->most);
			break;
		}
		tare_str_addf(&s, "no effect between %g and %g", param->least, param->most);
		break;
	case TARE_FIT_FINDING_WEAK:
		tare_str_addf(&s, "weak: %s per step, %+.0f %% from %g to %g", tare_str_text(&step),
		              low > 0 ? 100 * (high / low - 1) : 0, param->least, param->most);
		break;
	case TARE_FIT_FINDING_PROPORTIONAL:
		tare_str_addf(&s, "linear, nearly proportional: %s per step", tare_str_text(&step));
		break;
	case TARE_FIT_FINDING_LINEAR:
		tare_str_addf(&s, "linear, with a part that does not depend on it: %s per step", tare_str_text(&step));
		break;
	default:
		tare_str_addf(&s, "not linear: %.2f times as much at %g as at %g", low > 0 ? high / low : 0, param->most,
		              param->least);
	}
	out->is_assumed = param->level_count == 2 && is_used;
	if (out->is_assumed)
		tare_str_addf(&s, " (by assumption: with two values, %g and %g, the plainest curve was taken)", param->least,
		              param->most);
	out->text = tare_str_steal(&s);
	tare_str_free(&step);
}

static void level_finding(const struct tare_fitted *f, size_t p, const struct tare_unit *unit,
                          struct tare_fit_finding *out)
{
	const struct tare_fit_param *param = &f->data.params[p];
	struct tare_str s = { 0 };
	bool is_used;

	bend(f, p, &is_used);
	out->kind = is_used ? TARE_FIT_FINDING_LEVELS : TARE_FIT_FINDING_NONE;
	tare_str_addf(&s, "%s: ", param->name);
	if (!is_used)
		tare_str_add(&s, f->strength == TARE_FIT_NO_LAW ? "no effect that could not be chance" : "no effect");
	for (size_t l = 0; l < param->level_count && is_used; l++) {
		double v = mean_at(f, p, (double)l, false), first = mean_at(f, p, 0, false);

		if (l == 8) {
			tare_str_addf(&s, ", and %zu more", param->level_count - l);
			break;
		}
		tare_str_addf(&s, "%s%s ", l ? ", " : "", param->levels[l]);
		if (l)
			tare_str_add(&s, v < first ? "" : "+");
		tare_unit_add(unit, l ? v - first : v, &s);
	}
	if (is_used)
		tare_str_add(&s, " on average");
	out->text = tare_str_steal(&s);
}

static void one_value(const struct tare_fit_data *d, size_t p, struct tare_fit_finding *out)
{
	const struct tare_fit_param *param = &d->params[p];
	struct tare_str s = { 0 };

	out->kind = TARE_FIT_FINDING_ONE_VALUE;
	tare_str_addf(&s, "%s: it is ", param->name);
	if (param->is_level)
		tare_str_add(&s, param->level_count ? param->levels[0] : "empty");
	else
		tare_str_addf(&s, "%g", param->least);
	tare_str_add(&s, " everywhere, so nothing can be said of it");
	out->text = tare_str_steal(&s);
}

static void cell_text(const struct tare_fit_data *d, const double *x, struct tare_str *out)
{
	for (size_t p = 0; p < d->param_count; p++) {
		tare_str_addf(out, "%s%s=", p ? " " : "", d->params[p].name);
		if (d->params[p].is_level)
			tare_str_add(out, d->params[p].levels[(size_t)x[p]]);
		else
			tare_str_addf(out, "%g", x[p]);
	}
}

/* Cells that the law misses by far: growth may begin there that too few cells show. */
static void missed(const struct tare_problem *p, const struct tare_fitted *f, struct tare_fit_report *report)
{
	const struct tare_fit_data *d = &f->data;
	struct tare_unit unit = tare_unit_of(p);
	size_t count = 0, worst = 0;
	double most = 0;

	for (size_t i = 0; i < d->row_count; i++) {
		struct tare_prediction got;
		double off;

		tare_fit_predict(f, tare_fit_x(d, i), &got);
		off = fabs(d->y[i] - got.value) / d->scale[i];
		count += off > 5 * f->error;
		if (off > most) {
			most = off;
			worst = i;
		}
	}
	if (count) {
		TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

		tare_unit_add(&unit, d->y[worst], &s);
		tare_str_add(&s, " at ");
		cell_text(d, tare_fit_x(d, worst), &s);
		caution(report,
		        "the law misses %zu cells by far (%s): something may begin there that too few cells "
		        "show, so beyond them neither the law nor its interval holds; run more cells there",
		        count, tare_str_text(&s));
	}
}

static void below_nothing(const struct tare_fit_data *d, struct tare_fit_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < d->row_count; i++)
		count += d->y[i] < 0;
	if (count)
		caution(report,
		        "%zu of %zu cells are below 0: a law is a sum of what things take and does not follow "
		        "them there",
		        count, d->row_count);
}

static void astray(const struct tare_problem *p, struct tare_fit_report *report)
{
	struct tare_unit unit = tare_unit_of(p);
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	tare_unit_add(&unit, p->astray_least, &s);
	tare_str_add(&s, " to ");
	tare_unit_add(&unit, p->astray_most, &s);
	tare_str_add(&s, p->param_count ? " at " : "");
	cell_text(&p->data, tare_fit_x(&p->data, p->astray_cell), &s);
	caution(report, "in %zu %s a repeat is more than %.0f %% off the others (%s): %s%s%s; %s is taken", p->astray,
	        p->astray == 1 ? "cell" : "cells", 100 * TARE_PROBLEM_ASTRAY, tare_str_text(&s),
	        p->lacking ? "the rows differ in more, such as " : "look at what went wrong there",
	        p->lacking ? p->lacking : "", p->lacking ? ", which the cells to predict do not say" : "",
	        p->is_bytes ? "the middle one" : "the mean of a cell");
}

/* Rivals stand in groups of three: the middle of a term's region, then both its ends. */
static void climbed(const struct tare_problem *p, const struct tare_fitted *f, struct tare_fit_report *report)
{
	struct tare_unit unit = tare_unit_of(p);
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };
	double least = f->most;

	for (size_t i = 0; i < f->data.row_count; i++)
		least = f->data.y[i] < least ? f->data.y[i] : least;
	tare_str_add(&s, "the cells show steps from ");
	tare_unit_add(&unit, least, &s);
	tare_str_add(&s, " to ");
	tare_unit_add(&unit, f->most, &s);
	tare_str_add(&s, " only: the law may climb by ");
	tare_unit_add(&unit, f->rival[1].law[0].coef[1], &s);
	tare_str_add(&s, " to ");
	tare_unit_add(&unit, f->rival[2].law[0].coef[1], &s);
	for (size_t i = 3; i < f->rival_count; i += 3) {
		tare_str_add(&s, i == 3 ? ", or with " : " or ");
		tare_term_name(&f->data, &f->terms.items[f->rival[i].law[0].term[1]], &s);
	}
	caution(report, "%s; run cells higher up", tare_str_text(&s));
}

/* How far the law is one. */
static void strength(const struct tare_problem *p, const struct tare_fitted *f, struct tare_fit_report *report)
{
	struct tare_unit unit = tare_unit_of(p);
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	if (f->strength == TARE_FIT_WEAK_LAW)
		caution(report,
		        "a weak law: on cells left out it is wrong by %.0f %% of what their middle is wrong "
		        "by; repeat cells, or name what else differs between them",
		        100 * (1 - f->explained));
	if (f->strength != TARE_FIT_NO_LAW)
		return;
	tare_unit_add(&unit, f->middle_low, &s);
	tare_str_add(&s, " to ");
	tare_unit_add(&unit, f->middle_high, &s);
	caution(report,
	        "no law: nothing that the parameters say of %s could not be chance, so the middle of the "
	        "%zu cells is answered (9 of 10 are %s); repeat cells, or name what else differs "
	        "between them",
	        p->target, f->data.row_count, tare_str_text(&s));
}

static void say_of_twins(void *report, const char *sentence)
{
	caution(report, "%s", sentence);
}

static void cautions(const struct tare_problem *p, const struct tare_fitted *f, struct tare_fit_report *report)
{
	size_t cells = p->data.row_count, varied = 0;

	for (size_t i = 0; i < p->param_count; i++)
		varied += p->params[i].level_count > 1;
	strength(p, f, report);
	if (cells == 1)
		caution(report, "one cell: how %s changes cannot be said", p->target);
	else if (!f->free_count)
		caution(report,
		        "too few data: %zu cells determine as many coefficients, so the interval (±10 %%) is a "
		        "guess",
		        cells);
	else if (f->free_count < 3)
		caution(report, "few data: %zu cells beyond the %zu that determine the law", f->free_count,
		        cells - f->free_count);
	if (cells == 2 && varied)
		caution(report, "two cells make a law only by assumption: the plainest one was taken");
	if (varied > 1 && cells < 2 * varied + 1)
		caution(report, "%zu parameters vary over %zu cells: their parts cannot be told apart surely", varied, cells);
	if (p->astray)
		astray(p, report);
	below_nothing(&p->data, report);
	tare_fit_twins(f, say_of_twins, report);
	if (p->left_out)
		caution(report, "%zu rows without a number for %s or without a parameter are left out", p->left_out, p->target);
	if (f->is_stairs)
		climbed(p, f, report);
	else if (f->strength != TARE_FIT_NO_LAW)
		missed(p, f, report);
	for (size_t i = 0; i < p->note_count; i++)
		caution(report, "%s", p->notes[i]);
}

/* Without a law it helps most to know how much a cell differs from itself. */
static void same_cell(const struct tare_fitted *f, struct tare_fit_report *report)
{
	const struct tare_fit_data *d = &f->data;
	struct tare_str s = { 0 };
	size_t least = 0;

	for (size_t i = 0; i < d->row_count; i++) {
		if (d->weight[i] > 1)
			return;
		least = d->y[i] < d->y[least] ? i : least;
	}
	cell_text(d, tare_fit_x(d, least), &s);
	report->next = tare_str_steal(&s);
	tare_str_add(&s, "again: no cell was run twice");
	report->next_why = tare_str_steal(&s);
}

/* The cell beyond the measured ones that is least sure: one parameter doubled. */
static void next_cell(const struct tare_fitted *f, struct tare_fit_report *report)
{
	const struct tare_fit_data *d = &f->data;
	double x[TARE_FIT_PARAMS_MAX], best = 0, kept[TARE_FIT_PARAMS_MAX];
	struct tare_str s = { 0 }, why = { 0 };
	size_t start = 0, chosen = 0;

	for (size_t i = 0; i < d->row_count; i++) /* the smallest cell: the cheapest to run */
		start = d->y[i] < d->y[start] ? i : start;
	for (size_t p = 0; p < d->param_count; p++) {
		struct tare_prediction got;
		double unsure;

		if (d->params[p].is_level || !(d->params[p].most > 0))
			continue;
		memcpy(x, tare_fit_x(d, start), d->param_count * sizeof(double));
		x[p] = 2 * d->params[p].most;
		tare_fit_predict(f, x, &got);
		unsure = got.value > 0 ? (got.high - got.low) / got.value : 0;
		if (d->params[p].level_count < 3) /* an assumed law, or none */
			unsure += d->params[p].level_count < 2 ? 10 : 1;
		if (unsure > best) {
			best = unsure;
			chosen = p;
			memcpy(kept, x, sizeof(kept));
		}
	}
	if (!(best > 0))
		return;
	cell_text(d, kept, &s);
	report->next = tare_str_steal(&s);
	tare_str_addf(&why,
	              d->params[chosen].level_count < 2   ? "%s had one value"
	              : d->params[chosen].level_count < 3 ? "%s had two values"
	                                                  : "the law is least sure beyond the greatest %s",
	              d->params[chosen].name);
	report->next_why = tare_str_steal(&why);
}

void tare_fit_report_make(const struct tare_problem *p, const struct tare_fitted *f, struct tare_fit_report *out)
{
	struct tare_unit unit = tare_unit_of(p);

	memset(out, 0, sizeof(*out));
	laws(f, &unit, out);
	out->finding_count = p->param_count;
	out->findings = tare_xcalloc(p->param_count + 1, sizeof(*out->findings));
	for (size_t i = 0; i < p->param_count; i++) {
		out->findings[i].param = p->params[i].name;
		if (p->params[i].level_count < 2)
			one_value(&p->data, i, &out->findings[i]);
		else if (p->params[i].is_level)
			level_finding(f, i, &unit, &out->findings[i]);
		else
			number_finding(f, i, &unit, &out->findings[i]);
	}
	cautions(p, f, out);
	if (f->strength == TARE_FIT_NO_LAW)
		same_cell(f, out);
	else
		next_cell(f, out);
}
