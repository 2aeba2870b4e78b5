/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep's file folded into a row per cell: what reports show. Plain data. */
#ifndef TARE_SWEEP_SUMMARY_H
#define TARE_SWEEP_SUMMARY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/owned.h"
#include "db/db.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tare_db;

/* A sweep's file folded into a row per cell: what reports show. Plain data. */
/*
 * How runs end, in the order in which they are shown for a cell. X(KEY, name in the file, name for people)
 */
#define TARE_RUN_STATUS_MAP(X)                                                                                         \
	X(OK, "ok", "ok")                                                                                                  \
	X(OOM, "oom", "out of memory")                                                                                     \
	X(FAILED, "failed", "failed")                                                                                      \
	X(TIMEOUT, "timeout", "timed out")                                                                                 \
	X(OPEN, "running", "not finished")

enum tare_run_status {
#define X(KEY, NAME, TEXT) TARE_RUN_##KEY,
	TARE_RUN_STATUS_MAP(X)
#undef X
		TARE_RUN_STATUS_NR
};
extern const char *const tare_run_status_texts[TARE_RUN_STATUS_NR];

/* What one account holds at the peak of the cell's run with the largest peak, over all its GPUs. */
struct tare_summary_part {
	const char *account, *part; /* keys of accounts.def; who asked for it, or "" */
	int64_t bytes;
	bool is_elastic;
};

/* Values that are not known: NaN, -1. Times in seconds. */
struct tare_summary_cell {
	int64_t cell;
	const char *label;
	const char **values; /* a value for each parameter */
	double *amounts;     /* an amount for each unit of work, NaN where there is none */
	int runs, ended[TARE_RUN_STATUS_NR];
	double seconds, sd;                   /* of what is timed, in runs that were ok; sd NaN: in fewer than two */
	double whole;                         /* mean of the whole run, of the same runs */
	double driver_seconds, retry_seconds; /* mean of the same runs; of failed ones where none was ok */
	int64_t peak, need, elastic;          /* largest of a run */
	int64_t resident;                     /* of a run that opened no GPU: the most on the CPU */
	int64_t refused, retries;             /* most in one run */
	int64_t oom_bytes;                    /* bytes of the last refused call */
	const char *oom;                      /* "device", "host" or NULL */
	int exit_code;                        /* exit code of a failed run */
	/* what the GPU (or its --vram card, or the machine's memory) had left for programs at the peak */
	int64_t left;
	bool is_host_oom;
	TARE_OWNED struct tare_summary_part *parts; /* the largest first */
	size_t part_nr, part_cap;
	int64_t unexplained;
	const char *note; /* what was degraded, or NULL */
	/* From the above: */
	double rate;    /* units of the first kind (else runs) per second */
	double speedup; /* rate divided by the rate of the baseline */
	double hours;   /* hours that `total` units would take */
};

struct tare_summary_param {
	const char *name;
	bool is_numeric, in_command;
	bool is_without_effect; /* its values changed neither memory nor calls nor output */
};

struct tare_summary {
	const char *path, *command, *host, *tare;
	char date[16]; /* date on which the sweep began, 2026-11-22 */
	int64_t repeat, timeout_ns;
	double total;      /* units of work in total; NaN: not given */
	const char *timed; /* the phase whose time counts; NULL: the time of the run counts */
	TARE_OWNED struct tare_summary_param *params;
	size_t param_nr, param_cap;
	const char **works; /* names of the units of work */
	size_t work_nr;
	TARE_OWNED struct tare_summary_cell *cells;
	size_t cell_nr, cell_cap;
	size_t baseline; /* index of the baseline's cell */
	size_t best;     /* the ok cell with the highest rate; cell_nr: none is ok */
	size_t soonest;  /* the ok cell with the fewest hours; cell_nr: there is no total */
	/* The GPU that the runs used, if they all used one of a kind; else NULL, -1 */
	const char *gpu;
	int64_t gpu_bytes, card_bytes; /* size of the GPU, and of its --vram card */
	bool is_simulated;             /* a run used a GPU that is not there */
	bool is_cpu;                   /* no run used a GPU, and what they had on the CPU is known */
	int64_t memory_bytes;          /* is_cpu: memory of the machine, -1: not known, or of several */
	TARE_OWNED struct tare_arena memory;
};

/*
 * `baseline`: the label of a cell ("batch=2"; parameters may be left out as long as it names one
 * only), or NULL for the first that was ok; `timed`: as in db/db.h. TARE_E_USAGE where there is no such
 * cell or phase.
 */
int tare_summary_load(struct tare_db *db, const char *baseline, const char *timed, struct tare_summary *out,
                      struct tare_err *err);
TARE_FREES(tare_summary_free, tare_summary);

/* Is the difference of two cells' rates larger than their scatter? False where that is not known. */
bool tare_summary_differs(const struct tare_summary *s, size_t a, size_t b);

/*
 * Finds parameters that CMD seems to ignore: cells that differ in nothing else have the same memory
 * by account, the same number of driver calls and the same output, for every value that was ok.
 */
int tare_effect_find(struct tare_db *db, struct tare_summary *s, struct tare_err *err);

#endif
