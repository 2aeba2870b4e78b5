/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked of tare report on its command line, and which of it goes together. */
#ifndef TARE_CMD_REPORT_CHECK_H
#define TARE_CMD_REPORT_CHECK_H

#include "base/args.h"
#include "base/err.h"
#include "cmd/format.h"

#include <stdbool.h>
#include <stdint.h>

enum { TARE_COST_BYTES, TARE_COST_TIME };

struct tare_report_given {
	struct tare_operands at, claims;
	int by, cost;
	struct tare_format_options format;
	bool md;
	int64_t pid, graphs;
	const char *job, *html, *output, *baseline, *timed, *line, *annotate, *svg, *sort;
	bool parts, confidential, no_source, source;
};

/* All of a recording, to be looked at; a view or an instant of it is a page of tables. */
bool tare_report_is_page(const struct tare_report_given *o);

/* 0, or USAGE: what does not go together. */
int tare_report_check(const struct tare_report_given *o, struct tare_err *err);

/* The same with what `path` is: instants and processes have no meaning for a sweep, and the other way round. */
int tare_report_check_kind(const struct tare_report_given *o, const char *path, bool is_sweep, struct tare_err *err);

#endif
