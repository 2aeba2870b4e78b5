/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the process that draws, tells it what the program does, and puts the terminal back where it cannot. */
#include "session/live.h"

#include "base/xalloc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_MS = 300, END_MS = 2000 };

struct tare_live {
	struct tare_region *region;
	pid_t *leader; /* mapped by both */
	pid_t pid;
	int socket;
};

/* With all signals blocked from its begin on: a Ctrl-C is not meant for it, and a Ctrl-Z must not stop it before it has put the lines away. */
static void begin(struct tare_live *live, const char *folder, tare_live_maker *make, int socket)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	live->pid = fork();
	if (live->pid == 0) {
		close(live->socket);
		make(folder, live->region, live->leader, socket);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void discard(struct tare_live *live)
{
	tare_region_free(live->region);
	if (live->leader != MAP_FAILED)
		munmap(live->leader, sizeof(*live->leader));
	if (live->socket >= 0)
		close(live->socket);
	free(live);
}

struct tare_live *tare_live_start(const char *folder, tare_live_maker *make, char **why)
{
	struct tare_live *live;
	struct tare_err err = { 0 };
	int sockets[2] = { -1, -1 };

	if (!make)
		return NULL;
	live = tare_xcalloc(1, sizeof(*live));
	live->socket = -1;
	live->leader = mmap(NULL, sizeof(*live->leader), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	live->region = tare_region_open(&err);
	if (!live->region || live->leader == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
		if (live->region)
			tare_err_set_errno(&err, errno, "lines at the bottom of the terminal");
		*why = tare_xstrdup(err.text);
		discard(live);
		return NULL;
	}
	live->socket = sockets[0];
	tare_region_turn(live->region, 0, false);
	begin(live, folder, make, sockets[1]);
	close(sockets[1]);
	return live;
}

void tare_live_leader(struct tare_live *live, pid_t pid)
{
	if (live)
		__atomic_store_n(live->leader, pid, __ATOMIC_RELAXED);
}

/* False: nobody answers in time, or ever. */
static bool tell(const struct tare_live *live, char word, int wait_ms)
{
	struct pollfd fd = { .fd = live->socket, .events = POLLIN };
	char answer;

	if (live->pid <= 0 || send(live->socket, &word, 1, MSG_NOSIGNAL) != 1)
		return false;
	if (!wait_ms)
		return true;
	return poll(&fd, 1, wait_ms) > 0 && read(live->socket, &answer, 1) >= 0;
}

void tare_live_stop(struct tare_live *live, bool is_stopped)
{
	if (!live)
		return;
	if (!is_stopped)
		tell(live, TARE_LIVE_GOES_ON, 0);
	else if (!tell(live, TARE_LIVE_STOPPED, STOP_MS))
		tare_region_turn(live->region, *live->leader, true);
}

/* Whoever draws may have been killed: then what it has left is put back here, and else there is nothing to do. */
void tare_live_end(struct tare_live *live, bool is_crash, int64_t *away_ns)
{
	if (!live)
		return;
	tell(live, is_crash ? TARE_LIVE_CRASHED : TARE_LIVE_ENDED, END_MS);
	if (live->pid > 0) {
		kill(live->pid, SIGKILL);
		waitpid(live->pid, NULL, 0);
	}
	tare_region_end(live->region, is_crash);
	memcpy(away_ns, live->region->away_ns, sizeof(live->region->away_ns));
	discard(live);
}
