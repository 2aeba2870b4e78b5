/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc of processes: memory, status, filters, pids. */
#include "witness/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 64, TEXT_ROOM = 8192 };

static void path_of(char path[PATH_ROOM], pid_t pid, const char *file)
{
	if (pid)
		snprintf(path, PATH_ROOM, "/proc/%d/%s", (int)pid, file);
	else
		snprintf(path, PATH_ROOM, "/proc/self/%s", file);
}

/* A process that is gone shows as no file, or as a read that says ESRCH. */
static int gone_or(int errnum)
{
	return errnum == ENOENT ? -ESRCH : -errnum;
}

static int read_text(pid_t pid, const char *file, char text[TEXT_ROOM])
{
	char path[PATH_ROOM];
	size_t have = 0;
	ssize_t n;
	int fd;

	path_of(path, pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gone_or(errno);
	while ((n = read(fd, text + have, TEXT_ROOM - 1 - have)) > 0)
		have += (size_t)n;
	n = n < 0 ? gone_or(errno) : 0;
	close(fd);
	text[have] = '\0';
	return (int)n;
}

/* What follows "KEY:" at the start of a line, or NULL. */
static const char *value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == ':')
			return line + len + 1;
	}
	return NULL;
}

static uint64_t kib_of(const char *text, const char *key)
{
	const char *value = value_of(text, key);

	uint64_t kib = value ? strtoull(value, NULL, 10) : TARE_NOT_KNOWN;

	return kib <= INT64_MAX / 1024 ? kib * 1024 : TARE_NOT_KNOWN;
}

int tare_procfs_parse_memory(const char *status, struct tare_procfs_memory *out)
{
	if (!value_of(status, "Pid"))
		return -EINVAL;
	/* A kernel thread, or what is left of a process that is ending, has no memory: no lines of it. */
	if (!value_of(status, "VmRSS"))
		return -ESRCH;
	out->rss = kib_of(status, "VmRSS");
	out->peak_rss = kib_of(status, "VmHWM");
#define READ(FIELD, LINE) out->FIELD = kib_of(status, LINE);
	TARE_HOST_MEMORY(READ)
#undef READ
	return 0;
}

/* "PID (comm) state ppid …": comm may hold blanks and parentheses, so its end is the last ")". */
int tare_procfs_parse_stat(const char *stat, struct tare_procfs_stat *out)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')'), *p;
	struct tare_procfs_stat s = { 0 };
	char *end;

	if (!open || !close || close < open || strlen(close) < 4)
		return -EINVAL;
	snprintf(s.comm, sizeof(s.comm), "%.*s", (int)(close - open - 1), open + 1);
	s.state = close[2];
	p = close + 3;
	s.ppid = (pid_t)strtol(p, &end, 10);
	if (end == p)
		return -EINVAL;
	s.status = -1;
	for (int field = 4; field < 51; field++) {
		p = strchr(end + (*end == ' '), ' ');
		if (!p && field < 21)
			return -EINVAL;
		if (!p)
			break; /* an older kernel has fewer */
		end = (char *)p;
		if (field == 18)
			s.threads = strtol(end, NULL, 10);
		if (field == 20)
			s.start_ticks = strtoull(end, NULL, 10);
		if (field == 26)
			s.stack = strtoull(end, NULL, 10);
		if (field == 50 && s.state == 'Z')
			s.status = (int)strtol(end, NULL, 10);
	}
	*out = s;
	return 0;
}

int tare_procfs_parse_filters(const char *status, int *count)
{
	const char *value = value_of(status, "Seccomp_filters"); /* Linux 5.9 */

	if (!value)
		value = value_of(status, "Seccomp");
	if (!value)
		return -EINVAL;
	*count = (int)strtol(value, NULL, 10);
	return 0;
}

int tare_procfs_parse_pids(const char *status, struct tare_procfs_pids *out)
{
	const char *value = value_of(status, "NSpid");
	struct tare_procfs_pids pids = { .count = 0 };
	char *end;

	if (!value)
		value = value_of(status, "Pid"); /* before Linux 4.1 */
	if (!value)
		return -EINVAL;
	while (pids.count < TARE_PROCFS_MAX_NAMESPACES && *value && *value != '\n') {
		long pid = strtol(value, &end, 10);

		if (end == value)
			break;
		pids.pids[pids.count++] = (pid_t)pid;
		value = end;
	}
	if (!pids.count)
		return -EINVAL;
	*out = pids;
	return 0;
}

int tare_procfs_memory(pid_t pid, struct tare_procfs_memory *out)
{
	char text[TEXT_ROOM];
	int rc = read_text(pid, "status", text);

	return rc ? rc : tare_procfs_parse_memory(text, out);
}

int tare_procfs_stat(pid_t pid, struct tare_procfs_stat *out)
{
	char text[TEXT_ROOM];
	int rc = read_text(pid, "stat", text);

	return rc ? rc : tare_procfs_parse_stat(text, out);
}

int tare_procfs_pids(pid_t pid, struct tare_procfs_pids *out)
{
	char text[TEXT_ROOM];
	int rc = read_text(pid, "status", text);

	return rc ? rc : tare_procfs_parse_pids(text, out);
}

int tare_procfs_filters(pid_t pid, int *count)
{
	char text[TEXT_ROOM];
	int rc = read_text(pid, "status", text);

	return rc ? rc : tare_procfs_parse_filters(text, count);
}

int tare_procfs_pid_namespace(pid_t pid, uint64_t *inode)
{
	char path[PATH_ROOM];
	struct stat st;

	path_of(path, pid, "ns/pid");
	if (stat(path, &st))
		return gone_or(errno);
	*inode = st.st_ino;
	return 0;
}
