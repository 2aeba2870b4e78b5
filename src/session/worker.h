/* SPDX-License-Identifier: Apache-2.0 */
/* A process of `tare` that makes rollups one after the other: it need not be started for each, and its memory is there. */
#ifndef TARE_SESSION_WORKER_H
#define TARE_SESSION_WORKER_H

#include "session/rollups.h"

#include <sys/types.h>

struct tare_rollup_worker {
	int socket; /* of a process that was started; readable when it is done with what it was asked for, or gone; -1: there is none */
	pid_t pid;
};

#define TARE_WORKER_NONE ((struct tare_rollup_worker){ .socket = -1 })

/* It prints nothing, and ignores a Ctrl-C. Started where there is none. False: it cannot be asked. pre: it is not at work. */
bool tare_worker_ask(struct tare_rollup_worker *w, tare_rollup_maker *make, const char *folder,
                     const struct tare_rollup_wish *wish);
/* What it came to, once; false: it failed, or is gone. */
bool tare_worker_answer(struct tare_rollup_worker *w);
/* Whatever it is at goes on, and then it ends. */
void tare_worker_end(struct tare_rollup_worker *w);

#endif
