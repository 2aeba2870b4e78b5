/* SPDX-License-Identifier: Apache-2.0 */
/* What tare fit and tare plan share, and what they print. */
#ifndef TARE_CMD_FIT_H
#define TARE_CMD_FIT_H

#include "base/emit.h"
#include "base/owned.h"
#include "fit/fit_report.h"
#include "fit/forecast.h"
#include "fit/plan.h"
#include "fit/series.h"

/* What tare fit and tare plan read: a table, a sweep's file, or a recording. */
struct tare_fit_source {
	bool is_table;
	bool is_simulated;                  /* of a GPU that is not there, in a run at least */
	TARE_OWNED struct tare_arena arena; /* of the table */
	struct tare_table table;
	TARE_OWNED_BY(tare_series_free) struct tare_series_list list;   /* else */
	TARE_OWNED_BY(tare_series_free) struct tare_series_list failed; /* of a sweep */
};

int tare_fit_source_open(struct tare_fit_source *out, const char *path, struct tare_err *err);
TARE_FREES(tare_fit_source_close, tare_fit_source);

/* "a,b" → names in the arena; at most TARE_FIT_PARAMS_MAX. */
int tare_fit_split_params(const char *text, struct tare_arena *arena, const char **names, size_t *count,
                          struct tare_err *err);

/* One fitted quantity as text and JSON: laws, errors, what each parameter does, what to run next. */
void tare_fit_print(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f);

/* Several: a line each, and in JSON everything, as "series". */
void tare_fit_print_parts(struct tare_emit *e, const struct tare_forecast *f);

/* Every row of `cells` with predicted, low and high. */
void tare_fit_print_cells(struct tare_emit *e, const struct tare_forecast *f, const struct tare_table *cells);

/* Without cells to predict, CSV is the laws: one line per term. */
void tare_fit_print_terms(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f);

struct tare_plan_card {
	double total, used; /* bytes; used: what others have */
	bool is_used_known;
	bool is_memory; /* of a machine, where nothing opened a GPU: there is no card */
	double context; /* added to every cell: another card's context less that of the measured one */
};

/* `list` may be NULL: then no account is known. */
void tare_plan_print(struct tare_emit *e, const struct tare_plan *plan, const struct tare_plan_card *card,
                     const char *target, bool has_expression, struct tare_series_list *list);

#endif
