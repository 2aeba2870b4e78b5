/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_DISK_H
#define TARE_BASE_DISK_H

#include <stdint.h>

/* What the files in a folder take on disk, of which a hole in one takes nothing; 0: it cannot be read. */
uint64_t tare_disk_bytes(const char *folder);

#endif
