/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_FIT_SOURCE_H
#define TARE_CMD_FIT_SOURCE_H

#include "fit/series.h"

/* What tare fit and tare plan read: a table, a sweep's file, or a recording. */
struct tare_fit_source {
	bool is_table;
	bool is_simulated;       /* of a GPU that is not there, in a run at least */
	struct tare_arena arena; /* of the table */
	struct tare_table table;
	struct tare_series_list list;   /* else */
	struct tare_series_list failed; /* of a sweep */
};

int tare_fit_source_open(struct tare_fit_source *out, const char *path, struct tare_err *err);
void tare_fit_source_close(struct tare_fit_source *source);

/* "a,b" → names in the arena; at most TARE_FIT_PARAMS_MAX. */
int tare_fit_split_params(const char *text, struct tare_arena *arena, const char **names, size_t *count,
                          struct tare_err *err);

#endif
