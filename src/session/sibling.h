/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that stands beside the command, in its group, and does nothing: no signal says whether it
 * was sent to `tare` alone or to many, but what was sent to many (a group, a session, a cgroup)
 * reaches the sibling too, and then the command has it already. And whoever is stopped can do nothing
 * about it: the sibling stops `tare` while the command is stopped, so that a shell sees the job stop,
 * and lets it go on with it.
 */
#ifndef TARE_SESSION_SIBLING_H
#define TARE_SESSION_SIBLING_H

#include <stdint.h>
#include <sys/types.h>

struct tare_sibling {
	pid_t pid; /* 0: there is none */
	int socket;
};

enum { TARE_SIBLING_ASKS = 64 };

/*
 * Called with all signals blocked. `command`: of the argv that this process was started with; what
 * looks for processes by their command line finds the sibling with the command, not with `tare`.
 */
void tare_sibling_start(struct tare_sibling *out, char *command);

/*
 * Which of `n` signals (bit i for numbers[i]) have reached it too, within about a second and each as
 * often as it is asked for. None, if it is gone.
 */
uint64_t tare_sibling_has_seen(struct tare_sibling *sibling, const uint8_t *numbers, int n);

/*
 * Stops `tare` as its child `pid` was stopped, by `number`, until the child goes on or a SIGCONT comes.
 * Called with all signals blocked.
 */
void tare_sibling_stop_with(struct tare_sibling *sibling, pid_t pid, int number);

/* It was reaped, or is to go. */
void tare_sibling_end(struct tare_sibling *sibling);

#endif
