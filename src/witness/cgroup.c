/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the memory cgroup of this process allows, and how often it killed. */
#include "witness/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROOM = 64 << 10 };

static int read_text(const char *root, const char *path, char text[TEXT_ROOM])
{
	char name[2 * PATH_MAX];
	FILE *file;
	size_t n;

	if (snprintf(name, sizeof(name), "%s%s", root, path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	file = fopen(name, "re");
	if (!file)
		return -errno;
	n = fread(text, 1, TEXT_ROOM - 1, file);
	fclose(file);
	text[n] = '\0';
	return 0;
}

/* The value behind `oom_kill` at the start of a line: all three kinds of file have such a line. */
static int count_in(const char *root, const char *path, uint64_t *out)
{
	static const char key[] = "oom_kill ";
	char text[TEXT_ROOM], *line = text;

	if (read_text(root, path, text))
		return -ENODATA;
	while (strncmp(line, key, sizeof(key) - 1) != 0) {
		line = strchr(line, '\n');
		if (!line++)
			return -ENODATA;
	}
	*out = strtoull(line + sizeof(key) - 1, NULL, 10);
	return 0;
}

/* "0::/job/step", "4:memory:/job/step": where our cgroup lies below its file system; "" if not there. */
static void find_path(const char *text, const char *controller, char out[PATH_MAX])
{
	char key[32];
	const char *at;

	out[0] = '\0';
	snprintf(key, sizeof(key), ":%s:", controller);
	for (at = text; (at = strstr(at, key)); at++) {
		const char *path = at + strlen(key);
		const char *line = at;

		while (line > text && line[-1] >= '0' && line[-1] <= '9')
			line--;
		if (line == at || (line > text && line[-1] != '\n'))
			continue; /* part of a name */
		snprintf(out, PATH_MAX, "%.*s", (int)strcspn(path, "\n"), path);
		return;
	}
}

/* In a container the path may be the host's, and what is mounted begins at our own cgroup. */
static int count_below(const char *root, const char *mount, const char *path, const char *file, uint64_t *out)
{
	char name[2 * PATH_MAX];

	snprintf(name, sizeof(name), "%s%s/%s", mount, strcmp(path, "/") != 0 ? path : "", file);
	if (count_in(root, name, out) == 0)
		return 0;
	snprintf(name, sizeof(name), "%s/%s", mount, file);
	return count_in(root, name, out);
}

int tare_cgroup_oom_kills(const char *root, uint64_t *out)
{
	char text[TEXT_ROOM], path[PATH_MAX];

	if (read_text(root, "/proc/self/cgroup", text) == 0) {
		find_path(text, "", path);
		if (count_below(root, "/sys/fs/cgroup", path, "memory.events", out) == 0)
			return 0;
		find_path(text, "memory", path);
		if (count_below(root, "/sys/fs/cgroup/memory", path, "memory.oom_control", out) == 0)
			return 0;
	}
	return count_in(root, "/proc/vmstat", out);
}

/* A limit is a number of bytes; "max", or a number beyond any machine's memory, is none. */
static void take_limit(const char *root, const char *path, uint64_t *least)
{
	char text[TEXT_ROOM], *end;
	uint64_t bytes;

	if (read_text(root, path, text))
		return;
	bytes = strtoull(text, &end, 10);
	if (end != text && bytes && bytes < *least)
		*least = bytes;
}

/* The limit of our cgroup and of each around it. */
static void take_limits(const char *root, const char *mount, const char *cgroup, const char *file, uint64_t *least)
{
	char path[PATH_MAX], name[3 * PATH_MAX];

	snprintf(path, sizeof(path), "%s", cgroup);
	for (;;) {
		char *slash = strrchr(path, '/');

		snprintf(name, sizeof(name), "%s%s/%s", mount, path, file);
		take_limit(root, name, least);
		if (!slash)
			return;
		*slash = '\0';
	}
}

int tare_cgroup_room(const char *root, uint64_t *out)
{
	static const char key[] = "MemTotal:";
	char text[TEXT_ROOM], path[PATH_MAX], *line;

	if (read_text(root, "/proc/meminfo", text) || !(line = strstr(text, key)))
		return -ENODATA;
	*out = strtoull(line + sizeof(key) - 1, NULL, 10) * 1024;
	if (read_text(root, "/proc/self/cgroup", text) == 0) {
		find_path(text, "", path);
		take_limits(root, "/sys/fs/cgroup", path, "memory.max", out);
		find_path(text, "memory", path);
		take_limits(root, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", out);
	}
	return 0;
}
