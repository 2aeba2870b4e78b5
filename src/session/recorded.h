/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes a recording is of, and which recording a process is in: from outside. */
#ifndef TARE_SESSION_RECORDED_H
#define TARE_SESSION_RECORDED_H

#include "base/err.h"
#include "session/drain.h"

/* Every process that has a log in the folder: its newest generation, and whether it still runs. */
size_t tare_recorded_processes(const char *folder, struct tare_drain_process *out, size_t max);

/*
 * The recording that a process was started to be in, by its environment as it was then; the caller frees it.
 * NULL: none, or we may not look.
 */
char *tare_recorded_to_be(const char *pid);

/*
 * The recording that the process `pid` is in: as a recorded one, or as the `tare` that records others.
 * NOT_FOUND where there is no such process, or it is in none.
 */
int tare_recorded_by_pid(const char *pid, char **folder, struct tare_err *err);

#endif
