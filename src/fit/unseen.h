/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_UNSEEN_H
#define TARE_FIT_UNSEEN_H

#include "fit/forecast.h"

/*
 * Phases that were the greatest in no measured run: their laws may say that they are the greatest elsewhere, where no run
 * has shown it.
 */

/* Sets `is_unseen` of the parts of `phases`; `t` has what all of a run takes, in the column `target`. */
void tare_unseen_mark(struct tare_forecast *phases, const struct tare_table *t, const char *target);

/* A cell that was not measured: an unseen phase takes part in what is said of it. */
void tare_unseen_raise(const struct tare_forecast *f, const struct tare_table *cells, size_t row,
                       struct tare_prediction *out, const struct tare_forecast_part **part);

/* The unseen phase that may be the greatest there, as the end of its interval is above what all seen phases say; or NULL. */
const char *tare_unseen_at(const struct tare_forecast *f, const struct tare_table *cells, size_t row);

#endif
