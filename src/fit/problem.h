/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_PROBLEM_H
#define TARE_FIT_PROBLEM_H

#include "base/err.h"
#include "fit/data.h"
#include "fit/table.h"

/* Repeats farther than this from the middle one, as a share of it, are not noise. */
#define TARE_PROBLEM_ASTRAY 0.25

/* A table as cells to fit: which columns are parameters, of which kind, and what was left out. */
struct tare_problem {
	struct tare_arena *arena;
	const char *target;
	bool is_bytes; /* the target is known to be a number of bytes */
	size_t param_count;
	struct tare_fit_param *params;       /* in the arena, as all but the list of notes */
	size_t columns[TARE_FIT_PARAMS_MAX]; /* columns of the table */
	struct tare_fit_data data;
	size_t astray;      /* cells of which a repeat is far from the middle one */
	size_t astray_cell; /* the first of those cells; its least and greatest repeat */
	double astray_least, astray_most;
	const char *lacking; /* a column that differs from row to row and that the cells to predict do not have; or NULL */
	size_t left_out;     /* rows without a number for the target or without a parameter */
	const char **notes;  /* sentences for the user */
	size_t note_count, note_cap;
};

struct tare_problem_ask {
	const char *target;
	bool is_bytes;             /* the target is known to be a number of bytes */
	const char *const *params; /* NULL: every column but the target that can be a parameter */
	size_t param_count;
	/*
	 * the cells to be predicted, or NULL; without `params`, only columns of this table are parameters
	 */
	const struct tare_table *cells;
};

int tare_problem_make(const struct tare_table *t, const struct tare_problem_ask *ask, struct tare_arena *arena,
                      struct tare_problem *out, struct tare_err *err);
void tare_problem_free(struct tare_problem *p);

/*
 * The parameters of row `row` of another table. False: one is missing or not of this kind; `why` (of
 * the arena) says which.
 */
bool tare_problem_cell(const struct tare_problem *p, const struct tare_table *t, size_t row, double *x,
                       const char **why);

#endif
