/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which processes a recording is of, and which recording a process is in. */
#include "session/recorded.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "trace/log.h"
#include "witness/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 1 << 20, CHILDREN_MAX = 1 << 16 };

/* "431-0.events" → 431, 0. */
static bool parse_name(const char *name, pid_t *pid, uint32_t *generation)
{
	unsigned p, g;
	int n = 0;

	if (sscanf(name, "%u-%u.events%n", &p, &g, &n) != 2 || !n || name[n])
		return false;
	*pid = (pid_t)p;
	*generation = g;
	return true;
}

/* Its log says when it began, which tells a pid that was given again. */
static bool is_running(const char *folder, const char *name, pid_t pid)
{
	struct tare_procfs_stat stat;
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	struct tare_log *log;
	bool is = false;

	if (tare_procfs_stat(pid, &stat) != 0 || stat.state == 'X' || (stat.state == 'Z' && stat.threads <= 1))
		return false;
	tare_str_addf(&path, "%s/%s", folder, name);
	if (tare_log_open(&log, path.data, NULL) == 0) {
		uint64_t start = tare_log_info(log)->header.start_ticks;

		/* Emulators make these ticks up, now and then one too many. */
		is = (start > stat.start_ticks ? start - stat.start_ticks : stat.start_ticks - start) <= 100;
		tare_log_close(log);
	}
	return is;
}

size_t tare_recorded_processes(const char *folder, struct tare_drain_process *out, size_t max)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t i, n = 0;

	while (dir && (entry = readdir(dir))) {
		uint32_t generation;
		pid_t pid;

		if (!parse_name(entry->d_name, &pid, &generation))
			continue;
		for (i = 0; i < n && out[i].pid != pid; i++)
			continue;
		if (i == max || (i < n && out[i].generation > generation))
			continue;
		n += i == n;
		out[i] = (struct tare_drain_process){ pid, generation, !is_running(folder, entry->d_name, pid) };
	}
	if (dir)
		closedir(dir);
	return n;
}

static char *read_proc(const char *pid, const char *file, size_t max, size_t *size)
{
	struct tare_str path = { 0 };
	ssize_t n = 0, more = 1;
	char *text;
	int fd;

	tare_str_addf(&path, "/proc/%s/%s", pid, file);
	fd = open(path.data, O_RDONLY | O_CLOEXEC);
	tare_str_free(&path);
	if (fd < 0)
		return NULL;
	text = tare_xcalloc(1, max + 1);
	for (; more > 0 && n<(ssize_t)max; n += more> 0 ? more : 0)
		more = read(fd, text + n, max - (size_t)n);
	close(fd);
	*size = (size_t)n;
	return text;
}

char *tare_recorded_to_be(const char *pid)
{
	static const char variable[] = "TARE_RECORDING=";
	size_t size = 0;
	char *text = read_proc(pid, "environ", ENVIRONMENT_MAX, &size), *found = NULL;

	for (const char *at = text; text && at < text + size && !found; at += strlen(at) + 1)
		if (strncmp(at, variable, sizeof(variable) - 1) == 0 && at[sizeof(variable) - 1] == '/')
			found = tare_xstrdup(at + sizeof(variable) - 1);
	free(text);
	return found;
}

/* A `tare` is in no recording itself; its command is. */
static char *recording_below(const char *pid)
{
	TARE_FREED_BY(tare_str_free) struct tare_str file = { 0 };
	char *children, *found = NULL, *save = NULL;
	size_t size = 0;

	tare_str_addf(&file, "task/%s/children", pid);
	children = read_proc(pid, file.data, CHILDREN_MAX, &size);
	for (char *child = children ? strtok_r(children, " \n", &save) : NULL; child && !found;
	     child = strtok_r(NULL, " \n", &save))
		found = tare_recorded_to_be(child);
	free(children);
	return found;
}

int tare_recorded_by_pid(const char *pid, char **folder, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	int rc = 0;

	tare_str_addf(&path, "/proc/%s/environ", pid);
	*folder = tare_recorded_to_be(pid);
	if (!*folder)
		*folder = recording_below(pid);
	if (!*folder && access(path.data, F_OK) != 0)
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such process", pid);
	else if (!*folder && access(path.data, R_OK) != 0)
		rc = tare_err_set(err, TARE_E_DENIED, "%s: this process is another user's; command its recording as that user",
		                  pid);
	else if (!*folder)
		rc = tare_err_set(err, TARE_E_NOT_FOUND,
		                  "%s: this process is not being recorded; start it with tare run, or give the folder "
		                  "of its recording",
		                  pid);
	return rc;
}
