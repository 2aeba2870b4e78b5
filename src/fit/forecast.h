/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_FORECAST_H
#define TARE_FIT_FORECAST_H

#include "base/owned.h"
#include "fit/fit.h"
#include "fit/series.h"

/*
 * A quantity by its law, or, where phases were measured and explain it better, by the greatest of
 * what the laws of its phases say.
 */
struct tare_forecast {
	TARE_OWNED struct tare_arena arena;
	TARE_OWNED_MANY(count) struct tare_forecast_part {
		const char *name;
		TARE_OWNED struct tare_problem problem;
		TARE_OWNED_BY(tare_fit_free) struct tare_fitted fitted;
		bool is_unseen; /* a phase that was the greatest in no measured run (unseen.h) */
	} * parts;
	size_t count;
	double error; /* mean, on cells left out */
	/* where one law says it: the laws of the phases, of which the unseen are looked at; or NULL */
	TARE_OWNED struct tare_forecast *phases;
	bool has_no_phases; /* of what a sweep's runs need, and none of them had a phase */
};

int tare_forecast_of_table(struct tare_forecast *out, const struct tare_table *t, const struct tare_problem_ask *ask,
                           struct tare_err *err);

/* Of one series; of "need" also by the outer phases. Names of parameters as in tare_problem_ask. */
int tare_forecast_of_series(struct tare_forecast *out, struct tare_series_list *list, const char *name,
                            const struct tare_problem_ask *ask, struct tare_err *err);
/* One series more, as a part; `parts` has room for it. */
int tare_forecast_add(struct tare_forecast *f, struct tare_series_list *list, size_t series,
                      const struct tare_problem_ask *ask, struct tare_err *err);
void tare_forecast_drop_last(struct tare_forecast *f);

TARE_FREES(tare_forecast_free, tare_forecast);

/* Row `row` of another table, and the part that is the greatest. False: a parameter is missing; `why` says which. */
bool tare_forecast_at(const struct tare_forecast *f, const struct tare_table *cells, size_t row,
                      struct tare_prediction *out, const struct tare_forecast_part **part, const char **why);

#endif
