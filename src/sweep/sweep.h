/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_SWEEP_H
#define TARE_SWEEP_SWEEP_H

#include "base/owned.h"
#include "db/db.h"
#include "sweep/grid.h"

#include <stdint.h>

/* A sweep, as its file has it: what the command line asks for is written to the file first. */
struct tare_sweep_words {
	TARE_OWNED const char **items; /* NULL at the end */
	size_t count, cap;
};
void tare_sweep_words_add(struct tare_sweep_words *words, const char *word, struct tare_arena *memory);

struct tare_sweep_work {
	const char *name, *expr;
};

struct tare_sweep {
	TARE_OWNED struct tare_grid grid;
	TARE_OWNED struct tare_sweep_words command; /* CMD, with {names} of parameters in it */
	TARE_OWNED struct tare_sweep_words options; /* options of the recorder */
	TARE_OWNED struct tare_sweep_words launcher;
	TARE_OWNED struct tare_sweep_work *works;
	size_t work_nr, work_cap;
	int64_t repeat, jobs, gpus_per_run, timeout_ns; /* 0: not given */
	double total;                                   /* NaN: not given */
	const char *timed;                              /* the phase whose time is the time of a run; NULL: not given */
	const char *path;                               /* path of the database; the folder of its runs is PATH.d */
	TARE_OWNED struct tare_arena memory;
};
TARE_FREES(tare_sweep_free, tare_sweep);

/* Was the recorder given this option? */
bool tare_sweep_has_option(const struct tare_sweep *s, const char *option);

/* "timesteps={batch}*500", or an expression alone, whose name is "work". */
int tare_sweep_add_work(struct tare_sweep *s, const char *text, struct tare_err *err);

/*
 * Refuses what would only fail later: words with names that are no parameters, works that are no
 * numbers in some cell.
 */
int tare_sweep_check(const struct tare_sweep *s, struct tare_err *err);

/* store.c: writes a sweep into a fresh file. */
int tare_sweep_create(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err);

/*
 * Writes a sweep into a file that has one: the command, its options and the parameters must be the same; new
 * cells are added; settings that were given (repeat, jobs …) replace those of the file.
 */
int tare_sweep_merge(struct tare_db *db, const struct tare_sweep *s, struct tare_err *err);

/* Reads a sweep from its file; `out` is empty before, and freed by the caller whatever happens. */
int tare_sweep_load(struct tare_db *db, struct tare_sweep *out, struct tare_err *err);

/* schema.c; docs/SWEEP.md says what every column means; a test compares the two. */
extern const char tare_sweep_schema[];

/*
 * How many units of work a run of the cell does. TARE_E_USAGE where that is not a number above 0.
 */
int tare_sweep_work_amount(const struct tare_sweep *s, size_t work, size_t cell, double *amount, struct tare_err *err);

/*
 * words.c: {name} in a word becomes the parameter's value, {{name}} stays as {name}; other braces are left
 * alone. A {name} that is no parameter is TARE_E_USAGE. The caller frees *out.
 */
int tare_words_fill(char **out, const char *word, const struct tare_grid *grid, size_t cell, struct tare_err *err);

/* Does any of the words have {name} of this parameter? */
bool tare_words_use(const char *const *words, const struct tare_grid *grid, size_t param);

#endif
