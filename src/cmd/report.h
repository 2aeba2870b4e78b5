/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report`: what its files do for each other and for other commands. */
#ifndef TARE_CMD_REPORT_H
#define TARE_CMD_REPORT_H

#include "base/args.h"
#include "base/emit.h"
#include "ledger/build.h"
#include "ledger/memory_history.h"
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

/*
 * Several recordings are read as one without states (docs/RANKS.md, "Past the cap"). Where one has dropped events, what its states
 * say is missing in all sums: then each recording is reported alone, one after another.
 */
bool tare_report_is_of_each(const struct tare_recording *recording, const struct tare_report_options *options);
/* Returns 0, or the first error; RANGE: in another form than text, which has one report. */
int tare_report_print_each(const struct tare_recording *recording, const struct tare_report_options *options,
                           struct tare_err *err);
/* RANGE: there is no picture of all of them. */
int tare_report_check_picture(const struct tare_recording *recording, struct tare_err *err);

/*
 * What was asked for by a name becomes a time of this recording: snapshots, phases, where memory ran out. Returns 0, or USAGE,
 * NOT_FOUND, RANGE with a sentence on what there is instead.
 */
int tare_instants_settle(struct tare_recording *recording, struct tare_instant *instants, int n, struct tare_err *err);

/* Is the moment in a span whose events went to keep the cap, and is there something that can be said of it? */
bool tare_report_is_dropped(const struct tare_recording *recording, const struct tare_instant *at);
/* What can be said. */
void tare_report_dropped(struct tare_emit *e, const struct tare_recording *recording, const struct tare_instant *at);

/* `tare report --line FILE:N --parts` and `--annotate FILE`: appends one of them, a table for each ledger. Returns 0, TARE_E_USAGE or TARE_E_NOT_FOUND. */
int tare_report_line(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr,
                     const struct tare_recording *recording, const struct tare_report_options *o, struct tare_err *err);

/* Its programs, and the recording: "train.py · train.tare". */
void tare_report_title(struct tare_str *out, const struct tare_ledger *ledger, const char *const *paths,
                       size_t path_nr);

/* What a picture is drawn of, with the ledger of the peak. `by`: as below. */
void tare_report_history(struct tare_recording *recording, int by, struct tare_ledger *peak,
                         struct tare_memory_history *out);

/*
 * Writes memory over time as SVG into FILE ("-": stdout), which is overwritten. Recordings of one job are one
 * run; those that have nothing to do with each other stand under one another, to the same scale. `by`: -1, or of enum
 * tare_by ACCOUNT (tensors together) or CATEGORY; a program that used no GPU has its tensors by category without being
 * asked.
 */
int tare_report_picture(const char *file, const char *const *paths, size_t path_nr, const char *job, int by,
                        struct tare_err *err);

/*
 * Advice that only a replay can give: what PyTorch's pool would have needed with expandable segments. Adds a finding to a ledger
 * of the peak where much of the pool was not in use then. The recording is at its begin again.
 */
void tare_report_replay(struct tare_ledger *ledger, struct tare_recording *recording);

/* `tare report DB`: the file of a sweep instead of a recording. */
struct tare_report_sweep {
	const char *path, *baseline, *timed;
	const char *output; /* write it there; NULL: print */
	enum tare_emit_format format;
	const struct tare_operands *claims; /* "NAME=SIZE" */
};
int tare_report_sweep(const struct tare_report_sweep *o, struct tare_err *err);

#endif
