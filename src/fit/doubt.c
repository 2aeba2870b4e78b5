/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects what laws may lack. Three things: a term more; another term in the place of one; another phase, which has what a law has but one
 * term, and another term for that, and is less than was measured in every cell. How likely each kind is was chosen on half of the families of
 * made-up sweeps (tests/bench/made_up_sweeps.py); the other half says whether that holds.
 */
#include "fit/doubt.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"
#include "fit/belief.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The terms: products of numbers, at most one of them squared or cubed. */
enum { DEGREE_MAX = 5, POWER_MAX = 3, KEPT_MAX = 1000 };

/* How likely all terms more are, all other terms for one, and all other phases, where the laws as they are have 1. */
static const double lacking = 2, other_term = 1, other_phase = 0.2;
static const double plain = 0.3;       /* a term is so much less likely, as a logarithm, for each factor and power */
static const double least = -14;       /* logarithm of what is too unlikely to count */
static const double most_sure = 20;    /* and of what is sure */
static const double deviation = 1.645; /* 90 of 100 are within so many standard deviations */

static const size_t none = SIZE_MAX;

struct making {
	const struct tare_fitted *f;
	size_t *owner;  /* the law that is greatest, per cell */
	double *column; /* of one term */
	double prior;   /* the sum over all terms */
	struct tare_doubt *items;
	size_t count, cap;
};

/* A law, perhaps without one of its terms, in which a term is looked for. */
struct frame {
	size_t law, without;
	bool is_phase;
	double weight;    /* of all terms together */
	double reference; /* the evidence for the term that it is without */
	struct tare_linear fit;
	size_t at[TARE_LAW_TERMS_MAX];    /* per column: the number of the term in the law */
	double coef[TARE_LAW_TERMS_MAX];  /* per column */
	bool is_free[TARE_LAW_TERMS_MAX]; /* per column */
};

/* As a logarithm. */
static double likely(const struct tare_fit_data *d, const struct tare_term *t)
{
	static const double unusual[TARE_POWER_COUNT] = {
		[TARE_POWER_2] = 0.5,       [TARE_POWER_3] = 1.5,   [TARE_POWER_HALF] = 2,
		[TARE_POWER_INVERSE] = 4.0, [TARE_POWER_LOG] = 2.0,
	};
	double sum = 0;

	for (size_t p = 0; p < d->param_count; p++)
		if (t->of[p])
			sum += 1 + (d->params[p].is_level ? 0 : unusual[t->of[p]]);
	return -plain * (sum > 1 ? sum - 1 : 0);
}

static bool has_term(const struct tare_fitted *f, size_t law, const struct tare_term *t)
{
	for (size_t k = 0; k < f->laws.law[law].count; k++)
		if (!memcmp(&f->terms.items[f->laws.law[law].term[k]], t, sizeof(*t)))
			return true;
	return false;
}

static struct tare_doubt *add(struct making *m, const struct frame *g, const struct tare_term *t, double weight)
{
	struct tare_doubt *out;

	out = &TARE_APPEND(m->items, m->count, m->cap);
	*out = (struct tare_doubt){ .term = *t, .law = g->law, .is_phase = g->is_phase, .weight = g->weight * exp(weight) };
	return out;
}

/* Fills m->column with the law's own cells; returns the coefficient with which the term is all of a cell; 0: it cannot be. */
static double column_of(struct making *m, size_t law, const struct tare_term *t)
{
	const struct tare_fit_data *d = &m->f->data;
	double most = INFINITY;
	size_t at = 0;

	for (size_t i = 0; i < d->row_count; i++) {
		double v = tare_term_value(d, t, tare_fit_x(d, i)) / d->scale[i];

		if (!(fabs(v) < 1e100))
			return 0;
		if (v > 0 && d->y[i] / d->scale[i] < most * v)
			most = d->y[i] / d->scale[i] / v;
		if (m->owner[i] == law)
			m->column[at++] = v;
	}
	return most < INFINITY && most > 0 ? most : 0;
}

static bool believe(struct making *m, const struct frame *g, const struct tare_term *t, struct tare_belief *out)
{
	double most = column_of(m, g->law, t);
	struct tare_belief_ask ask = { .fit = &g->fit,
		                           .coef = g->coef,
		                           .is_free = g->is_free,
		                           .column = m->column,
		                           .most = most,
		                           .noise = m->f->error / deviation };

	return most > 0 && tare_belief_make(&ask, out);
}

/* The term in the law, with what the cells say of its coefficient. */
static void consider(struct making *m, const struct frame *g, const struct tare_term *t)
{
	struct tare_belief b;
	struct tare_doubt *out;
	double weight;

	if (!believe(m, g, t, &b))
		return;
	weight = b.evidence - g->reference + likely(&m->f->data, t);
	if (!(weight > least))
		return;
	out = add(m, g, t, weight < most_sure ? weight : most_sure);
	for (size_t k = 0; k < g->fit.count; k++) {
		out->base[g->at[k]] = g->coef[k];
		out->instead[g->at[k]] = b.instead[k];
	}
	for (int i = 0; i < TARE_DOUBT_COEFS; i++)
		out->coefs[i] = tare_belief_at(&b, (i + 0.5) / TARE_DOUBT_COEFS);
}

/* The term in a phase of its own: up to where the phase would be more than was measured in some cell. */
static void hide(struct making *m, const struct frame *g, const struct tare_term *t)
{
	const struct tare_fit_data *d = &m->f->data;
	const struct tare_law *law = &m->f->laws.law[g->law];
	double most = INFINITY, more = law->coef[g->without];
	const struct tare_term *dropped = &m->f->terms.items[law->term[g->without]];
	struct tare_doubt *out;

	for (size_t i = 0; i < d->row_count; i++) {
		const double *x = tare_fit_x(d, i);
		double rest = d->y[i] - tare_law_at(d, &m->f->terms, law, x) + more * tare_term_value(d, dropped, x);
		double v = tare_term_value(d, t, x);

		if (v > 0 && rest < most * v)
			most = rest / v;
	}
	if (!(most > 0) || !(most < INFINITY))
		return;
	out = add(m, g, t, likely(d, t));
	memcpy(out->base, law->coef, law->count * sizeof(*law->coef));
	out->base[g->without] = 0;
	for (int i = 0; i < TARE_DOUBT_COEFS; i++)
		out->coefs[i] = most * (i + 0.5) / TARE_DOUBT_COEFS;
}

/* Every term, in the frame; without a frame only their sum is taken. */
static void terms(struct making *m, const struct frame *g, size_t p, struct tare_term *t, int degree, bool is_bent)
{
	const struct tare_fit_data *d = &m->f->data;

	while (p < d->param_count && (d->params[p].is_level || d->params[p].level_count < 2))
		p++;
	if (p == d->param_count) {
		if (!g)
			m->prior += exp(likely(d, t));
		else if (!has_term(m->f, g->law, t))
			(g->is_phase ? hide : consider)(m, g, t);
		return;
	}
	for (int power = 0; power <= POWER_MAX && degree + power <= DEGREE_MAX; power++) {
		if (is_bent && power > 1)
			break;
		t->of[p] = (uint8_t)power; /* TARE_POWER_NONE, _1, _2, _3 */
		terms(m, g, p + 1, t, degree + power, is_bent || power > 1);
		t->of[p] = 0;
	}
}

static bool add_columns(struct making *m, struct frame *g)
{
	const struct tare_fitted *f = m->f;
	const struct tare_law *law = &f->laws.law[g->law];
	size_t n = f->data.row_count;

	for (size_t k = 0; k < law->count; k++) {
		size_t at = 0;

		if (k == g->without)
			continue;
		for (size_t i = 0; i < n; i++)
			if (m->owner[i] == g->law)
				m->column[at++] = f->terms.values[law->term[k] * n + i];
		g->at[g->fit.count] = k;
		g->is_free[g->fit.count] = f->terms.items[law->term[k]].is_minus;
		if (!tare_linear_add(&g->fit, m->column))
			return false;
	}
	return true;
}

/* False: the cells cannot tell the law's own coefficients, so they say nothing of another. */
static bool begin(struct making *m, struct frame *g)
{
	const struct tare_fitted *f = m->f;
	const struct tare_term *dropped;
	struct tare_belief b;
	size_t count = 0;

	for (size_t i = 0; i < f->data.row_count; i++)
		if (m->owner[i] == g->law)
			m->column[count++] = f->data.y[i] / f->data.scale[i];
	tare_linear_begin(&g->fit, m->column, count);
	if (!count || !add_columns(m, g))
		return false;
	tare_linear_solve(&g->fit, g->coef);
	if (g->without == none)
		return true;
	dropped = &f->terms.items[f->laws.law[g->law].term[g->without]];
	if (dropped->is_minus || !believe(m, g, dropped, &b))
		return false;
	g->reference = b.evidence + likely(&f->data, dropped);
	return true;
}

static void doubt(struct making *m, size_t law, size_t without)
{
	const struct tare_laws *laws = &m->f->laws;
	struct frame g = { .law = law, .without = without };
	struct tare_term t = { 0 };

	if (begin(m, &g)) {
		g.weight = without == none ? lacking / m->prior : other_term;
		terms(m, &g, 0, &t, 0, false);
	}
	tare_linear_end(&g.fit);
	if (without == none)
		return;
	g.is_phase = true;
	g.weight = other_phase / m->prior / (double)(laws->law[law].count * laws->count);
	terms(m, &g, 0, &t, 0, false);
}

TARE_COMPARATOR(by_weight, struct tare_doubt, TARE_FALLING(weight))

static void keep(struct making *m, struct tare_arena *arena, struct tare_doubts *out)
{
	double sum = 1; /* the laws as they are */

	TARE_SORT(m->items, m->count, by_weight);
	for (size_t i = 0; i < m->count; i++)
		sum += m->items[i].weight;
	out->count = m->count < KEPT_MAX ? m->count : KEPT_MAX;
	out->items = tare_arena_alloc(arena, (out->count + 1) * sizeof(*out->items));
	for (size_t i = 0; i < out->count; i++) {
		out->items[i] = m->items[i];
		out->items[i].weight /= sum;
	}
}

void tare_doubts_make(const struct tare_fitted *f, struct tare_arena *arena, struct tare_doubts *out)
{
	struct making m = { .f = f };
	size_t n = f->data.row_count;

	m.column = tare_xcalloc(n + 1, sizeof(*m.column));
	m.owner = tare_xcalloc(n + 1, sizeof(*m.owner));
	tare_laws_own(&f->terms, &f->laws, m.owner);
	terms(&m, NULL, 0, &(struct tare_term){ 0 }, 0, false);
	for (size_t l = 0; l < f->laws.count; l++) {
		doubt(&m, l, none);
		for (size_t k = 0; k < f->laws.law[l].count; k++)
			doubt(&m, l, k);
	}
	*out = (struct tare_doubts){ 0 };
	if (m.count)
		keep(&m, arena, out);
	free(m.items);
	free(m.owner);
	free(m.column);
}
