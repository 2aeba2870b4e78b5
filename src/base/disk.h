/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_DISK_H
#define TARE_BASE_DISK_H

#include <stdint.h>

/* What the files in a folder take on disk, of which a hole in one takes nothing; 0: it cannot be read. */
uint64_t tare_disk_bytes(const char *folder);

/* The same, and the sum of the sizes of its files, holes and all. */
struct tare_disk_use {
	uint64_t blocks, apparent;
};
struct tare_disk_use tare_disk_use(const char *folder);
/* The size of one file; 0: it is not there. */
uint64_t tare_disk_file(const char *path);
/* The larger of both: what keeps to a limit by either. */
uint64_t tare_disk_most(const char *folder);

#endif
