/* SPDX-License-Identifier: Apache-2.0 */
/* The command as our child: started with its environment, signals passed on, waited for. */
#ifndef TARE_SESSION_CHILD_H
#define TARE_SESSION_CHILD_H

#include "base/err.h"
#include "session/preload.h"

#include <stdbool.h>
#include <sys/types.h>

struct tare_child {
	pid_t pid;
	int signals; /* signalfd */
	int status; /* as wait(2) gives it, once it has ended */
};

/* Before anything is written: ulimit -f must not end `tare`. The child's signals stay as they were. */
void tare_child_prepare(void);

/*
 * Starts `argv`. On failure to execute, err->code is TARE_E_NOT_FOUND or TARE_E_DENIED and nothing
 * runs. `preload` NULL: the command is run without a recorder.
 */
int tare_child_start(struct tare_child *out, const char *const *argv, const struct tare_preload *preload,
		     const char *folder, struct tare_err *err);

/* Waits up to `ms` for a signal, `fd` (-1: none) or the end; passes signals on. True once it has ended. */
bool tare_child_wait(struct tare_child *child, int fd, int ms);
void tare_child_close(struct tare_child *child);

/* Its exit code, or 128 + n for signal n. */
int tare_child_exit_code(int status);

#endif
