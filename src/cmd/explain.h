/* SPDX-License-Identifier: Apache-2.0 */
/* What tare explain knows of a process, and shows. */
#ifndef TARE_CMD_EXPLAIN_H
#define TARE_CMD_EXPLAIN_H

#include "base/emit.h"
#include "base/err.h"
#include "base/owned.h"
#include "weigh/explain.h"

/* A row that can be a part of a difference. */
struct tare_explain_row {
	const char *path;
	int64_t bytes;
	bool is_of_others; /* not of the process */
};

struct tare_explain {
	const char *title; /* "python3 (pid 431), now" */
	bool is_all;       /* --all: people see tools of what is not here, too */
	bool has_board;    /* a Jetson, whose tools there are */
	struct tare_figures figures;
	bool is_simulated; /* recorded on a GPU that is not there */
	bool is_recorded;  /* what a recording lacks nobody can ask for any more */
	/* Of recordings: the most that each tool would have shown, and the most of what it would have shown once a second. */
	bool has_course;
	int64_t most[TARE_TOOL_NR], sampled[TARE_TOOL_NR]; /* TARE_FIGURE_NOT_KNOWN */
	TARE_OWNED struct tare_explain_row *rows;
	size_t count, cap;
	TARE_OWNED struct tare_arena arena;
};

/* What somebody read. */
struct tare_explain_given {
	enum tare_tool tool;
	int64_t bytes, tolerance;
};

void tare_explain_add(struct tare_explain *x, const char *path, int64_t bytes);
TARE_FREES(tare_explain_free, tare_explain);

/* explain_live.c: a process that runs, or one of a copy below `root`. */
int tare_explain_process(struct tare_explain *x, pid_t pid, const char *root, struct tare_err *err);

/* explain_recording.c: `pid` -1 is the largest of the recording; `at` an instant, as reports take it. */
int tare_explain_recording(struct tare_explain *x, const char *path, int64_t pid, const char *at, struct tare_err *err);

struct tare_ledger;
/* The same of a ledger at an instant, without what was before. False: it has no such process. */
bool tare_explain_ledger(struct tare_explain *x, const struct tare_ledger *ledger, int64_t pid);

/* explain_print.c */
void tare_explain_print(struct tare_emit *e, const struct tare_explain *x);
/* explain_given.c: figures that were given, and rows that make up what they differ by. */
void tare_explain_print_given(struct tare_emit *e, const struct tare_explain *x, const struct tare_explain_given *given,
                              size_t count);

#endif
