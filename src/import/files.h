/* SPDX-License-Identifier: Apache-2.0 */
/* The file that is imported and the recording that it becomes, as import.c opens and closes them; readers use both by import_reader.h. */
#ifndef TARE_IMPORT_FILES_H
#define TARE_IMPORT_FILES_H

#include "import/import_reader.h"

#include <sys/types.h>

/* in.c: the file; `path`: "-" is standard input. */
int tare_import_in_open(struct tare_import_in **out, const char *path, struct tare_err *err);
void tare_import_in_close(struct tare_import_in *in);

/* What the file begins with; it stays to be read. */
const char *tare_import_in_head(const struct tare_import_in *in, size_t *size);

/* The file was packed (zstd, gzip), and not all that was packed could be read. */
bool tare_import_in_is_cut(const struct tare_import_in *in);
int64_t tare_import_in_changed_ns(const struct tare_import_in *in); /* since 1970 */

/*
 * unpack.c: what a file has in it, itself or what zstd or gzip made small. Takes the descriptor, also where it fails. gzip is
 * the program of that name.
 */
struct tare_import_unpack;
int tare_import_unpack_open(struct tare_import_unpack **out, int fd, const char *path, struct tare_err *err);
/* Up to `size` bytes, 0 at the end, or a negative code. */
ssize_t tare_import_unpack_read(struct tare_import_unpack *u, void *bytes, size_t size, struct tare_err *err);
/* The file was packed, and is cut off. */
bool tare_import_unpack_is_cut(const struct tare_import_unpack *u);
void tare_import_unpack_close(struct tare_import_unpack *u);

/* out.c: the recording; `name`: what the program is called where the file does not say. */
struct tare_import_out *tare_import_out_new(const char *folder, const char *name, int64_t started_realtime_ns);
/* Ends the log and writes recording.json, of a command `tare import PATH`. 0, or what went wrong first. */
int tare_import_out_close(struct tare_import_out *out, const char *path, struct tare_err *err);
/* Of an import that failed. */
void tare_import_out_discard(struct tare_import_out *out);

#endif
