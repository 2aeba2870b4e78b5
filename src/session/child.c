/* SPDX-License-Identifier: Apache-2.0 */
#include "session/child.h"

#include "base/private.h"
#include "session/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a user or a scheduler sends to the process they know, which is `tare`. */
static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGXCPU };

static void fill_mask(sigset_t *mask)
{
	size_t i;

	sigemptyset(mask);
	sigaddset(mask, SIGCHLD);
	for (i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(mask, forwarded[i]);
}

static void set_variable(const char *name, const char *value, void *arg)
{
	(void)arg;
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static struct sigaction old_file_size;

void tare_child_prepare(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignore, &old_file_size);
}

static void run_child(const char *const *argv, const struct tare_preload *preload, const char *folder,
		      const sigset_t *old_mask, int report)
{
	int failure;

	if (preload)
		tare_preload_each(preload, folder, set_variable, NULL);
	sigaction(SIGXFSZ, &old_file_size, NULL);
	sigprocmask(SIG_SETMASK, old_mask, NULL);
	tare_private_end();
	execvp(argv[0], (char *const *)argv);
	failure = errno;
	if (write(report, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

/* Why exec failed, in words that say what to do. */
static int explain(const char *command, int failure, struct tare_err *err)
{
	struct tare_target target;
	struct stat st;
	bool is_there = strchr(command, '/') && stat(command, &st) == 0;

	if (failure == ENOENT && is_there)
		return tare_err_set(err, TARE_E_NOT_FOUND,
				    "%s: the interpreter that its first line or its ELF header names is not there; "
				    "install it, or correct the line",
				    command);
	tare_target_look(&target, command);
	/* execvp says EACCES for a folder of PATH that it may not search. */
	if (failure == ENOENT || failure == ENOTDIR || !target.path[0])
		return tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such command; check its name and PATH", command);
	if (failure == EACCES && is_there && S_ISDIR(st.st_mode))
		return tare_err_set(err, TARE_E_DENIED, "%s: is a folder and cannot be executed; name the program in it", command);
	if (failure == EACCES && is_there && !(st.st_mode & 0111))
		return tare_err_set(err, TARE_E_DENIED, "%s: cannot be executed; make it executable with chmod +x", command);
	if (failure == EACCES || failure == ENOEXEC)
		return tare_err_set(err, TARE_E_DENIED,
				    "%s: cannot be executed (%s); check its owner, its mode and what it was built for",
				    command, strerror(failure));
	return tare_err_set_errno(err, failure, "%s: cannot be started", command);
}

int tare_child_start(struct tare_child *out, const char *const *argv, const struct tare_preload *preload,
		     const char *folder, struct tare_err *err)
{
	int pipes[2], failure = 0;
	sigset_t mask, old_mask;

	memset(out, 0, sizeof(*out));
	if (pipe2(pipes, O_CLOEXEC) != 0)
		return tare_err_set_errno(err, errno, "%s: cannot be started", argv[0]);
	fill_mask(&mask);
	sigprocmask(SIG_BLOCK, &mask, &old_mask);
	out->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	out->pid = fork();
	if (out->pid == 0)
		run_child(argv, preload, folder, &old_mask, pipes[1]);
	close(pipes[1]);
	if (out->pid < 0)
		failure = errno;
	else if (read(pipes[0], &failure, sizeof(failure)) != (ssize_t)sizeof(failure))
		failure = 0; /* closed by a successful exec */
	close(pipes[0]);
	if (failure == 0)
		return 0;
	if (out->pid > 0)
		waitpid(out->pid, NULL, 0);
	tare_child_close(out);
	return explain(argv[0], failure, err);
}

/* A signal from the terminal went to the whole foreground group, the child included. */
static bool came_from_terminal(const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_KERNEL;
}

bool tare_child_wait(struct tare_child *child, int fd, int ms)
{
	struct pollfd fds[] = { { .fd = child->signals, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	struct signalfd_siginfo info;

	poll(fds, 2, ms);
	while (read(child->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD && !came_from_terminal(&info))
			kill(child->pid, (int)info.ssi_signo);
	return waitpid(child->pid, &child->status, WNOHANG) == child->pid;
}

void tare_child_close(struct tare_child *child)
{
	if (child->signals >= 0)
		close(child->signals);
	child->signals = -1;
}

int tare_child_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
