/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two reports side by side: what every row had before, what it has after, and the difference.
 *
 * A report is what `tare report --json` prints (docs/JSON.md), whether it was made now or saved by somebody, so both are
 * read in the same way and an old file is as good as a recording.
 *
 * Leaves and `unexplained` of a device sum to what is used of it, on both sides, and so do the differences.
 */
#ifndef TARE_VIEW_DIFF_H
#define TARE_VIEW_DIFF_H

#include "base/emit.h"
#include "base/err.h"
#include "base/json.h"
#include "base/owned.h"
#include "view/by.h"

/* Where rows are: a GPU, or the memory of the CPU. */
struct tare_diff_place {
	int64_t index; /* as the report has it; -1: the CPU */
	const char *name, *uuid, *host;
	bool is_heap; /* the host's, in place of a GPU */
	int64_t used;
	bool is_counted; /* `used` is known; else it is the sum of the leaves */
};

/* Pids are others in every run: a process is told by its name. */
struct tare_diff_process {
	const char *path; /* "process:431", "process:431.1" */
	const char *label, *name;
	int64_t rank; /* -1: none */
	int twin;     /* index in the other report; -1: none */
};

struct tare_diff_item {
	int place;
	int process; /* index; -1: of none */
	const char *path, *label, *account;
	const char *short_label; /* for people: without folders */
	const char *bare;        /* of a line, of a stack: the label without any folder; else NULL */
	const char *call;        /* of what stays: which call gives it back; else NULL */
	const char *elsewhere;   /* the path of the same line in the first report; NULL: its own */
	int64_t bytes;
	uint64_t count;
};

/* One of the two reports. Texts are the arena's, or those of the JSON that it was read from. */
struct tare_diff_side {
	const char *source; /* what the user called it; set by the caller */
	const char *at;
	int64_t t_ns;                                   /* -1: not known */
	const char *note;                               /* why the view has no rows; or NULL */
	const struct tare_json_value *degraded, *notes; /* arrays of sentences; or NULL */
	TARE_OWNED struct tare_arena arena;
	bool is_simulated; /* one of its GPUs */
	TARE_OWNED struct tare_diff_place *places;
	TARE_OWNED struct tare_diff_process *processes;
	TARE_OWNED struct tare_diff_item *items; /* parents stand before their children */
	size_t place_nr, place_cap, process_nr, process_cap, item_nr, item_cap;
};

struct tare_diff_row {
	int place;
	const char *path;       /* in the first report; of what only the second has, its own */
	const char *after_path; /* in the second; NULL: it has no such row */
	const char *label, *short_label, *account;
	const char *call;    /* of what stays: which call gives it back */
	const char *process; /* name of the process whose row it is; NULL: of none */
	int parent, depth;   /* parent: index, -1: none */
	int number;          /* in which it came */
	bool is_leaf;        /* those sum up */
	bool is_before, is_after;
	int64_t before, after; /* 0 where it is not there */
	uint64_t before_count, after_count;
};

struct tare_diff_total {
	const struct tare_diff_place *place;    /* of the first report, of what only the second has, its own */
	const struct tare_diff_place *in_after; /* the same in the second; NULL: it has none */
	int64_t before, after;
	bool is_before, is_after;
};

struct tare_diff {
	int by; /* enum tare_by; -1: the tree of accounts */
	TARE_OWNED struct tare_diff_side before, after;
	TARE_OWNED struct tare_diff_row *rows; /* the largest change first */
	size_t row_nr, row_cap;
	TARE_OWNED struct tare_diff_total *totals; /* one per place */
	size_t total_nr, total_cap;
	TARE_OWNED struct tare_arena arena;
};

/* Can rows of this view be compared? -1: the tree of accounts, which can. */
bool tare_diff_can(int by);
/* Are its rows changes? Then none is left out, nothing is summed up, and they stay in their order. */
bool tare_diff_is_of_changes(int by);
/* "account, owner, …": all that can. */
void tare_diff_views(struct tare_str *out);

/*
 * Reads one report. `at`: of several instants the one of this name; NULL: the first. Returns 0, or FORMAT, NOT_FOUND with a
 * sentence that begins with what is wrong.
 */
int tare_diff_read(struct tare_diff_side *side, const struct tare_json_value *report, int by, const char *at,
                   struct tare_err *err);

/* Makes rows and totals of the two sides, which were read. */
void tare_diff_build(struct tare_diff *diff);
void tare_diff_show(struct tare_emit *e, const struct tare_diff *diff);
TARE_FREES(tare_diff_free, tare_diff);

#endif
