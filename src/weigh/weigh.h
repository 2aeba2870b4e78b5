/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the memory of a process that nobody recorded lies, and that of its machine, from files of the kernel.
 * Rows are leaves: those of a process sum to pss + swap, those of a machine to its memory.
 */
#ifndef TARE_WEIGH_WEIGH_H
#define TARE_WEIGH_WEIGH_H

#include "base/arena.h"
#include "base/owned.h"
#include "record/format.h" /* TARE_NOT_KNOWN */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum tare_weigh_kind {
#define TARE_WEIGH_KIND(KEY, NAME, HELP) TARE_WEIGH_##KEY,
#include "weigh/kind.def"
	TARE_WEIGH_KIND_NR
};

extern const char *const tare_weigh_kind_names[TARE_WEIGH_KIND_NR];

struct tare_weigh_row {
	enum tare_weigh_kind kind;
	const char *path; /* "libraries/libc.so.6" */
	const char *name; /* its last part, as it is called */
	const char *file; /* the whole name; NULL: it has none, or several */
	int64_t resident; /* its share (Pss), and its share of what is swapped */
	int64_t swap;     /* of that, in swap */
	uint64_t rss;     /* counted in full, whoever else has it */
	uint64_t mapped;  /* addresses */
	uint64_t mappings;
};

struct tare_weigh_process {
	pid_t pid;
	const char *name, *user, *command;
	int64_t uid;
	int failure; /* 0, or the negative errno for which there are no rows; -ENODATA: a thread of the kernel */
	int64_t pss, swap, rss, uss;
	int64_t anonymous;                     /* of rss, pages of no file */
	int64_t pss_anon, pss_file, pss_shmem; /* sum to pss */
	/* Beside that: pages of 2 MiB and more that were set aside, and what the kernel has for the process. */
	uint64_t hugetlb, page_tables, kernel_stacks, threads;
	/* /proc/PID/status, which tools show; TARE_NOT_KNOWN */
	uint64_t vm_rss, vm_shared, vm_peak, vm_swap, vm_size;
	/* What a Tegra's GPU has for it; TARE_NOT_KNOWN, then the negative errno why. */
	uint64_t nvmap;
	int nvmap_failure;
	const char *cgroup; /* of memory; NULL: none */
	TARE_OWNED struct tare_weigh_row *rows;
	size_t count, cap;
};

struct tare_weigh_processes {
	TARE_OWNED struct tare_weigh_process *items; /* the largest first */
	size_t count, cap, denied;                   /* denied: not ours to read */
	TARE_OWNED struct tare_arena arena;
};

/* All of the machine below `root`, or those of `pids`, in that order. */
void tare_weigh_all(struct tare_weigh_processes *out, const char *root);
void tare_weigh_add(struct tare_weigh_processes *out, const char *root, pid_t pid);
TARE_FREES(tare_weigh_free, tare_weigh_processes);

/* mapping.c: the rows of p, from smaps. 0 or a negative errno. */
int tare_weigh_mappings(struct tare_weigh_process *p, const char *root, struct tare_arena *arena);

#endif
