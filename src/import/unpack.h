/* SPDX-License-Identifier: Apache-2.0 */
/* What a file has in it: itself, or what zstd or gzip made small. */
#ifndef TARE_IMPORT_UNPACK_H
#define TARE_IMPORT_UNPACK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tare_import_unpack;

/* Takes the descriptor, also where it fails. gzip is the program of that name. */
int tare_import_unpack_open(struct tare_import_unpack **out, int fd, const char *path, struct tare_err *err);
/* Up to `size` bytes, 0 at the end, or a negative code. */
ssize_t tare_import_unpack_read(struct tare_import_unpack *u, void *bytes, size_t size, struct tare_err *err);
/* The file was packed, and is cut off. */
bool tare_import_unpack_is_cut(const struct tare_import_unpack *u);
void tare_import_unpack_close(struct tare_import_unpack *u);

#endif
