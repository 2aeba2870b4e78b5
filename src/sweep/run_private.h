/* SPDX-License-Identifier: Apache-2.0 */
/* What the loop of a sweep, its preparation, and the begin and the end of a run share. */
#ifndef TARE_SWEEP_RUN_PRIVATE_H
#define TARE_SWEEP_RUN_PRIVATE_H

#include "db/db.h"
#include "sweep/machine.h"
#include "sweep/run.h"
#include "sweep/sweep.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TARE_SECOND INT64_C(1000000000)

struct tare_sweep_job {
	size_t cell;
	int repeat;
};

struct tare_sweep_slot {
	pid_t pid; /* 0: this slot is free */
	int64_t run;
	struct tare_sweep_job job;
	int64_t started_ns;    /* monotonic */
	int64_t terminated_ns; /* when SIGTERM was sent; 0: not yet */
	bool is_timed_out, is_killed;
	char *folder, *name, *gpus; /* folder: whole path; name: in the database's folder */
};

struct tare_sweep_runner {
	struct tare_db *db;
	const struct tare_sweep *s;
	const struct tare_sweep_watch *watch;
	struct tare_err *err;
	char *dir, host[256], boot[64];
	int lock, signals;
	struct tare_gpus gpus;
	struct tare_sweep_slot *slots;
	size_t slot_nr;
	struct tare_sweep_job *jobs; /* runs to be done, in order */
	size_t job_nr, job_cap, next;
	size_t total, done;
	int64_t spent_ns; /* time of the runs that ended in this session */
	size_t ended;
	int stop; /* signal that stops the sweep, 0: none */
	int64_t grace_ns;
};

/* prepare.c: finds what is still to be run, and ends what an earlier sweep of the file left behind. */
int tare_sweep_prepare(struct tare_sweep_runner *r, bool is_simulated);

/* finish.c: measures a run that has ended, and writes its rows. */
int tare_sweep_finish(struct tare_sweep_runner *r, struct tare_sweep_slot *slot, int wait_status);

/* run.c: tells whoever shows the sweep. */
void tare_sweep_show(const struct tare_sweep_runner *r, struct tare_sweep_state state);

/* start.c: a run that is held back until tare_start_go(), so that it can be written down before it begins. */
struct tare_start {
	pid_t pid; /* leader of its process group */
	int go;    /* pipe: what is written to it lets the run begin */
};

/*
 * Prepares one run of a cell: `launcher… tare record … -- CMD…` in a process group of its own, with the
 * parameters in its environment, stdout and stderr in `folder` (made here; what an earlier attempt left there
 * is removed). `gpus` NULL: the environment says which GPUs.
 */
int tare_start_prepare(struct tare_start *out, const struct tare_sweep *s, size_t cell, const char *folder,
                       const char *gpus, struct tare_err *err);
void tare_start_go(struct tare_start *start);
void tare_start_drop(struct tare_start *start); /* the run never begins */

#endif
