/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/smaps and smaps_rollup, which have one form: a line for a mapping, then a line for each value. */
#ifndef TARE_WITNESS_SMAPS_H
#define TARE_WITNESS_SMAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum tare_smaps_value {
#define TARE_SMAPS_VALUE(KEY, NAME) TARE_SMAPS_##KEY,
#include "witness/smaps.def"
	TARE_SMAPS_VALUE_NR
};

struct tare_smaps_mapping {
	uint64_t start, end, offset, inode;
	char perms[5]; /* "rw-p" */
	/* Of VmFlags: page frames without pages behind them, and the memory of a device. */
	bool is_pfn, is_io;
	uint64_t bytes[TARE_SMAPS_VALUE_NR]; /* 0 where it is not told … */
	unsigned told;                       /* … which a bit says here */
	const char *name;                    /* "" for none; "[rollup]" */
};

/* `name` lives until `see` returns. */
typedef void tare_smaps_see(void *arg, const struct tare_smaps_mapping *mapping);

/*
 * Calls `see` for each mapping. `root` is put in front of every path: "" but where another machine's files are
 * read. 0, -ESRCH when the process is gone, another negative errno, -EINVAL when the file is none of that kind.
 * A thread of the kernel has no mapping: 0.
 */
int tare_smaps_read(const char *root, pid_t pid, tare_smaps_see *see, void *arg);

/* All mappings in one, and nothing walked twice: Linux 4.14. -ENOENT: an older kernel. */
int tare_smaps_rollup(const char *root, pid_t pid, struct tare_smaps_mapping *out);

int tare_smaps_parse(FILE *file, tare_smaps_see *see, void *arg);

static inline bool tare_smaps_tells(const struct tare_smaps_mapping *m, enum tare_smaps_value value)
{
	return m->told & 1u << value;
}

/* Its share of what is swapped; before Linux 4.3, all of it. */
static inline uint64_t tare_smaps_swap(const struct tare_smaps_mapping *m)
{
	return m->bytes[tare_smaps_tells(m, TARE_SMAPS_SWAP_PSS) ? TARE_SMAPS_SWAP_PSS : TARE_SMAPS_SWAP];
}

#endif
