/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the signal mask, timers and the death signal as the command is to inherit them. */
#include "session/inherit.h"

#include <string.h>
#include <sys/prctl.h>

static const __itimer_which_t timers[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
#define TIMERS (sizeof(timers) / sizeof(timers[0]))

void tare_inherit_take(struct tare_inherited *out)
{
	struct sigaction as_usual = { .sa_handler = SIG_DFL };
	sigset_t file_size;

	memset(out, 0, sizeof(*out));
	sigemptyset(&file_size);
	sigaddset(&file_size, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &file_size, &out->mask); /* ignored, one that the program is to get would be lost */
	/* Where SIGCHLD is ignored, nobody can wait for a child. */
	sigaction(SIGCHLD, &as_usual, &out->children);
	for (size_t i = 0; i < TIMERS; i++)
		getitimer(timers[i], &out->timers[i]);
	prctl(PR_GET_PDEATHSIG, &out->death_signal);
	prctl(PR_GET_CHILD_SUBREAPER, &out->is_subreaper);
}

void tare_inherit_give(const struct tare_inherited *inherited)
{
	if (inherited->is_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (inherited->death_signal)
		prctl(PR_SET_PDEATHSIG, inherited->death_signal);
	for (size_t i = 0; i < TIMERS; i++)
		setitimer(timers[i], &inherited->timers[i], NULL);
	sigaction(SIGCHLD, &inherited->children, NULL);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

void tare_inherit_drop(const struct tare_inherited *inherited)
{
	struct itimerval none;

	memset(&none, 0, sizeof(none));
	for (size_t i = 0; i < TIMERS; i++)
		setitimer(timers[i], &none, NULL);
	if (inherited->is_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void tare_inherit_unblock(const struct tare_inherited *inherited)
{
	sigset_t mask = inherited->mask;

	sigaddset(&mask, SIGXFSZ);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}
