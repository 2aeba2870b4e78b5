/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs processes: reads, sums and sorts what they have. */
#include "weigh/weigh.h"

#include "base/array.h"
#include "base/comparator.h"
#include "witness/procfs.h"
#include "witness/root.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMAND_ROOM = 200, KERNEL_STACK = 16 << 10 }; /* of a thread, on x86-64 and arm64 */

/* The name that belongs to a user id, from the machine's own list; else the number. */
static const char *user_name(const char *root, int64_t uid, struct tare_arena *arena)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 }, name = { 0 };

	tare_str_addf(&name, "%lld", (long long)uid);
	tare_root_read(&text, root, "/etc/passwd");
	for (char *line = text.data, *next; line && *line; line = next) {
		char *password = strchr(line, ':'), *id = password ? strchr(password + 1, ':') : NULL;

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (!id || id > next || strtoll(id + 1, NULL, 10) != uid || id[1] == ':')
			continue;
		tare_str_cut(&name, 0);
		tare_str_add_n(&name, line, (size_t)(password - line));
		break;
	}
	return tare_arena_strdup(arena, tare_str_text(&name));
}

/* "7:memory:/job" of version 1, else "0::/job". */
static const char *cgroup_in(const char *text, struct tare_arena *arena)
{
	const char *at = strstr(text, ":memory:"), *path;

	path = at ? at + 8 : NULL;
	if (!path) {
		at = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
		path = at ? strchr(at, ':') + 2 : NULL;
	}
	return path ? tare_arena_strndup(arena, path, strcspn(path, "\n")) : NULL;
}

static void read_command(struct tare_weigh_process *p, const char *root, struct tare_arena *arena)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	p->command = "";
	if (!tare_root_read(&text, root, "/proc/%d/cmdline", (int)p->pid) && text.len) {
		size_t len = text.len < COMMAND_ROOM ? text.len : COMMAND_ROOM;

		while (len && !text.data[len - 1])
			len--;
		for (size_t i = 0; i < len; i++)
			if (!text.data[i])
				text.data[i] = ' ';
		p->command = tare_arena_strndup(arena, text.data, len);
	}
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a == TARE_NOT_KNOWN || b == TARE_NOT_KNOWN ? TARE_NOT_KNOWN : a + b;
}

/* 0, or why it has no rows. */
static int read_status(struct tare_weigh_process *p, const char *root, struct tare_arena *arena)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	const char *status, *value;
	int rc = tare_root_read(&text, root, "/proc/%d/status", (int)p->pid);

	status = tare_str_text(&text);
	value = tare_root_value(status, "Name");
	if (rc == -ENOENT)
		rc = -ESRCH;
	if (!rc && !value)
		rc = -EINVAL;
	if (!rc) {
		p->name = tare_arena_strndup(arena, value, strcspn(value, "\n"));
		p->uid = (int64_t)tare_root_number(status, "Uid");
		p->user = user_name(root, p->uid, arena);
		p->threads = tare_root_number(status, "Threads");
		p->vm_rss = tare_root_kib(status, "VmRSS");
		p->vm_peak = tare_root_kib(status, "VmHWM");
		p->vm_swap = tare_root_kib(status, "VmSwap");
		p->vm_size = tare_root_kib(status, "VmSize");
		p->vm_shared = sum(tare_root_kib(status, "RssFile"), tare_root_kib(status, "RssShmem"));
		p->page_tables = tare_root_kib(status, "VmPTE");
		p->kernel_stacks = p->threads == TARE_NOT_KNOWN ? TARE_NOT_KNOWN : p->threads * KERNEL_STACK;
		if (p->vm_rss == TARE_NOT_KNOWN)
			rc = -ENODATA;
		tare_root_read(&text, root, "/proc/%d/cgroup", (int)p->pid);
		p->cgroup = cgroup_in(tare_str_text(&text), arena);
	}
	return rc;
}

void tare_weigh_add(struct tare_weigh_processes *out, const char *root, pid_t pid)
{
	struct tare_weigh_process p = { .pid = pid, .name = "", .user = "", .command = "", .nvmap = TARE_NOT_KNOWN };

	p.failure = read_status(&p, root, &out->arena);
	if (!p.failure) {
		read_command(&p, root, &out->arena);
		p.failure = tare_weigh_mappings(&p, root, &out->arena);
		p.nvmap_failure = tare_nvmap_process(root, pid, &p.nvmap);
	}
	if (p.failure) {
		free(p.rows);
		p.rows = NULL;
		p.count = 0;
	}
	if (p.failure == -EACCES || p.failure == -EPERM) {
		p.failure = -EACCES;
		out->denied++;
	}
	TARE_APPEND(out->items, out->count, out->cap) = p;
}

TARE_COMPARATOR(by_size, struct tare_weigh_process, TARE_FALLING_BY(it->pss + it->swap) TARE_RISING(pid))

static void weigh_sort(struct tare_weigh_processes *out)
{
	TARE_SORT(out->items, out->count, by_size);
}

void tare_weigh_all(struct tare_weigh_processes *out, const char *root)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *proc;

	if (snprintf(path, sizeof(path), "%s/proc", root) >= (int)sizeof(path))
		return;
	proc = opendir(path);
	if (!proc)
		return;
	while ((entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid <= 0 || pid > INT_MAX || *end)
			continue;
		tare_weigh_add(out, root, (pid_t)pid);
		/* Threads of the kernel have no memory, and who ended meanwhile has none any more. */
		if (out->items[out->count - 1].failure == -ENODATA || out->items[out->count - 1].failure == -ESRCH)
			out->count--;
	}
	closedir(proc);
	weigh_sort(out);
}
