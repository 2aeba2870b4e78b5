/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a process beside the command that tells signals to one from signals to many. */
#include "session/sibling.h"

#include "witness/procfs.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORGET_MS        1000 /* what nobody asked about within this was for the sibling alone */
#define LOOK_MS          20
#define ANSWER_MS        100
#define ANSWERS          20 /* so often is waited for: the machine may be busy */
#define COMMAND_LINE_MAX (128 << 10)

/* To the sibling: how to stop `tare`, or else which signals it has seen. */
struct request {
	pid_t stop_with;
	int stop_by;
	int asks;
	uint8_t numbers[TARE_SIBLING_ASKS];
};

static bool count_signals(int signals, uint8_t *counts, pid_t tare)
{
	struct signalfd_siginfo info;
	bool is_any = false;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if ((pid_t)info.ssi_pid == tare || info.ssi_signo >= _NSIG || counts[info.ssi_signo] == UINT8_MAX)
			continue;
		counts[info.ssi_signo]++;
		is_any = true;
	}
	return is_any;
}

static uint64_t answer(const struct request *request, uint8_t *counts)
{
	uint64_t seen = 0;

	for (int i = 0; i < request->asks; i++) {
		uint8_t *count = &counts[request->numbers[i]];

		if (*count == 0)
			continue;
		--*count;
		seen |= 1ull << i;
	}
	return seen;
}

static bool is_stopped(pid_t pid, pid_t parent)
{
	struct tare_procfs_stat stat;

	return tare_procfs_stat(pid, &stat) == 0 && stat.ppid == parent && stat.state == 'T';
}

/*
 * Looks after the stop, not before: a SIGCONT between a look and the stop would be lost, and `tare` would
 * stand still for ever. Whoever sends a request is not stopped any more.
 */
static void stop_with(const struct request *request, pid_t tare, int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	if (request->stop_by == SIGSTOP)
		kill(tare, SIGSTOP);
	while (is_stopped(request->stop_with, tare) && poll(&fd, 1, LOOK_MS) == 0)
		;
	kill(tare, SIGCONT);
}

static void serve(int socket, int signals, pid_t tare)
{
	struct pollfd fds[] = { { .fd = socket, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
	uint8_t counts[_NSIG] = { 0 };
	struct request request;
	bool has_seen = false;

	for (;;) {
		if (poll(fds, 2, has_seen ? FORGET_MS : -1) == 0) {
			memset(counts, 0, sizeof(counts));
			has_seen = false;
		}
		has_seen |= count_signals(signals, counts, tare);
		if (!fds[0].revents)
			continue;
		if (read(socket, &request, sizeof(request)) != (ssize_t)sizeof(request))
			_exit(0); /* `tare` is gone */
		if (request.stop_with) {
			stop_with(&request, tare, socket);
		} else {
			uint64_t seen = answer(&request, counts);

			send(socket, &seen, sizeof(seen), MSG_NOSIGNAL);
		}
	}
}

/* pkill and its like would take a copy of `tare` for `tare`. */
static void take_name(char *command)
{
	char *start = program_invocation_name;

	prctl(PR_SET_NAME, "signal-sibling");
	if (start < command && command - start < COMMAND_LINE_MAX)
		memset(start, ' ', (size_t)(command - start));
}

/* Of what `tare` has open nothing but the socket: a pipe ends with the last who holds it. */
static void keep_only(int socket)
{
	if (dup2(socket, 0) != 0)
		_exit(0);
	if (syscall(SYS_close_range, 1, ~0u, 0) != 0)
		for (int fd = 1, most = (int)sysconf(_SC_OPEN_MAX); fd < most; fd++)
			close(fd);
}

void tare_sibling_start(struct tare_sibling *out, char *command)
{
	int sockets[2], signals;
	pid_t tare = getpid();
	sigset_t all;

	*out = (struct tare_sibling){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return;
	out->pid = fork();
	if (out->pid == 0) {
		sigfillset(&all);
		keep_only(sockets[1]);
		signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
		take_name(command);
		if (signals < 0 || chdir("/") != 0)
			_exit(0);
		serve(0, signals, tare);
	}
	close(sockets[1]);
	out->socket = sockets[0];
	if (out->pid < 0)
		tare_sibling_end(out);
}

static bool ask(struct tare_sibling *sibling, const struct request *request)
{
	return sibling->pid > 0 && send(sibling->socket, request, sizeof(*request), MSG_NOSIGNAL) > 0;
}

/* Stopped with the group, of which then only `tare` was let go on, it cannot answer. */
static bool answer_is_there(const struct tare_sibling *sibling)
{
	struct pollfd fd = { .fd = sibling->socket, .events = POLLIN };

	for (int i = 0; i < ANSWERS; i++) {
		if (poll(&fd, 1, ANSWER_MS) > 0)
			return true;
		if (is_stopped(sibling->pid, getpid()))
			kill(sibling->pid, SIGCONT);
	}
	return false;
}

uint64_t tare_sibling_has_seen(struct tare_sibling *sibling, const uint8_t *numbers, int n)
{
	struct request request = { .asks = n };
	uint64_t seen = 0;

	memcpy(request.numbers, numbers, (size_t)n);
	while (sibling->pid > 0 && recv(sibling->socket, &seen, sizeof(seen), MSG_DONTWAIT) > 0)
		continue; /* an answer that came too late */
	seen = 0;
	if (ask(sibling, &request) && answer_is_there(sibling) &&
	    recv(sibling->socket, &seen, sizeof(seen), 0) != (ssize_t)sizeof(seen))
		seen = 0;
	return seen;
}

/*
 * A signal of a terminal stops us as it does any job, but for one: it waits until the sibling looks, so
 * that a SIGCONT takes it back.
 */
void tare_sibling_stop_with(struct tare_sibling *sibling, pid_t pid, int number)
{
	struct request request = { .stop_with = pid, .stop_by = number };
	sigset_t set;

	if (number == SIGSTOP) {
		ask(sibling, &request);
		return;
	}
	kill(getpid(), number);
	ask(sibling, &request);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void tare_sibling_end(struct tare_sibling *sibling)
{
	if (sibling->socket >= 0)
		close(sibling->socket);
	sibling->socket = -1;
	if (sibling->pid > 0) {
		kill(sibling->pid, SIGKILL); /* it may be stopped */
		waitpid(sibling->pid, NULL, 0);
	}
	sibling->pid = 0;
}
