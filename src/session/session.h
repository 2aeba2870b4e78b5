/* SPDX-License-Identifier: Apache-2.0 */
/* One recording from its start to its end. */
#ifndef TARE_SESSION_SESSION_H
#define TARE_SESSION_SESSION_H

#include "base/err.h"
#include "session/ahead.h"
#include "session/live.h"
#include "session/rollups.h"
#include "session/target.h"
#include "session/vram.h"

#include <stdbool.h>
#include <stdint.h>

struct tare_session_options {
	const char *output;           /* -o */
	const char *into;             /* without it: the folder in which the recording gets a name of its own; or NULL */
	bool force;                   /* -f */
	const char *sim;              /* profile, or NULL */
	const char *answers;          /* TARE_SIM_ANSWERS, NULL: as the environment says */
	const char *answers_at;       /* TARE_SIM_ANSWER_AT, NULL: as the environment says */
	int ranks_running, ranks_nr;  /* of a job of which only some ranks run; 0: all do */
	uint64_t cap;                 /* bytes a recording may have */
	tare_rollup_maker *roll_up;   /* NULL: the recording is not compacted while it is written */
	tare_ahead_maker *fold_ahead; /* NULL: nothing is folded while it is written */
	tare_live_maker *live;        /* --live: draws; NULL: nothing is drawn */
	bool no_paths;
	bool paused;                /* from the start; `tare ctl` resumes */
	bool no_tensors;            /* of PyTorch: not recorded */
	bool no_scan;               /* its modules and optimizers are not looked through */
	const char *phases;         /* --phase: FILE:LINE, one per line; or NULL */
	struct tare_vram_wish vram; /* --vram, --card */
	uint64_t heap_mean;         /* as of tare_preload_find() */
	const char *stacks;         /* TARE_STACKS of the recorder, NULL: as the environment says */
	const char *const *argv;
};

struct tare_session_result {
	char *path; /* the recording */
	uint64_t bytes;
	int status;                          /* of the command, as wait(2) gives it */
	int64_t ns;                          /* how long it ran */
	uint64_t processes;                  /* that opened a log: they called the driver */
	int unrecorded;                      /* processes that used the GPU past the recorder */
	uint64_t refused;                    /* that could not open one */
	int alive;                           /* still running when the command had ended */
	bool was_paused;                     /* and never resumed */
	int disk_errno;                      /* writing failed with this, at some time */
	uint64_t lost;                       /* records given up */
	uint32_t lost_reason;                /* enum tare_lost_reason: of some of them */
	char *notice;                        /* one sentence that the user should see, or NULL */
	char *wanted;                        /* of a simulated GPU: sentences, one a line, on what it lacked */
	uint64_t heap_mean;                  /* that of the options */
	char *no_live;                       /* why there were no live lines though they were asked for, or NULL */
	int64_t away_ns[TARE_REGION_WHY_NR]; /* how long there were none of them, by why */
	struct tare_target target;
	struct tare_ahead_state ahead; /* what was folded already, … */
	int ahead_file;                /* … or -1 */
};

/*
 * Runs the command and records it. Fails only if the command did not run: then err->code says
 * whether it was not found (NOT_FOUND), not executable (DENIED), or Tare's own failure.
 */
int tare_session_run(const struct tare_session_options *options, struct tare_session_result *out, struct tare_err *err);
void tare_session_result_free(struct tare_session_result *result);

#endif
