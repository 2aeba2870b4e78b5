/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the command, waits for it, and says how it ended. */
#include "session/child.h"

#include "base/private.h"
#include "session/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_variable(const char *name, const char *value, void *arg)
{
	(void)arg;
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

void tare_child_prepare(struct tare_child *child)
{
	memset(child, 0, sizeof(*child));
	child->signals = child->sibling.socket = -1;
	tare_inherit_take(&child->inherited);
}

static void run_child(const struct tare_inherited *inherited, const char *const *argv,
                      const struct tare_preload *preload, const char *folder, int go, int report)
{
	int failure;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(127); /* nobody is there any more */
	if (preload)
		tare_preload_each(preload, folder, set_variable, NULL);
	tare_private_end();
	tare_inherit_give(inherited);
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
		return tare_err_set(err, TARE_E_DENIED, "%s: is a folder and cannot be executed; name the program in it",
		                    command);
	if (failure == EACCES && is_there && !(st.st_mode & 0111))
		return tare_err_set(err, TARE_E_DENIED, "%s: cannot be executed; make it executable with chmod +x", command);
	if (failure == EACCES || failure == ENOEXEC)
		return tare_err_set(err, TARE_E_DENIED,
		                    "%s: cannot be executed (%s); check its owner, its mode and what it was built for", command,
		                    strerror(failure));
	return tare_err_set_errno(err, failure, "%s: cannot be started", command);
}

static int open_pipes(int report[2], int go[2])
{
	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	if (pipe2(go, O_CLOEXEC) == 0)
		return 0;
	close(report[0]);
	close(report[1]);
	return errno;
}

/*
 * The child waits, with all signals blocked, until the sibling is there. What came until then is sent to
 * it in any case: a signal that it has already is not there twice.
 */
static void let_go(struct tare_child *child, const char *const *argv, int go)
{
	tare_sibling_start(&child->sibling, (char *)argv[0]);
	tare_forward_all(child);
	tare_inherit_drop(&child->inherited);
	if (write(go, "", 1) != 1)
		kill(child->pid, SIGKILL);
}

int tare_child_start(struct tare_child *child, const char *const *argv, const struct tare_preload *preload,
                     const char *folder, struct tare_err *err)
{
	int report[2], go[2], failure = open_pipes(report, go);

	if (failure)
		return tare_err_set_errno(err, failure, "%s: cannot be started", argv[0]);
	tare_forward_start(child);
	child->pid = fork();
	if (child->pid == 0) {
		close(go[1]);
		run_child(&child->inherited, argv, preload, folder, go[0], report[1]);
	}
	if (child->pid < 0)
		failure = errno;
	close(report[1]);
	close(go[0]);
	if (child->pid > 0) {
		tare_live_leader(child->live, child->pid);
		let_go(child, argv, go[1]);
		if (read(report[0], &failure, sizeof(failure)) != (ssize_t)sizeof(failure))
			failure = 0; /* closed by a successful exec */
	}
	close(report[0]);
	close(go[1]);
	if (failure == 0)
		return 0;
	if (child->pid > 0)
		waitpid(child->pid, NULL, 0);
	tare_child_close(child);
	return explain(argv[0], failure, err);
}

/* Whoever else ends here is an orphan that we have as process 1 of a container, or the sibling. */
static bool reap(struct tare_child *child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		bool is_stopped = WIFSTOPPED(status), goes_on = WIFCONTINUED(status);

		if (pid == child->sibling.pid && !is_stopped && !goes_on) {
			child->sibling.pid = 0;
			tare_sibling_end(&child->sibling);
		}
		if (pid != child->pid)
			continue;
		if (is_stopped || goes_on)
			tare_live_stop(child->live, is_stopped);
		if (goes_on)
			continue;
		child->status = status;
		if (!is_stopped)
			return true;
		tare_sibling_stop_with(&child->sibling, pid, WSTOPSIG(status));
	}
	return false;
}

bool tare_child_wait(struct tare_child *child, int fd, int ms)
{
	bool is_full = child->held_nr == TARE_SIBLING_ASKS;
	struct pollfd fds[] = { { .fd = child->signals, .events = is_full ? 0 : POLLIN }, { .fd = fd, .events = POLLIN } };

	poll(fds, 2, child->held_nr && ms > TARE_FORWARD_GRACE_MS ? TARE_FORWARD_GRACE_MS : ms);
	tare_forward_turn(child);
	return reap(child);
}

void tare_child_close(struct tare_child *child)
{
	tare_sibling_end(&child->sibling);
	tare_forward_end(child);
}

int tare_child_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
