/* SPDX-License-Identifier: Apache-2.0 */
/* What cells say of the coefficient of one term more in a law that was fitted to them. */
#ifndef TARE_FIT_BELIEF_H
#define TARE_FIT_BELIEF_H

#include "fit/linear.h"

struct tare_belief_ask {
	const struct tare_linear *fit; /* the law's columns on its rows */
	const double *coef;            /* of the law */
	const bool *is_free;           /* per column: its coefficient may be below 0 */
	double *column;                /* of the term, on the same rows; lost */
	double most;                   /* the coefficient with which the term is all of a cell */
	double noise;                  /* standard deviation of a row */
};

/* A coefficient is anything from 0 to where another one would fall below 0; how likely, a normal distribution says. */
struct tare_belief {
	double middle, spread; /* spread INFINITY: the cells say nothing, all are as likely */
	double from,
		to; /* both ends: in spreads off the middle; where the cells say nothing, 0 and the coefficient itself */
	double evidence;                    /* ln of: how well the law with the term explains the cells, without it 0 */
	double instead[TARE_LAW_TERMS_MAX]; /* what each column loses, per unit of the coefficient */
};

/* False: there is no room for the term, or nothing speaks for it. */
bool tare_belief_make(const struct tare_belief_ask *ask, struct tare_belief *out);

/* The coefficient below which `share` of all are. */
double tare_belief_at(const struct tare_belief *b, double share);

#endif
