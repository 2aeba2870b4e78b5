/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by the ids on a command line. */
#ifndef TARE_CMD_WEIGH_READ_H
#define TARE_CMD_WEIGH_READ_H

#include "base/err.h"
#include "weigh/weigh.h"

/* A process id, or TARE_E_USAGE. */
int tare_weigh_parse_pid(const char *text, pid_t *pid, const char *command, struct tare_err *err);
/* Adds a process that must be there and may be read; else a sentence that says what to do. */
int tare_weigh_read(struct tare_weigh_processes *all, pid_t pid, const char *root, const char *command,
                    struct tare_err *err);
/* `root` holds a folder proc, or is "". */
int tare_weigh_check_root(const char *root, const char *command, struct tare_err *err);

#endif
