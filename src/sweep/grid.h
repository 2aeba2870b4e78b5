/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_GRID_H
#define TARE_SWEEP_GRID_H

#include "base/arena.h"
#include "base/err.h"
#include "base/owned.h"

#include <stdbool.h>
#include <stddef.h>

/* The parameters of a sweep and the cells that they span. */
enum { TARE_GRID_CELLS = 100000, TARE_GRID_PARAMS = 64 };

struct tare_grid_param {
	const char *name;
	bool is_numeric; /* every value of the parameter is a number */
};

struct tare_grid {
	TARE_OWNED struct tare_grid_param *params;
	size_t param_nr;
	const char ***cells; /* [cell][param]: values as text */
	size_t cell_nr;
	TARE_OWNED struct tare_arena memory;
};

/*
 * `grids`: texts "name=a,b,c"; `jsons`: JSON texts or names of files with one. The product of all is taken,
 * the first changes slowest. TARE_E_USAGE says what contradicts what.
 */
int tare_grid_parse(struct tare_grid *out, const char *const *grids, size_t grid_nr, const char *const *jsons,
                    size_t json_nr, struct tare_err *err);
TARE_FREES(tare_grid_free, tare_grid);

/* Index of a parameter, or -1. `len` bytes of name. */
int tare_grid_find(const struct tare_grid *grid, const char *name, size_t len);

/* "batch=2 precision=fp16"; caller frees. */
char *tare_grid_label(const struct tare_grid *grid, size_t cell);

/* Is the whole text a decimal number? Then it is in `number` (may be NULL). */
bool tare_grid_is_number(const char *text, double *number);

#endif
