/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on what a recording holds (`tare check`). A limit is read from a text, its figure is taken from what
 * `tare report --json` prints (docs/JSON.md), so that a check and a report cannot say different things.
 *
 *     NAME[@INSTANT] = SIZE     NAME: a sum, a category, an account, or VIEW:ROW such as line:train.py:87
 *     growth = SIZE             what grows by more than SIZE a step
 *     baseline = FILE [+2%]     what is used at most is not above that of another recording, or of a saved report
 */
#ifndef TARE_VIEW_BUDGET_H
#define TARE_VIEW_BUDGET_H

#include "base/arena.h"
#include "base/emit.h"
#include "base/err.h"
#include "base/json.h"
#include "base/owned.h"

enum tare_limit_kind { TARE_LIMIT_SIZE, TARE_LIMIT_GROWTH, TARE_LIMIT_BASELINE };
enum tare_limit_state { TARE_LIMIT_OK, TARE_LIMIT_OVER, TARE_LIMIT_UNKNOWN };

struct tare_budget_limit {
	enum tare_limit_kind kind;
	const char *name;     /* as it was asked for, without the instant: "line:train.py:87", "growth" */
	const char *row;      /* SIZE: the name without the view */
	int by;               /* SIZE: enum tare_by; -1: a sum or a row of the tree of accounts */
	const char *at;       /* the instant; NULL: of the whole recording */
	const char *baseline; /* BASELINE: a recording or a saved report */
	uint64_t bytes;       /* the most; of BASELINE what may be added */
	double share;         /* BASELINE: likewise, as a part of the baseline */
	const char *file;     /* the budget; NULL: the command line */
	unsigned line;

	/* What was found. */
	enum tare_limit_state state;
	bool is_known;       /* `found` */
	int64_t found, most; /* where it is nearest to its limit, or farthest above; and the limit there */
	int64_t device;      /* its index; -1: memory of the CPU, or of none */
	const char *why;     /* more on it, a sentence; or NULL */
	const char *source;  /* the file of the line in question; or NULL: not known */
	uint64_t source_line;
};

struct tare_budget {
	TARE_OWNED struct tare_budget_limit *limits;
	size_t nr, cap;
	TARE_OWNED struct tare_arena arena;
	bool is_simulated; /* a figure is of a GPU that is */
};

/* The text of one limit: `key` is what stands before the last "=". Returns 0, or USAGE. */
int tare_budget_add(struct tare_budget *b, const char *text, const char *file, unsigned line, struct tare_err *err);
int tare_budget_add_growth(struct tare_budget *b, const char *size, struct tare_err *err);
/* above: "+2%", "+64MiB" or NULL. */
int tare_budget_add_baseline(struct tare_budget *b, const char *path, const char *above, struct tare_err *err);
/* A line a limit; what follows a # is a remark. The baselines of a file lie beside it. */
int tare_budget_read(struct tare_budget *b, const char *path, struct tare_err *err);
TARE_FREES(tare_budget_free, tare_budget);

/* The figure of a SIZE or GROWTH. Returns 0, or USAGE: there is no such row. */
int tare_budget_find(struct tare_budget *b, struct tare_budget_limit *limit, const struct tare_json_value *report,
                     struct tare_err *err);

/* How many are in this state. */
size_t tare_budget_count(const struct tare_budget *b, enum tare_limit_state state);
/* "activation", "used@end". */
void tare_budget_name(struct tare_str *out, const struct tare_budget_limit *limit);
/* "2,081.6 MiB, and may be 2,048.0" and why. */
void tare_budget_sentence(struct tare_str *out, const struct tare_budget_limit *limit);

void tare_budget_show(struct tare_emit *e, const struct tare_budget *b);
/* The XML that CI servers read. `suite`: the recording. */
void tare_budget_junit(struct tare_str *out, const struct tare_budget *b, const char *suite);
/* "::error file=…,line=…::…" for each that is not held; `folder`: files in it are named without it. */
void tare_budget_github(struct tare_str *out, const struct tare_budget *b, const char *folder);

#endif
