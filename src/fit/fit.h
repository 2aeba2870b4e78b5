/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_FIT_H
#define TARE_FIT_FIT_H

#include "fit/doubt.h"
#include "fit/law.h"
#include "fit/problem.h"

/* The whole fit of one quantity: laws, those that explain it nearly as well, and how sure it is. */
enum { TARE_FIT_RIVALS_MAX = 24 };

/* What the laws are worth beside the middle of all cells, which anybody would answer. */
enum tare_fit_strength {
	TARE_FIT_LAW,
	TARE_FIT_WEAK_LAW, /* most of what the middle is wrong by, it is wrong by too */
	TARE_FIT_NO_LAW,   /* nothing that could not be chance: the middle is answered */
};

struct tare_fitted {
	struct tare_fit_data data; /* what the laws were searched on: many cells are thinned out */
	struct tare_terms terms;
	struct tare_laws laws;
	struct tare_laws rival[TARE_FIT_RIVALS_MAX];
	size_t rival_count;
	size_t free_count;                        /* cells less coefficients */
	double step;                              /* every value is a multiple of this step; 0: there is no step */
	bool is_stairs;                           /* the law is to be rounded up to the step (stairs.h) */
	double error;                             /* 90 of 100 errors on cells left out are below this share */
	double error_beyond[TARE_FIT_PARAMS_MAX]; /* as `error`, past the greatest value of each parameter */
	double error_above;                       /* as `error`, for more than was ever measured */
	double most;                              /* the greatest value measured */
	bool is_signed;                           /* less than 0 was measured somewhere */
	double mean_error;                        /* the mean of the errors on cells left out */
	enum tare_fit_strength strength;
	/* Of the middle's errors on cells left out, the share that the laws do not make, 0 to 1; NaN: it hardly varies. */
	double explained;
	double middle, middle_low, middle_high;  /* of all cells, and where 9 of 10 are */
	struct tare_linear basis[TARE_LAWS_MAX]; /* of each law's own cells */
	struct tare_doubts doubts;               /* what the laws may lack */
};

struct tare_prediction {
	double value, low, high;
	size_t law;    /* the law that is greatest in this cell */
	double beyond; /* how many times farther than measured, in the worst parameter; 1: inside */
	size_t beyond_param;
	bool is_below;                     /* `beyond` is below the least measured value, not above the greatest */
	double times[TARE_FIT_PARAMS_MAX]; /* as `beyond` and `is_below`, of each parameter */
	bool is_less[TARE_FIT_PARAMS_MAX];
};

void tare_fit_make(const struct tare_fit_data *d, struct tare_arena *arena, struct tare_fitted *out);
/* By laws with no other shapes of terms than those of `like`, and no more of them. */
void tare_fit_make_like(const struct tare_fit_data *d, const struct tare_fitted *like, struct tare_arena *arena,
                        struct tare_fitted *out);
/*
 * plainer.c: a law of a part of `total`. One that is more complicated than that of the total needs a reason: else one like that
 * of the total is taken.
 */
void tare_fit_make_part(const struct tare_fit_data *d, const struct tare_fitted *total, struct tare_arena *arena,
                        struct tare_fitted *out);
void tare_fit_free(struct tare_fitted *f);

void tare_fit_predict(const struct tare_fitted *f, const double *x, struct tare_prediction *out);

/* found.c finds laws for the cells and terms of a fit, before anything is said of how far they hold: at most so many. */
#define TARE_FIT_ALL_LAWS ((size_t)TARE_LAWS_MAX)

/* Sets laws and rivals, by f->data and f->terms. */
void tare_fit_search(struct tare_fitted *f, size_t laws_max);

/* Of f->laws: what predictions need of them (basis), and their errors on cells left out. */
void tare_fit_measure(struct tare_fitted *f);

/*
 * strength.c: is there a law at all? Sets strength, explained and the middle of a fit that was measured. Where there is none, the laws become
 * the middle, and the errors are those of the middle.
 */
void tare_fit_judge(struct tare_fitted *f);

#endif
