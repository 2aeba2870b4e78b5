/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a machine: rows that sum to all of it, its swap, and limits that processes share. */
#ifndef TARE_WEIGH_MACHINE_H
#define TARE_WEIGH_MACHINE_H

#include "base/owned.h"
#include "weigh/weigh.h"
#include "witness/cgroup.h"

struct tare_weigh_part {
	const char *path; /* "kernel/slab" */
	int64_t bytes;
};

struct tare_weigh_swap {
	const char *name, *type;
	uint64_t total, used;
	uint64_t written; /* since it was there, by all that its device wrote; TARE_NOT_KNOWN: a file */
	uint64_t memory;  /* zram: what it takes of the machine's memory; else TARE_NOT_KNOWN */
};

struct tare_weigh_user {
	const char *name;
	int64_t uid;
	int64_t processes, resident, swap;
};

struct tare_weigh_machine {
	uint64_t total; /* TARE_NOT_KNOWN: no meminfo, no rows */
	uint64_t available, swap_total, swap_free;
	uint64_t nvmap;        /* what a Tegra's GPU has of it */
	uint64_t swap_written; /* pages that went out since the start of the machine, in bytes */
	TARE_OWNED struct tare_weigh_part *rows;
	size_t count, cap;
	TARE_OWNED struct tare_weigh_swap *swaps;
	size_t swap_count, swap_cap;
	TARE_OWNED struct tare_weigh_user *users; /* the largest first */
	size_t user_count, user_cap;
	TARE_OWNED struct tare_cgroup_memory *cgroups; /* of the processes, the largest first */
	size_t cgroup_count, cgroup_cap;
	TARE_OWNED struct tare_arena arena;
};

/* Rows only make sense where `all` are all processes of the machine; `with_rows` says so. */
void tare_weigh_machine(struct tare_weigh_machine *m, const struct tare_weigh_processes *all, const char *root,
                        bool with_rows);
TARE_FREES(tare_weigh_machine_free, tare_weigh_machine);

#endif
