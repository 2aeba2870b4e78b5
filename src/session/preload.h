/* SPDX-License-Identifier: Apache-2.0 */
/* The environment that records a program: used by `tare run` for its child, printed by `tare env`. */
#ifndef TARE_SESSION_PRELOAD_H
#define TARE_SESSION_PRELOAD_H

#include "base/err.h"
#include "base/owned.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TARE_SIM_MOST = 64,         /* GPUs of a simulated machine */
	TARE_SIM_RANKS_MOST = 65536 /* ranks of a job of which some run on it */
};

struct tare_preload {
	TARE_OWNED char *library; /* the recorder, under a path without spaces and colons */
	TARE_OWNED char *own;     /* what of ours is preloaded: it, and of a simulated GPU the loader of libraries */
	TARE_OWNED char *list;    /* LD_PRELOAD: that, then what was there */
	TARE_OWNED char *nvtx;    /* a tool for NVTX that was there, or NULL */
	TARE_OWNED char *sim_dir, *library_path; /* simulated GPU: its libraries, LD_LIBRARY_PATH; else NULL */
	TARE_OWNED char *sim_loader;             /* likewise: what lets programs find the libraries above it */
	TARE_OWNED char *sim_profile, *sim_state;
	TARE_OWNED char *sim_devices; /* how many GPUs the simulated machine has; NULL: as the environment says */
	int ranks_running, ranks_nr;  /* TARE_SIM_RANKS of TARE_SIM_WORLD; 0: not said */
	TARE_OWNED char *python_path; /* for these: PYTHONPATH */
	const char *answers;          /* the caller's, for TARE_SIM_ANSWERS; NULL: as the environment says */
	const char *answers_at;       /* the same for TARE_SIM_ANSWER_AT */
	bool no_tensors, no_scan;     /* set by the caller */
	const char *phases;           /* lines of Python programs, one per line; NULL: none; the caller's */
	/* where processes tell of paths; NULL: in the recording; the caller's */
	const char *no_paths;
	bool has_vram;      /* the recording has a file of cards */
	int filters;        /* of system calls, that the program inherits from us; -1: not known */
	uint64_t heap_mean; /* TARE_HOST; 0: the heap is not recorded */
	const char *stacks; /* the caller's, for TARE_STACKS; NULL: as the environment says */
};

/*
 * `sim`: a profile of the simulated GPU, or PROFILE:N for N of them, or NULL for the real one; `state`: the folder where
 * processes on one simulated machine meet, NULL to take TARE_SIM_DIR or `folder`. `heap_mean`: of the heap (--host) 1:
 * every block, 2^n: of smaller ones on average one in so many bytes, 0: none.
 */
int tare_preload_find(struct tare_preload *out, const char *sim, const char *folder, uint64_t heap_mean,
                      struct tare_err *err);

/*
 * Only the first `running` of `world` ranks run, each on a simulated GPU: the machine has as many, unless it was said how
 * many it has.
 */
int tare_preload_ranks(struct tare_preload *preload, int running, int world, struct tare_err *err);

/* Calls set(name, value) for every variable; value NULL: to be unset. */
void tare_preload_each(const struct tare_preload *preload, const char *folder,
                       void (*set)(const char *name, const char *value, void *arg), void *arg);
TARE_FREES(tare_preload_free, tare_preload);

#endif
