/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says about the memory cgroup that we, and what we start, are in. */
#ifndef TARE_WITNESS_CGROUP_H
#define TARE_WITNESS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How many processes the OOM killer has ended: in our cgroup (version 2, else 1), or, where that does
 * not say, on this machine. `root` is put in front of every path: "" but in tests. Returns 0, or
 * -ENODATA where nobody counts.
 */
int tare_cgroup_oom_kills(const char *root, uint64_t *out);

/*
 * How much memory programs in our cgroup can have: what the machine has, or the limit of the cgroup (or of one
 * around it) where that is less. Returns 0, or -ENODATA where Linux does not say.
 */
int tare_cgroup_room(const char *root, uint64_t *out);

/* What the kernel charges to a cgroup, all below it included. TARE_NOT_KNOWN: not told. */
struct tare_cgroup_memory {
	const char *path; /* the caller's */
	uint64_t current, swap, anon, file, shmem, slab, sock, kernel, inactive_file;
	uint64_t max; /* the least of it and those above it; TARE_NOT_KNOWN: no limit */
	bool is_version_2;
};

/* `path`: as /proc/PID/cgroup has it. 0, or -ENODATA. */
int tare_cgroup_memory(const char *root, const char *path, struct tare_cgroup_memory *out);

#endif
