/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_STAIRS_H
#define TARE_FIT_STAIRS_H

#include "fit/law.h"

/*
 * A quantity that is rounded up to a coarse step shows of its law only in which cells it climbs. Least
 * squares take the steps for noise. This takes each cell for what it says: the law is above the last step
 * and at most at this one. What is left is a region of coefficients per term.
 */

/* The most laws that tare_stairs_search gives. */
enum { TARE_STAIRS_TERMS = 8, TARE_STAIRS_LAWS = 3 * TARE_STAIRS_TERMS };

/*
 * Laws of a constant and one term that, rounded up to `step`, are right in every cell: first the likeliest;
 * then, for each term that is nearly as likely, the ends of what it may be. 0: there is none.
 */
size_t tare_stairs_search(const struct tare_fit_data *d, const struct tare_terms *terms, double step,
                          struct tare_laws out[TARE_STAIRS_LAWS]);

/* Errors of out[0], as shares, when each cell is left out and the law fitted to the others. */
void tare_stairs_errors(const struct tare_fit_data *d, const struct tare_terms *terms, double step,
                        const struct tare_laws *laws, double *error);

double tare_stairs_up(double v, double step);

#endif
