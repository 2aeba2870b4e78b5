/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_LAW_H
#define TARE_FIT_LAW_H

#include "fit/linear.h"
#include "fit/term.h"

/* A law: a sum of few terms with coefficients above 0. */
struct tare_law {
	size_t count;
	size_t term[TARE_LAW_TERMS_MAX]; /* of the dictionary */
	double coef[TARE_LAW_TERMS_MAX];
};

enum { TARE_LAWS_MAX = 4 };

/* A quantity is the greatest of few laws: of what each phase of the program would take. */
struct tare_laws {
	size_t count;
	struct tare_law law[TARE_LAWS_MAX];
	double error; /* mean square of relative errors on rows left out */
	double cost;  /* of terms and laws */
	/* of `error` and `cost`; lower is better; comparable for the same data only */
	double score;
};

/*
 * The error, as a share of the quantity and squared, below which no law is preferred to another. Few cells
 * show less of their noise, so a law must not be chosen for following it.
 */
static inline double tare_law_floor(size_t rows)
{
	double share = 5e-4 + 0.1 / (double)(rows ? rows * rows : 1);

	return share * share;
}

/*
 * The law that explains the given rows best: chosen by the errors it makes on rows that it was
 * fitted without, and by how plain it is. known: shapes that other laws have (or NULL). Thorough: also exchanges terms for others until nothing
 * is gained.
 */
void tare_law_select(const struct tare_fit_data *d, const struct tare_terms *terms, const size_t *rows, size_t count,
                     const bool *known, size_t terms_max, bool is_thorough, struct tare_law *out);

/* A law that was selected, made better by exchanges that a selection does not look for. */
void tare_law_polish(const struct tare_fit_data *d, const struct tare_terms *terms, const size_t *rows, size_t count,
                     const bool *known, struct tare_law *law);

/*
 * Fits the coefficients of a law to these rows anew; terms whose coefficient is not above 0 are removed.
 */
void tare_law_refit(const struct tare_fit_data *d, const struct tare_terms *terms, const size_t *rows, size_t count,
                    struct tare_law *law);

/* What a law says for any x. */
double tare_law_at(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_law *law,
                   const double *x);
double tare_laws_at(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_laws *laws,
                    const double *x, size_t *owner);

/*
 * The error of a law in each of its rows, as a share of the row's scale (`rest`); and the error if the row and
 * all rows that the law cannot tell from that row had been hidden (`out`; `alone` where the law then says
 * nothing). `fit`: the law's columns on these rows.
 */
void tare_law_left_out(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_law *law,
                       const struct tare_linear *fit, const size_t *rows, size_t count, double alone, double *rest,
                       double *out);

/* Which law is the greatest in each row. */
void tare_laws_own(const struct tare_terms *terms, const struct tare_laws *laws, size_t *owner);

/* Sets error, cost and score of the laws. */
void tare_laws_judge(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws);

/*
 * After tare_laws_judge(): adds to the score what the laws say of the greatest values when those are hidden.
 */
void tare_laws_judge_beyond(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws);

/*
 * What the laws say of hidden rows, each by the law that owns it, with coefficients from the other rows.
 * Writes an error per hidden row (a share of the row's scale, at most 1) and returns the number of hidden
 * rows.
 */
size_t tare_laws_hidden(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_laws *laws,
                        const bool *hidden, double *error);

/* As tare_laws_hidden(), with the rows of the greatest value of a parameter hidden. */
size_t tare_laws_beyond(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_laws *laws,
                        size_t param, double *error);

/* Fits the coefficients and assigns the rows to the laws anew, until neither changes. */
void tare_laws_settle(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws);

/*
 * levels.c: equal terms for every level of a parameter become one term for any level. A search may prefer a
 * term per level: a level that is left out is then known from the others.
 */
void tare_laws_merge_levels(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws);

/* search.c: laws for the data, from one to laws_max of them. Sorted by score, at most `room`. */
size_t tare_laws_search(const struct tare_fit_data *d, const struct tare_terms *terms, size_t laws_max,
                        struct tare_laws *out, size_t room);

#endif
