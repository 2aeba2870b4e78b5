/* SPDX-License-Identifier: Apache-2.0 */
/* Survives SIGBUS of a mapped file that was cut short. */
#include "session/lanes.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

static sigjmp_buf way_out;
static volatile sig_atomic_t is_guarded, is_installed;

static void leave(int number)
{
	if (is_guarded)
		siglongjmp(way_out, 1);
	signal(number, SIG_DFL); /* a fault of our own: it comes again, and ends us */
}

/* Once: it is asked for many times a second. Not blocked while it runs, for it does not return. */
static void install(void)
{
	struct sigaction guard;

	memset(&guard, 0, sizeof(guard));
	guard.sa_handler = leave;
	guard.sa_flags = SA_NODEFER;
	sigemptyset(&guard.sa_mask);
	sigaction(SIGBUS, &guard, NULL);
	is_installed = 1;
}

bool tare_bus_guard(void (*work)(void *arg), void *arg)
{
	volatile bool is_whole = false;

	if (!is_installed)
		install();
	if (sigsetjmp(way_out, 0) == 0) {
		is_guarded = 1;
		work(arg);
		is_whole = true;
	}
	is_guarded = 0;
	return is_whole;
}
