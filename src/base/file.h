/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that Tare reads and writes whole. What a name from outside stands for may be a FIFO, a socket, a device or a
 * file without end: reading says so in a sentence and never waits for it.
 */
#ifndef TARE_BASE_FILE_H
#define TARE_BASE_FILE_H

#include "base/err.h"
#include "base/str.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A regular file, to read; the descriptor, or a negative code. */
int tare_file_open(const char *path, struct tare_err *err);
/*
 * What a user names as input: a regular file, a pipe, or "-" for standard input. Reading may say EAGAIN where nothing
 * has come yet: tare_file_read_some() waits.
 */
int tare_file_open_input(const char *path, struct tare_err *err);
/* Up to `size` bytes, as soon as there are any; 0 at the end, or a negative errno. */
ssize_t tare_file_read_some(int fd, void *bytes, size_t size);

/* Appends the whole of a regular file that has at most `limit` bytes. 0, or a negative code and nothing is added. */
int tare_file_read(struct tare_str *out, const char *path, size_t limit, struct tare_err *err);

/* The same of a file that is open. */
int tare_file_read_open(struct tare_str *out, int fd, size_t limit, struct tare_err *err);
/* What an open file is called, every link followed: nobody can put another in its place any more. False: nobody can tell. */
bool tare_file_name(int fd, char name[PATH_MAX]);

/* The same for what a user names as input: "-" is standard input, and a pipe is read until its writers are gone. */
int tare_file_read_input(struct tare_str *out, const char *path, size_t limit, struct tare_err *err);

/*
 * Writes a file whole or not at all: beside its name, then renamed. A device, a pipe or a link stays what it is.
 * 0 or a negative errno. `mode`: 0600 for what is private, 0666 for what a user asked for by name, less the
 * umask (base/private.h).
 */
int tare_file_write(const char *path, const struct tare_str *text, mode_t mode);
/* The same of what is no text: nothing in it is filtered (base/print.h). */
int tare_file_write_bytes(const char *path, const struct tare_str *bytes, mode_t mode);

/*
 * For a file that has to be written once more when the disk may be full: room for `size` bytes in it, where the file system
 * can keep some, and the text in place of the old one. Nothing is written where the room is too small. 0 or a negative errno.
 */
void tare_file_reserve(const char *path, size_t size);
int tare_file_overwrite(const char *path, const struct tare_str *text);

/* All of `bytes`, however many calls that takes. 0 or an errno. */
int tare_file_write_all(int fd, const void *bytes, size_t size);
/*
 * What was written to `fd` is on the disk. 0 or an errno. In a process that somebody waits for, which says so for good, the kernel
 * decides when that is, and 0 comes at once.
 */
int tare_file_sync(int fd);
void tare_file_skip_sync(void);
/* What was written to `fd` is synced, and `fd` closed. `failure`, or the errno of what failed first; 0. */
int tare_file_close_synced(int fd, int failure);

#endif
