/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the processes that `tare weigh` was asked for, or says why it cannot. */
#include "cmd/weigh.h"

#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int tare_weigh_parse_pid(const char *text, pid_t *pid, const char *command, struct tare_err *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text || value <= 0 || value > INT_MAX)
		return tare_err_set(err, TARE_E_USAGE, "%s: %s is no process id; it takes numbers, as ps shows them", command,
		                    text);
	*pid = (pid_t)value;
	return 0;
}

/* Why a process that was asked for is not shown. */
static int explain_failure(const struct tare_weigh_process *p, const char *root, const char *command,
                           struct tare_err *err)
{
	const char *name = *p->name ? p->name : "?";

	switch (p->failure) {
	case -ESRCH:
		return tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no process %d%s%s; tare weigh lists all", command,
		                    (int)p->pid, *root ? " below " : "", root);
	case -ENODATA:
		return tare_err_set(err, TARE_E_EMPTY,
		                    "%s: process %d (%s) has no memory of its own: it is a thread of "
		                    "the kernel, or has ended",
		                    command, (int)p->pid, name);
	case -EACCES:
		if (!geteuid())
			return tare_err_set(err, TARE_E_DENIED,
			                    "%s: process %d (%s) of %s may not be read even by root here; "
			                    "a container needs: docker run --cap-add SYS_PTRACE",
			                    command, (int)p->pid, name, p->user);
		return tare_err_set(err, TARE_E_DENIED, "%s: process %d (%s) of %s may not be read; run: sudo tare %s %d",
		                    command, (int)p->pid, name, p->user, command, (int)p->pid);
	case -EINVAL:
		return tare_err_set(err, TARE_E_FORMAT,
		                    "%s: %s/proc/%d has a status or smaps that is not in the form of "
		                    "Linux; copy it again",
		                    command, root, (int)p->pid);
	default:
		return tare_err_set_errno(err, -p->failure, "%s: process %d (%s)", command, (int)p->pid, name);
	}
}

int tare_weigh_read(struct tare_weigh_processes *all, pid_t pid, const char *root, const char *command,
                    struct tare_err *err)
{
	int rc;

	tare_weigh_add(all, root, pid);
	if (!all->items[all->count - 1].failure)
		return 0;
	rc = explain_failure(&all->items[all->count - 1], root, command, err);
	tare_weigh_free(all);
	return rc;
}

int tare_weigh_check_root(const char *root, const char *command, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	struct stat about;
	int rc = 0;

	if (!*root)
		return 0;
	tare_str_addf(&path, "%s/proc", root);
	if (stat(tare_str_text(&path), &about) != 0)
		rc = tare_err_set_errno(err, errno, "%s: %s; --root takes the folder that holds proc", command,
		                        tare_str_text(&path));
	return rc;
}
