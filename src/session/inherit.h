/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program inherits from whoever executes it, and would not have from a parent that forks:
 * `tare` takes it at its start, lays its own over it, and gives it to the command before exec.
 */
#ifndef TARE_SESSION_INHERIT_H
#define TARE_SESSION_INHERIT_H

#include <signal.h>
#include <sys/time.h>

struct tare_inherited {
	sigset_t mask;
	struct sigaction children;  /* of SIGCHLD */
	struct itimerval timers[3]; /* alarm(2) and its like go on over an exec */
	int death_signal;           /* sent when the parent ends */
	int is_subreaper;
};

/* From here on `tare` can wait for children, and a file that grows too large is an error, not its end. */
void tare_inherit_take(struct tare_inherited *out);

/* In the child of fork, with all signals blocked, just before exec. */
void tare_inherit_give(const struct tare_inherited *inherited);

/* In `tare`, once the child has it: an alarm rings only once. */
void tare_inherit_drop(const struct tare_inherited *inherited);

/* In `tare`, when the child has ended: signals are its own again, but for a file that grows too large. */
void tare_inherit_unblock(const struct tare_inherited *inherited);

#endif
