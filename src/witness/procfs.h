/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_WITNESS_PROCFS_H
#define TARE_WITNESS_PROCFS_H

#include "record/host_memory.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What Linux says about a process in /proc. Values it does not give are TARE_NOT_KNOWN. */
/* /proc/PID/status, in bytes. rss = anon + file + shmem where the kernel splits it (4.5 and later). */
struct tare_procfs_memory {
	uint64_t rss, peak_rss;
	TARE_HOST_MEMORY(TARE_HOST_FIELD)
};

/* /proc/PID/stat. */
struct tare_procfs_stat {
	char comm[64]; /* the kernel keeps 15 bytes; threads of the kernel have longer ones */
	char state;    /* 'R', 'S', 'Z' … */
	pid_t ppid;
	long threads;
	uint64_t start_ticks; /* since boot: tells a reused pid apart */
	uint64_t stack;       /* where its first stack begins: tells an exec; 0: not told */
	int status;           /* of a zombie, as wait(2) will give it; -1: not told */
};

enum { TARE_PROCFS_MAX_NAMESPACES = 33 }; /* 32 nested ones and the first */

/* The pid that a process has in each pid namespace, outermost first. */
struct tare_procfs_pids {
	pid_t pids[TARE_PROCFS_MAX_NAMESPACES];
	size_t count;
};

/*
 * All return 0, -ESRCH when the process is gone (for its memory: when that is gone), or another negative errno (-EACCES: not ours to
 * read); outputs are written only on success. pid 0 stands for the caller itself.
 */
int tare_procfs_memory(pid_t pid, struct tare_procfs_memory *out);
int tare_procfs_stat(pid_t pid, struct tare_procfs_stat *out);
int tare_procfs_pids(pid_t pid, struct tare_procfs_pids *out);
int tare_procfs_pid_namespace(pid_t pid, uint64_t *inode);
/* Filters of its system calls (seccomp); where the kernel does not count them, whether there are any. */
int tare_procfs_filters(pid_t pid, int *count);

/* The same from a text; -EINVAL when it is none of that kind. */
int tare_procfs_parse_memory(const char *status, struct tare_procfs_memory *out);
int tare_procfs_parse_stat(const char *stat, struct tare_procfs_stat *out);
int tare_procfs_parse_pids(const char *status, struct tare_procfs_pids *out);
int tare_procfs_parse_filters(const char *status, int *count);

/* nvmap.c: memory of a Tegra's GPU by process, as its driver nvmap tells root in debugfs. */
#define TARE_NVMAP_CLIENTS "/sys/kernel/debug/nvmap/iovmm/clients"

/*
 * What a process has: a buffer that several share counts in each by its part. A process may stand there more than once.
 * 0, -ENOENT where there is no nvmap, -EACCES where this user may not look, -EINVAL for another form.
 */
int tare_nvmap_process(const char *root, pid_t pid, uint64_t *bytes);
int tare_nvmap_parse(const char *clients, pid_t pid, uint64_t *bytes);

#endif
