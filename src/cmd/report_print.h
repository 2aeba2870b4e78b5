/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_PRINT_H
#define TARE_CMD_REPORT_PRINT_H

#include "base/emit.h"
#include "base/err.h"
#include "ledger/build.h"
#include "trace/recording.h"

#include <stdio.h>

struct tare_report_options {
	struct tare_instant *instants; /* those of phases become times */
	int instant_nr;                /* 0: the peak and the end */
	int by;                        /* enum tare_by; -1: the tree of accounts */
	bool is_plain;                 /* nothing was asked for: set by tare_report_print() */
	bool is_time;                  /* driver time instead of bytes */
	enum tare_emit_format format;
	const char *sort;     /* a column, "-COLUMN"; NULL: as the view has them */
	const char *page;     /* what a page is called; NULL: nothing */
	const char *line;     /* FILE:N to be taken apart; NULL: none */
	const char *annotate; /* a source file to be shown; NULL: none */
	int64_t pid;          /* only this process in detail; -1: all */
	uint64_t graphs;      /* --by serving: as of struct tare_by_ask */
	bool is_file;         /* it goes into a file: text looks as no terminal has it */
};
#define TARE_REPORT_DEFAULTS                                                                                           \
	{                                                                                                                  \
		.by = -1, .format = TARE_EMIT_TEXT, .pid = -1                                                                  \
	}

/* Adds a report to `text`, in the style of `out`. Returns as tare_report_print(). */
int tare_report_write(struct tare_str *text, FILE *out, struct tare_recording *recording,
                      const struct tare_report_options *options, struct tare_err *err);

/* Prints a report to `out`, or writes it to `file` if it is not NULL. Returns 0, or NOT_FOUND when there is no process `pid`, or IO. */
int tare_report_print(FILE *out, const char *file, struct tare_recording *recording,
                      const struct tare_report_options *options, struct tare_err *err);

#endif
