/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_PLAN_H
#define TARE_FIT_PLAN_H

#include "base/expr.h"
#include "base/owned.h"
#include "fit/forecast.h"

/*
 * Which configuration to run: every measured cell, every combination of measured values, and values
 * beyond of numbers that may be chosen; each with its memory (measured, else by its law) and its worth.
 */
struct tare_plan_choice {
	bool is_measured;
	/* the cell ran out of memory when it was run: its size is not known */
	bool is_failed;
	double bytes, low, high;  /* all three are the same if the cell was measured */
	double beyond;            /* as in tare_prediction */
	size_t beyond_param;      /* of the columns of `cells`; where beyond > 1 */
	double worth;             /* NaN: not known */
	const char *unseen_phase; /* of the best and the first: as of tare_unseen_at() */
	size_t row;               /* row of `cells` */
};

struct tare_plan {
	TARE_OWNED struct tare_arena arena;
	struct tare_table cells; /* a column per parameter */
	TARE_OWNED struct tare_plan_choice *choices;
	size_t count;
	ptrdiff_t best; /* the best cell that fits, at least 9 of 10 times; -1: none does */
	/* the smallest cell that does not fit, of those worth more than the best; -1: none */
	ptrdiff_t first;
	enum tare_fit_strength strength; /* of the law by which memory is predicted */
	bool has_no_phases;              /* none was recorded of the runs of a sweep */
	double has_room_for;             /* bytes of the card, less what others have */
};

struct tare_plan_ask {
	struct tare_problem_ask fit;      /* the target is the memory */
	double unit;                      /* bytes per unit of the target: 1, or 1048576 */
	double room, instead;             /* of the card; `instead` is added to every cell */
	const struct tare_expr *maximize; /* NULL: memory itself */
	struct tare_table *table;         /* a table's rows, or … */
	struct tare_series_list *list;    /* … what a sweep has measured */
	const struct tare_table *failed;  /* what ran out of memory, and the "room" there; or NULL */
};

int tare_plan_make(const struct tare_plan_ask *ask, struct tare_plan *out, struct tare_err *err);
TARE_FREES(tare_plan_free, tare_plan);

#endif
