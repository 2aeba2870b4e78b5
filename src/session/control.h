/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commanding a recording that runs: the control word in the page that `tare` and the recorded
 * processes share. It works without that `tare`, which may have been killed.
 */
#ifndef TARE_SESSION_CONTROL_H
#define TARE_SESSION_CONTROL_H

#include "base/err.h"
#include "record/format.h"

#include <stdbool.h>
#include <stdint.h>

struct tare_controlled {
	char *path; /* of the recording, as it was found */
	char *work; /* where it is written: the same, or a spool */
	struct tare_control *page;
	bool no_paths;    /* may be written into it */
	bool has_tare;    /* the `tare` that made it runs */
	uint64_t running; /* recorded processes that run */
};

/*
 * `target`: a recording's folder, or the pid of a `tare run` or of a recorded process. Fails for what
 * is no recording, has ended, or has nothing left that runs.
 */
int tare_control_open(struct tare_controlled *out, const char *target, struct tare_err *err);
/* Does its `tare`, or a process that it recorded, still run? Of what is no recording: no. */
bool tare_control_is_written(const char *folder);
void tare_control_close(struct tare_controlled *c);

/*
 * Does it and writes down what was in use then. `name` is of a snapshot, "" for none; `number` is the
 * snapshot's, or 0 if the word said so already and nothing was done. Fails if the recording was stopped.
 */
int tare_control_act(struct tare_controlled *c, enum tare_act act, const char *name, uint32_t *number,
                     struct tare_err *err);

#endif
