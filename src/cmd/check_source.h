/* SPDX-License-Identifier: Apache-2.0 */
/* Where the figures of `tare check` come from: the reports that `tare report --json` would print, each made once. */
#ifndef TARE_CMD_CHECK_SOURCE_H
#define TARE_CMD_CHECK_SOURCE_H

#include "base/args.h"
#include "base/owned.h"
#include "view/budget.h"

struct tare_check_report {
	int by;
	const char *at;
	const struct tare_json_value *report;
};

struct tare_check_source {
	const struct tare_operands *paths; /* recordings of one job */
	TARE_OWNED struct tare_arena arena;
	TARE_OWNED struct tare_check_report *reports;
	size_t nr, cap;
};

/* Finds the figure of every limit. Returns 0, or what a recording, a baseline or a limit has against it. */
int tare_check_find(struct tare_check_source *source, struct tare_budget *budget, struct tare_err *err);
TARE_FREES(tare_check_source_free, tare_check_source);

#endif
