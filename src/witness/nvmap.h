/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a Tegra's GPU by process, as its driver nvmap tells root in debugfs. */
#ifndef TARE_WITNESS_NVMAP_H
#define TARE_WITNESS_NVMAP_H

#include <stdint.h>
#include <sys/types.h>

#define TARE_NVMAP_CLIENTS "/sys/kernel/debug/nvmap/iovmm/clients"

/*
 * What a process has: a buffer that several share counts in each by its part. A process may stand there more than once.
 * 0, -ENOENT where there is no nvmap, -EACCES where this user may not look, -EINVAL for another form.
 */
int tare_nvmap_process(const char *root, pid_t pid, uint64_t *bytes);
int tare_nvmap_parse(const char *clients, pid_t pid, uint64_t *bytes);

#endif
