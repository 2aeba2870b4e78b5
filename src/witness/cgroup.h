/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says about the memory cgroup that we, and what we start, are in. */
#ifndef TARE_WITNESS_CGROUP_H
#define TARE_WITNESS_CGROUP_H

#include <stdint.h>

/*
 * How many processes the OOM killer has ended: in our cgroup (version 2, else 1), or, where that does
 * not say, on this machine. `root` is put in front of every path: "" but in tests. Returns 0, or
 * -ENODATA where nobody counts.
 */
int tare_cgroup_oom_kills(const char *root, uint64_t *out);

#endif
