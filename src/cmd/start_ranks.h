/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of `tare predict --ranks`: what torchrun would start on one machine. */
#ifndef TARE_CMD_START_RANKS_H
#define TARE_CMD_START_RANKS_H

#include <stdbool.h>

/* How a process of ours is told to be what starts the ranks: tare WORD N CMD [ARG]…; no command of people. */
#define TARE_START_RANKS "--start-ranks"

enum { TARE_START_RANKS_MOST = 64 };

/* Is the command one that starts ranks itself, such as torchrun? */
bool tare_starts_ranks(char *const *argv);

/*
 * Runs the command N times at once, each with the variables by which torch.distributed finds the others, and ends all when one
 * fails. The exit code is that of the first that failed.
 */
int tare_start_ranks(int argc, char **argv);

#endif
