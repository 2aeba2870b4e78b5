/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_DATA_H
#define TARE_FIT_DATA_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a law is fitted to: cells, each with its parameters and what was measured there. */

enum { TARE_FIT_PARAMS_MAX = 16, TARE_FIT_LEVELS_MAX = 64 };

struct tare_fit_param {
	const char *name;
	bool is_level;       /* categorical: a cell holds the number of one of `levels` */
	size_t level_count;  /* different values, of a number too (at most TARE_FIT_LEVELS_MAX) */
	const char **levels; /* categorical: their texts */
	double *values;      /* a number: its different values, ascending */
	double least, most;  /* of a number: its range */
};

struct tare_fit_data {
	size_t row_count, param_count;
	const struct tare_fit_param *params;
	double *x;      /* row_count × param_count */
	double *y;      /* what was measured: of repeats, as problem.c has them */
	double *weight; /* how many rows of the table a cell stands for */
	double *scale;  /* what an error is divided by to be relative: |y|, at least least_scale */
	double least_scale;
};

static inline const double *tare_fit_x(const struct tare_fit_data *d, size_t row)
{
	return d->x + row * d->param_count;
}

/*
 * Fills `scale` from y. Errors of many cells are taken to be relative. Of few cells nobody can tell, and
 * a plain sum of squares (one scale for all) goes wrong least.
 */
void tare_fit_data_scale(struct tare_fit_data *d, struct tare_arena *arena);

/* The rows with keep[row], in the arena; params are shared. */
void tare_fit_data_subset(const struct tare_fit_data *d, const bool *keep, struct tare_arena *arena,
                          struct tare_fit_data *out);

/*
 * Parts the `count` rows into groups with the same values in the parameters of `mask` (bit p: parameter p)
 * and returns how many there are. A law of these parameters is the same in all rows of a group, so what it
 * says of one when only that one is left out proves nothing. Without a parameter (mask 0) each row is alone.
 */
size_t tare_fit_data_group(const struct tare_fit_data *d, uint32_t mask, const size_t *rows, size_t count,
                           size_t *group);

/*
 * The greatest of the steps that allocators and drivers round to (20 MiB, 2 MiB, 64 KiB, 4 KiB, 512 B)
 * of which every y is a multiple; 0: none, or too few different values to tell.
 */
double tare_fit_data_step(const struct tare_fit_data *d);

#endif
