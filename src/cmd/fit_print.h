/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_FIT_PRINT_H
#define TARE_CMD_FIT_PRINT_H

#include "base/emit.h"
#include "fit/fit_report.h"
#include "fit/forecast.h"

/* One fitted quantity as text and JSON: laws, errors, what each parameter does, what to run next. */
void tare_fit_print(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f);

/* Several: a line each, and in JSON everything, as "series". */
void tare_fit_print_parts(struct tare_emit *e, const struct tare_forecast *f);

/* Every row of `cells` with predicted, low and high. */
void tare_fit_print_cells(struct tare_emit *e, const struct tare_forecast *f, const struct tare_table *cells);

/* Without cells to predict, CSV is the laws: one line per term. */
void tare_fit_print_terms(struct tare_emit *e, const struct tare_problem *p, const struct tare_fitted *f);

#endif
