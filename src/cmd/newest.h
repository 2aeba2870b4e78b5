/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_NEWEST_H
#define TARE_CMD_NEWEST_H

#include "base/arena.h"
#include "base/args.h"

/*
 * Where no recording was named: adds the newest of the current folder to `rest`, with_ranks also the other ranks of its job, and
 * says on stderr which one that is. Does nothing if there is an operand already. USAGE if there is no recording here.
 */
int tare_newest_add(struct tare_operands *rest, struct tare_arena *names, bool with_ranks, const char *command,
                    struct tare_err *err);

#endif
