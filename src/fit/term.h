/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_TERM_H
#define TARE_FIT_TERM_H

#include "base/str.h"
#include "fit/data.h"

/*
 * A term of a law: a product of powers of parameters, perhaps only for one level of a categorical
 * one: "layers × d_model² if optimizer = adamw". The dictionary is every term that a law of these
 * parameters may have; the search chooses few of them.
 */
enum tare_power {
	TARE_POWER_NONE,
	TARE_POWER_1,
	TARE_POWER_2,
	TARE_POWER_3,
	TARE_POWER_HALF,
	TARE_POWER_INVERSE,
	TARE_POWER_LOG, /* log2 */
	TARE_POWER_COUNT
};

struct tare_term {
	/* Of a number: enum tare_power. Of a categorical parameter: 1 + the level, 0: any. */
	uint8_t of[TARE_FIT_PARAMS_MAX];
	bool is_minus; /* the constant −1: a law may begin below nothing */
};

struct tare_terms {
	struct tare_term *items; /* the constant comes first */
	double *cost;            /* how much a term must bring to be believed: 1 is plain */
	double *cost_again;      /* as `cost`, where the laws have a term of that shape already */
	uint32_t *mask;          /* bit p: parameter p is in it */
	bool *is_curved;         /* has a power other than 1 */
	size_t *shape;           /* terms that differ in their levels only have one shape */
	size_t shape_count;
	double *values; /* count × row_count: divided by the row's scale */
	size_t count;
	size_t row_count;
};

double tare_term_value(const struct tare_fit_data *d, const struct tare_term *t, const double *x);

/* Every term for these data, and its value in every row, in the arena. */
void tare_terms_make(const struct tare_fit_data *d, struct tare_arena *arena, struct tare_terms *out);

/* Only these terms (keep[term]) stay; the constant always does. */
void tare_terms_keep(struct tare_terms *terms, const bool *keep);

/* "batch × L²", "1" for the constant; levels apart: "optimizer = adamw", or nothing. */
void tare_term_name(const struct tare_fit_data *d, const struct tare_term *t, struct tare_str *out);
void tare_term_levels(const struct tare_fit_data *d, const struct tare_term *t, struct tare_str *out);

#endif
