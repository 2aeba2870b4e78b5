/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary folders of a command, which are removed when the command ends, also by a signal: what the signal handler
 * calls is async-signal-safe.
 */
#include "base/temp_folder.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FOLDERS_MOST = 16, /* at once; what is more goes only in the usual way */
	DEPTH_MOST = 64,
	PASSES_MOST = 4, /* a folder from which names go may be listed only in part */
	WAIT_MS = 20,
	WAITS_MOST = 250, /* for a writer, and as long once more when it was told again */
};

/* One list for the process, for a signal handler must find it. Folders that a parent put into it are not a child's to remove. */
static struct {
	char paths[FOLDERS_MOST][PATH_MAX];
	volatile pid_t owners[FOLDERS_MOST]; /* 0: the place is free */
	volatile pid_t writer;
	bool is_ready;
} temp;

/* ---- removing, without memory of its own ---- */

struct entry { /* as getdents64 gives it */
	uint64_t inode;
	int64_t next;
	unsigned short size;
	unsigned char type;
	char name[];
};

static bool empty(int fd, dev_t device, int depth);

/* A folder that something else is mounted on stays. */
static bool remove_folder(int parent, const char *name, dev_t device, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0) {
		if (depth < DEPTH_MOST && fstat(fd, &st) == 0 && st.st_dev == device)
			for (int i = 0; i < PASSES_MOST && !empty(fd, device, depth); i++)
				lseek(fd, 0, SEEK_SET);
		close(fd);
	}
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static bool remove_one(int parent, const char *name, dev_t device, int depth)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return true;
	return unlinkat(parent, name, 0) == 0 || remove_folder(parent, name, device, depth + 1);
}

/* True: nothing was in it that could not be removed. */
static bool empty(int fd, dev_t device, int depth)
{
	char bytes[1024] __attribute__((aligned(8)));
	bool is_empty = true;
	long n;

	while ((n = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(void *)(bytes + at);

			is_empty &= remove_one(fd, bytes + at + offsetof(struct entry, name), device, depth);
			at += e->size;
		}
	return is_empty;
}

static void remove_path(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		remove_folder(AT_FDCWD, path, st.st_dev, 0);
}

/* ---- at a signal, and at exit ---- */

static void remove_all(void)
{
	for (int i = 0; i < FOLDERS_MOST; i++)
		if (temp.owners[i] == getpid())
			remove_path(temp.paths[i]);
}

static bool has_own(void)
{
	for (int i = 0; i < FOLDERS_MOST; i++)
		if (temp.owners[i] == getpid())
			return true;
	return false;
}

static bool has_ended(pid_t pid)
{
	const struct timespec step = { .tv_nsec = WAIT_MS * 1000000 };

	for (int i = 0; i < WAITS_MOST; i++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

/* What a terminal sends it sends to the whole group, the writer too. */
static void end_writer(int number, bool is_of_terminal)
{
	pid_t pid = temp.writer;

	if (pid <= 0)
		return;
	if (!is_of_terminal)
		kill(pid, number == SIGPIPE ? SIGTERM : number);
	if (has_ended(pid))
		return;
	kill(pid, SIGTERM);
	if (has_ended(pid))
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The handler was set with SA_RESETHAND, and the raised signal comes when it is unblocked: it ends the program as ever. */
static void on_end(int number, siginfo_t *info, void *context)
{
	sigset_t only;

	(void)context;
	if (has_own()) {
		end_writer(number, info->si_code == SI_KERNEL);
		remove_all();
	}
	kill(getpid(), number);
	sigemptyset(&only);
	sigaddset(&only, number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
}

/* What is ignored, or has a handler, stays so. */
static void get_ready(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct sigaction action = { .sa_sigaction = on_end, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_RESTART }, before;

	if (temp.is_ready)
		return;
	temp.is_ready = true;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
			sigaction(ends[i], &action, NULL);
	atexit(remove_all);
}

/* ---- the list ---- */

void tare_temp_folder_watch(const char *path)
{
	size_t len = strlen(path);

	get_ready();
	for (int i = 0; i < FOLDERS_MOST && len < PATH_MAX; i++) {
		if (temp.owners[i] == getpid())
			continue;
		memcpy(temp.paths[i], path, len + 1);
		temp.owners[i] = getpid();
		return;
	}
}

void tare_temp_folder_keep(const char *path)
{
	for (int i = 0; i < FOLDERS_MOST; i++)
		if (temp.owners[i] == getpid() && !strcmp(temp.paths[i], path))
			temp.owners[i] = 0;
}

void tare_temp_folder_writer(pid_t pid)
{
	temp.writer = pid;
}

int tare_temp_folder_make(const char *folder, const char *name, char **out, struct tare_err *err)
{
	struct tare_str path = { 0 };
	sigset_t all, before;
	bool is_made;
	int rc;

	if (!folder)
		folder = getenv("TMPDIR");
	tare_str_addf(&path, "%s/%s", folder && *folder == '/' ? folder : "/tmp", name);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	is_made = mkdtemp(path.data) != NULL;
	if (is_made)
		tare_temp_folder_watch(path.data);
	rc = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = rc;
	if (is_made) {
		*out = tare_str_steal(&path);
		return 0;
	}
	rc = tare_err_set_errno(err, errno, "%s: no folder can be made there", path.data);
	tare_str_free(&path);
	return rc;
}

void tare_temp_folder_remove(char *path)
{
	if (!path)
		return;
	remove_path(path);
	tare_temp_folder_keep(path);
	free(path);
}
