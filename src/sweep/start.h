/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_START_H
#define TARE_SWEEP_START_H

#include "sweep/sweep.h"

#include <stdbool.h>
#include <sys/types.h>

/* A run that is held back until tare_start_go(), so that it can be written down before it begins. */
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
