/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_FIT_SOURCE_H
#define TARE_CMD_FIT_SOURCE_H

#include "base/owned.h"
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

#endif
