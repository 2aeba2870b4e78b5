/* SPDX-License-Identifier: Apache-2.0 */
/* What tare weigh reads, prints and saves. */
#ifndef TARE_CMD_WEIGH_H
#define TARE_CMD_WEIGH_H

#include "base/emit.h"
#include "base/err.h"
#include "weigh/machine.h"
#include "weigh/weigh.h"

/* weigh_read.c: a process id, or TARE_E_USAGE. */
int tare_weigh_parse_pid(const char *text, pid_t *pid, const char *command, struct tare_err *err);
/* Adds a process that must be there and may be read; else a sentence that says what to do. */
int tare_weigh_read(struct tare_weigh_processes *all, pid_t pid, const char *root, const char *command,
                    struct tare_err *err);
/* `root` holds a folder proc, or is "". */
int tare_weigh_check_root(const char *root, const char *command, struct tare_err *err);

/* Data: a member `processes`. */
void tare_weigh_print_processes(struct tare_emit *e, const struct tare_weigh_processes *all);

/* People: a line for each, the largest first. */
void tare_weigh_print_list(struct tare_emit *e, const struct tare_weigh_processes *all);

/* Users, the system, its swap, and limits. */
void tare_weigh_print_machine(struct tare_emit *e, const struct tare_weigh_machine *m,
                              const struct tare_weigh_processes *all);

/* People: that root could say more of a Tegra. */
void tare_weigh_print_nvmap(struct tare_emit *e, const struct tare_weigh_machine *m,
                            const struct tare_weigh_processes *all);

/* People: the cgroups of the processes that have a limit. */
void tare_weigh_print_limits(struct tare_emit *e, const struct tare_weigh_machine *m);

/* JSON: the members that the host's part of a report has, for tare diff. */
void tare_weigh_print_hosts(struct tare_emit *e, const struct tare_weigh_processes *all,
                            const struct tare_weigh_machine *m);

#endif
