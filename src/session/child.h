/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SESSION_CHILD_H
#define TARE_SESSION_CHILD_H

#include "base/err.h"
#include "session/inherit.h"
#include "session/live.h"
#include "session/preload.h"
#include "session/sibling.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

/*
 * The command as our child: started with its environment and all that it would have inherited without
 * us, waited for, stopped with. Each signal reaches it once, whether it was sent to us or to the group.
 */
struct tare_child {
	pid_t pid;
	int signals;            /* signalfd of all of them */
	int status;             /* as wait(2) gives it, once it has ended */
	struct tare_live *live; /* told when it stops and goes on; NULL: nobody is */
	struct tare_inherited inherited;
	struct tare_sibling sibling;
	/* Not yet judged whether they reached the child by themselves. */
	struct {
		struct signalfd_siginfo info;
		int64_t due_ms; /* when they are */
	} held[TARE_SIBLING_ASKS];
	int held_nr;
};

/* Before anything is written: ulimit -f must not end `tare`. */
void tare_child_prepare(struct tare_child *child);

/*
 * Starts `argv`. On failure to execute, err->code is TARE_E_NOT_FOUND or TARE_E_DENIED and nothing
 * runs. `preload` NULL: the command is run without a recorder.
 */
int tare_child_start(struct tare_child *child, const char *const *argv, const struct tare_preload *preload,
                     const char *folder, struct tare_err *err);

/* Waits up to `ms` for a signal, `fd` (-1: none) or the end; passes signals on. True once it has ended. */
bool tare_child_wait(struct tare_child *child, int fd, int ms);
/* From here on signals end `tare` as they would have before. */
void tare_child_close(struct tare_child *child);

/* Its exit code, or 128 + n for signal n. */
int tare_child_exit_code(int status);

/*
 * forward.c: the signals that reach `tare` and are the command's: each is passed on that it has not got by itself. Whoever
 * signals processes one by one needs a moment for all of them.
 */
enum { TARE_FORWARD_GRACE_MS = 30 };

/* Blocks all signals; from here on they are read. */
void tare_forward_start(struct tare_child *child);

/* What came until now, also what we inherited as pending: to a child that has all of them blocked. */
void tare_forward_all(struct tare_child *child);

/* What came before a moment, and the sibling has not seen. */
void tare_forward_turn(struct tare_child *child);

/* The child has ended: what came until now was for it, what comes is for `tare` itself. */
void tare_forward_end(struct tare_child *child);

#endif
