/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the terms of one law: adds, swaps and removes terms as long as a penalised error gets smaller, and fits
 * their coefficients.
 */
#include "fit/law.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row that alone determines a coefficient cannot check it: its error counts as this much. */
#define ERROR_ALONE 0.1

/* A curve that brings less than this anywhere follows noise, and explodes beyond what was measured. */
#define CURVE_LEAST 0.05
#define TERM_LEAST  0.002

/*
 * Where terms² × cells is less, every term is tried as the first one: the best pair of terms need not hold the
 * best single term.
 */
#define SEEDED_BELOW 2e6
#define NO_SEED      ((size_t)-1)

enum { POLISH_ROUNDS = 3, POLISH_TRIES = 4 };
enum { TRIES = 8 }; /* candidates tried in one step: the best ones may need a coefficient below 0 */

struct choosing {
	const struct tare_fit_data *d;
	const struct tare_terms *terms;
	const size_t *of; /* the rows of the data that are fitted */
	size_t *group;    /* the group of each row, by the parameters in group_mask */
	uint32_t group_mask;
	struct tare_linear_groups groups;
	double *factor, *error; /* per row: factor is 1 / its scale, error is found by judge() */
	const bool *known;      /* shapes that other laws have */
	size_t rows;
	double *y, *columns;  /* of the rows chosen: terms->count × rows */
	double *norm;         /* squared norm of each column */
	double *left, *along; /* per column: squared norm of its part outside the basis; its product with the rest */
	struct tare_linear fit;
};

struct choice {
	size_t count;
	size_t term[TARE_LAW_TERMS_MAX];
	double coef[TARE_LAW_TERMS_MAX];
	double score;
};

static double product(const double *a, const double *b, size_t n)
{
	double s0 = 0, s1 = 0;
	size_t i = 0;

	for (; i + 2 <= n; i += 2) {
		s0 += a[i] * b[i];
		s1 += a[i + 1] * b[i + 1];
	}
	return i < n ? s0 + s1 + a[i] * b[i] : s0 + s1;
}

static const double *column(const struct choosing *c, size_t term)
{
	return c->columns + term * c->rows;
}

static void begin(struct choosing *c, const struct tare_fit_data *d, const struct tare_terms *terms, const size_t *rows,
                  size_t count)
{
	*c = (struct choosing){ .d = d, .terms = terms, .of = rows, .rows = count, .group_mask = UINT32_MAX };
	c->group = tare_xcalloc(count + 1, sizeof(*c->group));
	c->factor = tare_xcalloc(4 * count + 1, sizeof(double));
	c->error = c->factor + count;
	c->groups.of = c->group;
	c->groups.factor = c->factor;
	c->groups.sums = c->error + count;
	c->y = tare_xcalloc(count + 1, sizeof(double));
	c->columns = tare_xcalloc(terms->count * count + 1, sizeof(double));
	c->norm = tare_xcalloc(3 * terms->count + 1, sizeof(double));
	c->left = c->norm + terms->count;
	c->along = c->left + terms->count;
	for (size_t i = 0; i < count; i++) {
		c->y[i] = d->y[rows[i]] / d->scale[rows[i]];
		c->factor[i] = 1 / d->scale[rows[i]];
	}
	for (size_t t = 0; t < terms->count; t++) {
		double *to = c->columns + t * count;
		const double *from = terms->values + t * terms->row_count;

		for (size_t i = 0; i < count; i++)
			to[i] = from[rows[i]];
		c->norm[t] = product(to, to, count);
	}
	tare_linear_begin(&c->fit, c->y, count);
}

static void end(struct choosing *c)
{
	tare_linear_end(&c->fit);
	free(c->y);
	free(c->columns);
	free(c->norm);
	free(c->group);
	free(c->factor);
}

/* Computes `left` and `along` anew, for the columns that are in the basis now. */
static void aim(struct choosing *c)
{
	for (size_t t = 0; t < c->terms->count; t++) {
		c->left[t] = c->norm[t];
		c->along[t] = c->norm[t] > 0 ? product(column(c, t), c->fit.rest, c->rows) : 0;
		for (size_t k = 0; k < c->fit.count; k++) {
			double part = product(column(c, t), c->fit.q[k], c->rows);

			c->left[t] -= part * part;
		}
	}
}

/* Brings `left` and `along` up to date after one tare_linear_add(). */
static void aim_on(struct choosing *c)
{
	size_t k = c->fit.count - 1;

	for (size_t t = 0; t < c->terms->count; t++) {
		double part;

		if (!(c->left[t] > 0))
			continue;
		part = product(column(c, t), c->fit.q[k], c->rows);
		c->left[t] -= part * part;
		c->along[t] -= part * c->fit.qy[k];
	}
}

/* What a term costs beside the first `count` of `others`. */
static double cost(const struct choosing *c, size_t t, const size_t *others, size_t count)
{
	const struct tare_terms *terms = c->terms;

	if (c->known && c->known[terms->shape[t]])
		return terms->cost_again[t];
	for (size_t k = 0; k < count; k++)
		if (terms->shape[others[k]] == terms->shape[t])
			return terms->cost_again[t];
	return terms->cost[t];
}

static double costs(const struct choosing *c, const size_t *term, size_t count)
{
	double sum = 0;

	for (size_t k = 0; k < count; k++)
		sum += cost(c, term[k], term, k);
	return sum;
}

static double penalty(size_t rows)
{
	return log((double)(rows < 8 ? 8 : rows));
}

/* The score of the columns in the basis: errors on rows left out, and the cost of the terms. */
static double judge(struct choosing *c, const size_t *term)
{
	double sum = 0, n = (double)c->rows;
	uint32_t mask = 0;

	for (size_t k = 0; k < c->fit.count; k++)
		mask |= c->terms->mask[term[k]];
	if (mask != c->group_mask)
		c->groups.count = tare_fit_data_group(c->d, mask, c->of, c->rows, c->group);
	c->group_mask = mask;

	tare_linear_left_out(&c->fit, c->fit.rest, &c->groups, ERROR_ALONE, c->error);
	for (size_t i = 0; i < c->rows; i++)
		sum += c->error[i] * c->error[i];
	return n * log(sum / n + tare_law_floor(c->rows)) + penalty(c->rows) * costs(c, term, c->fit.count);
}

/* The greatest share of the quantity that a term makes up in any row. */
static double brings(const struct choosing *c, size_t term, double coef)
{
	const double *v = column(c, term);
	double most = 0;

	for (size_t i = 0; i < c->rows; i++) {
		double share = fabs(coef * v[i]) / (fabs(c->y[i]) + 1e-300);

		most = share > most ? share : most;
	}
	return most;
}

/* Solves for the coefficients. True: all are above 0, and no term is only noise. */
static bool is_sensible(const struct choosing *c, const size_t *term, double *coef)
{
	tare_linear_solve(&c->fit, coef);
	for (size_t k = 0; k < c->fit.count; k++)
		if (!(coef[k] > 0))
			return false;
	for (size_t k = 0; k < c->fit.count; k++)
		if (brings(c, term[k], coef[k]) < (c->terms->is_curved[term[k]] ? CURVE_LEAST : TERM_LEAST))
			return false;
	return true;
}

/* The TRIES terms that promise most, best first. */
static size_t promising(const struct choosing *c, const size_t *term, size_t *best)
{
	double worth[TRIES], n = (double)c->rows;
	double rss = product(c->fit.rest, c->fit.rest, c->rows);
	double floor = n * tare_law_floor(c->rows);
	double penalty_n = penalty(c->rows) / n;
	size_t count = 0;

	for (size_t t = 0; t < c->terms->count; t++) {
		double gain, w;
		size_t at;

		if (!(c->along[t] > 0) || !(c->left[t] > c->norm[t] * 1e-9))
			continue;
		gain = c->along[t] * c->along[t] / c->left[t];
		if (gain > rss)
			gain = rss;
		/* The same order as of n·log(rss − gain) + cost·log n, without a log for each. */
		w = (rss - gain + floor) * (1 + cost(c, t, term, c->fit.count) * penalty_n);
		if (count == TRIES && w >= worth[TRIES - 1])
			continue;
		at = count < TRIES ? count++ : TRIES - 1;
		for (; at > 0 && worth[at - 1] > w; at--) {
			worth[at] = worth[at - 1];
			best[at] = best[at - 1];
		}
		worth[at] = w;
		best[at] = t;
	}
	return count;
}

/* Puts the first of the promising terms that lets all coefficients be positive into the basis. */
static bool step(struct choosing *c, size_t *term, double *coef)
{
	size_t best[TRIES], count = promising(c, term, best);

	for (size_t i = 0; i < count; i++) {
		size_t k = c->fit.count;

		if (!tare_linear_add(&c->fit, column(c, best[i])))
			continue;
		term[k] = best[i];
		if (is_sensible(c, term, coef))
			return true;
		for (size_t j = 0; j < c->rows; j++) /* takes the column out of the basis again */
			c->fit.rest[j] += c->fit.qy[k] * c->fit.q[k][j];
		c->fit.count--;
	}
	return false;
}

static void keep(const struct choosing *c, const size_t *term, const double *coef, double score, struct choice *out)
{
	out->count = c->fit.count;
	out->score = score;
	memcpy(out->term, term, c->fit.count * sizeof(*term));
	memcpy(out->coef, coef, c->fit.count * sizeof(*coef));
}

/* Adds one term at a time to the basis, beginning with the term `seed` (NO_SEED: with none). */
static void forward(struct choosing *c, size_t seed, size_t terms_max, struct choice *best)
{
	size_t term[TARE_LAW_TERMS_MAX], poorer = 0;
	double coef[TARE_LAW_TERMS_MAX];

	tare_linear_restart(&c->fit, c->y);
	if (seed != NO_SEED) {
		double score;

		term[0] = seed;
		if (!tare_linear_add(&c->fit, column(c, seed)) || !is_sensible(c, term, coef))
			return;
		score = judge(c, term);
		if (score < best->score)
			keep(c, term, coef, score, best);
	}
	aim(c);
	while (c->fit.count < terms_max && poorer < 3 && step(c, term, coef)) {
		double score = judge(c, term);

		poorer++;
		if (score < best->score) {
			keep(c, term, coef, score, best);
			poorer = 0;
		}
		aim_on(c);
	}
}

/* Makes the basis of all terms of `from` but term number `without`. */
static bool rebuild(struct choosing *c, const struct choice *from, size_t without, size_t *term)
{
	tare_linear_restart(&c->fit, c->y);
	for (size_t k = 0; k < from->count; k++) {
		if (k == without)
			continue;
		term[c->fit.count] = from->term[k];
		if (!tare_linear_add(&c->fit, column(c, from->term[k])))
			return false;
	}
	return true;
}

/* Removes a term, replaces one or adds one, while the score gets better. */
static void improve(struct choosing *c, size_t terms_max, struct choice *best)
{
	for (int round = 0; round < 8; round++) {
		struct choice now = *best;
		bool is_better = false;

		for (size_t k = 0; k <= now.count; k++) { /* k == count: adds a term */
			size_t term[TARE_LAW_TERMS_MAX];
			double coef[TARE_LAW_TERMS_MAX], score;

			if (!rebuild(c, &now, k, term))
				continue;
			if (k < now.count && c->fit.count && is_sensible(c, term, coef)) {
				score = judge(c, term);
				if (score < best->score - 1e-9) {
					keep(c, term, coef, score, best);
					is_better = true;
				}
			}
			if (c->fit.count >= terms_max)
				continue;
			aim(c);
			if (!step(c, term, coef))
				continue;
			score = judge(c, term);
			if (score < best->score - 1e-9) {
				keep(c, term, coef, score, best);
				is_better = true;
			}
		}
		if (!is_better)
			return;
	}
}

/*
 * Removes terms until the coefficients are sensible, the least sensible term first. False: no term is left.
 */
static bool prune(struct choosing *c, size_t *term, double *coef)
{
	while (c->fit.count && !is_sensible(c, term, coef)) {
		struct choice rest = { .count = c->fit.count };
		size_t worst = 0;
		double least = 1e300;

		for (size_t k = 0; k < rest.count; k++) {
			double b = coef[k] > 0
			               ? brings(c, term[k], coef[k]) / (c->terms->is_curved[term[k]] ? CURVE_LEAST : TERM_LEAST)
			               : coef[k] - 1;

			rest.term[k] = term[k];
			if (b < least) {
				least = b;
				worst = k;
			}
		}
		if (!rebuild(c, &rest, worst, term))
			return false;
	}
	return c->fit.count > 0;
}

/* Prunes the basis, and then adds one term at a time while the score gets better. */
static void grow(struct choosing *c, size_t terms_max, size_t *term, struct choice *best)
{
	double coef[TARE_LAW_TERMS_MAX], before = 1e300, score;

	if (!prune(c, term, coef))
		return;
	for (;;) {
		score = judge(c, term);
		if (score < best->score - 1e-9)
			keep(c, term, coef, score, best);
		if (!(score < before) || c->fit.count >= terms_max)
			return;
		before = score;
		aim(c);
		if (!step(c, term, coef))
			return;
	}
}

/*
 * As improve(), but an exchange may make other terms needless and call for further ones: the way out
 * of sets in which no single exchange is better.
 */
static void polish(struct choosing *c, size_t terms_max, struct choice *best)
{
	for (int round = 0; round < POLISH_ROUNDS; round++) {
		struct choice now = *best;

		for (size_t k = 0; k <= now.count; k++) {
			size_t term[TARE_LAW_TERMS_MAX], tries[TRIES], count;

			if (!rebuild(c, &now, k, term))
				continue;
			aim(c);
			count = promising(c, term, tries);
			for (size_t i = 0; i < count && i < POLISH_TRIES; i++) {
				if (!rebuild(c, &now, k, term) || c->fit.count >= terms_max)
					break;
				term[c->fit.count] = tries[i];
				if (tare_linear_add(&c->fit, column(c, tries[i])))
					grow(c, terms_max, term, best);
			}
		}
		if (!(best->score < now.score - 1e-9))
			return;
	}
}

void tare_law_polish(const struct tare_fit_data *d, const struct tare_terms *terms, const size_t *rows, size_t count,
                     const bool *known, struct tare_law *law)
{
	struct choosing c;
	struct choice start = { .count = law->count }, best = { .score = 1e300 };
	size_t terms_max = count > 1 ? count - 1 : 1, term[TARE_LAW_TERMS_MAX];

	begin(&c, d, terms, rows, count);
	c.known = known;
	memcpy(start.term, law->term, sizeof(start.term));
	if (rebuild(&c, &start, start.count, term))
		grow(&c, start.count, term, &best);
	if (best.count)
		polish(&c, terms_max > TARE_LAW_TERMS_MAX ? TARE_LAW_TERMS_MAX : terms_max, &best);
	end(&c);
	if (!best.count)
		return;
	law->count = best.count;
	memcpy(law->term, best.term, sizeof(best.term));
	memcpy(law->coef, best.coef, sizeof(best.coef));
}

void tare_law_select(const struct tare_fit_data *d, const struct tare_terms *terms, const size_t *rows, size_t count,
                     const bool *known, size_t terms_max, bool is_thorough, struct tare_law *out)
{
	struct choosing c;
	struct choice best = { .score = 1e300 };

	if (terms_max > TARE_LAW_TERMS_MAX)
		terms_max = TARE_LAW_TERMS_MAX;
	if (terms_max >= count)
		terms_max = count > 1 ? count - 1 : 1;
	begin(&c, d, terms, rows, count);
	c.known = known;
	forward(&c, NO_SEED, terms_max, &best);
	if (is_thorough) {
		double work = (double)terms->count * (double)terms->count * (double)count;
		size_t seeds = work < SEEDED_BELOW ? terms->count : 1; /* 1: the constant */

		for (size_t seed = 0; seed < seeds; seed++)
			forward(&c, seed, terms_max, &best);
		if (best.count)
			improve(&c, terms_max, &best);
	}
	end(&c);
	out->count = best.count;
	memcpy(out->term, best.term, sizeof(best.term));
	memcpy(out->coef, best.coef, sizeof(best.coef));
}

void tare_law_refit(const struct tare_fit_data *d, const struct tare_terms *terms, const size_t *rows, size_t count,
                    struct tare_law *law)
{
	double *y = tare_xcalloc(2 * count + 1, sizeof(double)), *one = y + count;
	struct tare_linear fit;
	bool is_whole = false;

	for (size_t i = 0; i < count; i++)
		y[i] = d->y[rows[i]] / d->scale[rows[i]];
	tare_linear_begin(&fit, y, count);
	while (!is_whole && law->count) {
		size_t worst = 0, kept = 0;

		tare_linear_restart(&fit, y);
		for (size_t k = 0; k < law->count; k++) {
			const double *from = terms->values + law->term[k] * terms->row_count;

			for (size_t i = 0; i < count; i++)
				one[i] = from[rows[i]];
			if (tare_linear_add(&fit, one))
				law->term[kept++] = law->term[k];
		}
		law->count = kept;
		tare_linear_solve(&fit, law->coef);
		for (size_t k = 1; k < kept; k++)
			if (law->coef[k] < law->coef[worst])
				worst = k;
		is_whole = !kept || law->coef[worst] > 0;
		if (!is_whole) {
			memmove(law->term + worst, law->term + worst + 1, (kept - worst - 1) * sizeof(*law->term));
			law->count--;
		}
	}
	tare_linear_end(&fit);
	free(y);
}
