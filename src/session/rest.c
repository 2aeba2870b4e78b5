/* SPDX-License-Identifier: Apache-2.0 */
/* Makes small what is left of a recording while it is read. */
#include "session/rest.h"

#include "base/progress.h"
#include "base/xalloc.h"
#include "session/roll.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Of one that is stuck, on a disk for example, the logs stay as they are: `tare compact` goes on from there. */
enum { END_MS = 15000 };

struct tare_rest {
	int reads; /* written to when the recording is read; who is forked meanwhile has it open, too */
	int done; /* readable when the process has ended */
};

static void close_both(int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static void wait_for(int fd, int ms)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };

	poll(&end, 1, ms);
}

/* A Ctrl-C is meant for the report: it ends the reading, and with that this process. */
static void work(struct tare_roll *roll, int reads)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	tare_progress_is_on = false;
	tare_roll_keep_logs(roll, reads);
	tare_roll_finish(roll, true);
	wait_for(reads, -1);
	tare_roll_keep_logs(roll, -1);
	tare_roll_finish(roll, true);
	_exit(0);
}

struct tare_rest *tare_rest_begin(struct tare_roll *roll)
{
	struct tare_rest *rest;
	int reads[2], done[2];
	pid_t pid;

	if (pipe2(reads, O_CLOEXEC) < 0)
		return NULL;
	if (pipe2(done, O_CLOEXEC) < 0) {
		close_both(reads);
		return NULL;
	}
	pid = fork();
	if (pid == 0) {
		close(reads[1]);
		close(done[0]);
		work(roll, reads[0]);
	}
	if (pid < 0) {
		close_both(reads);
		close_both(done);
		return NULL;
	}
	close(reads[0]);
	close(done[1]);
	rest = tare_xcalloc(1, sizeof(*rest));
	rest->reads = reads[1];
	rest->done = done[0];
	return rest;
}

void tare_rest_end(struct tare_rest *rest)
{
	if (!rest)
		return;
	if (write(rest->reads, "", 1) == 1)
		wait_for(rest->done, END_MS);
	close(rest->reads);
	close(rest->done);
	free(rest);
}
