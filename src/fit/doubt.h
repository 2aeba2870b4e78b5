/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What laws may lack: terms that bring too little among the cells to be told from noise, or from another term, and much beyond them; and a
 * phase that is nowhere the greatest among the cells. Each is taken with the coefficients that the cells allow, as likely as they make it.
 */
#ifndef TARE_FIT_DOUBT_H
#define TARE_FIT_DOUBT_H

#include "base/arena.h"
#include "fit/law.h"

enum { TARE_DOUBT_COEFS = 5 };

struct tare_fitted;

/* One law with one term more, perhaps instead of another. */
struct tare_doubt {
	struct tare_term term;
	size_t law;
	bool is_phase;                      /* a law beside the others, not in the place of `law` */
	double weight;                      /* how likely it is; all, and the laws as they are, together 1 */
	double coefs[TARE_DOUBT_COEFS];     /* of the term, each as likely as the others */
	double base[TARE_LAW_TERMS_MAX];    /* of the law's own terms where that of the term is 0 */
	double instead[TARE_LAW_TERMS_MAX]; /* what they lose, per unit of it */
};

struct tare_doubts {
	struct tare_doubt *items;
	size_t count;
};

/* Of f->laws, once f->basis and f->error are known. */
void tare_doubts_make(const struct tare_fitted *f, struct tare_arena *arena, struct tare_doubts *out);

/* doubt_at.c: where 9 of 10 of what they say lie at x; `value`: what the laws as they are say. */
void tare_doubts_at(const struct tare_fitted *f, const double *x, double value, double *low, double *high);

#endif
