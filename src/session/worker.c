/* SPDX-License-Identifier: Apache-2.0 */
/* A process of `tare` that makes rollups, and the socket by which it is asked and answers. */
#include "session/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NICE = 10 };

static void hush(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

/* Until nobody can ask any more. */
static void work(int socket, tare_rollup_maker *make, const char *folder)
{
	struct tare_rollup_wish wish;
	ssize_t n;

	hush();
	while ((n = recv(socket, &wish, sizeof(wish), 0)) == (ssize_t)sizeof(wish) || (n < 0 && errno == EINTR)) {
		char said;

		if (n < 0)
			continue;
		if (!wish.is_urgent)
			setpriority(PRIO_PROCESS, 0, NICE);
		said = make(folder, &wish) == 0;
		if (send(socket, &said, 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

static bool start(struct tare_rollup_worker *w, tare_rollup_maker *make, const char *folder)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	w->pid = fork();
	if (w->pid == 0) {
		close(ends[0]);
		work(ends[1], make, folder);
	}
	close(ends[1]);
	w->socket = ends[0];
	if (w->pid < 0)
		tare_worker_end(w);
	return w->pid > 0;
}

static bool ask(const struct tare_rollup_worker *w, const struct tare_rollup_wish *wish)
{
	return send(w->socket, wish, sizeof(*wish), MSG_NOSIGNAL) == (ssize_t)sizeof(*wish);
}

/* One that is gone is seen when it is asked: another takes its place. */
bool tare_worker_ask(struct tare_rollup_worker *w, tare_rollup_maker *make, const char *folder,
                     const struct tare_rollup_wish *wish)
{
	if (w->socket >= 0 && ask(w, wish))
		return true;
	tare_worker_end(w);
	if (start(w, make, folder) && ask(w, wish))
		return true;
	tare_worker_end(w);
	return false;
}

bool tare_worker_answer(struct tare_rollup_worker *w)
{
	char said = 0;

	if (recv(w->socket, &said, 1, MSG_DONTWAIT) != 1)
		tare_worker_end(w);
	return said;
}

void tare_worker_end(struct tare_rollup_worker *w)
{
	if (w->socket >= 0)
		close(w->socket);
	*w = TARE_WORKER_NONE;
}
