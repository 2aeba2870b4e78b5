/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With `--no-paths` no path gets into the log, only what record/path.h leaves of it. `tare` still needs to find the
 * programs and libraries, to look up the names of their functions: it is told of them in a file of its memory,
 * which has no name but /proc/PID/fd/N, the value of TARE_NO_PATHS, and is gone when `tare` is.
 */
#ifndef TARE_RECORDER_LOG_PATHS_H
#define TARE_RECORDER_LOG_PATHS_H

#include <stddef.h>

#include "record/format.h"

/* What the log gets of a path: all of it, unless TARE_NO_PATHS is set. */
const char *tare_paths_of_log(const char *path);

enum { TARE_PATHS_ROOM = 1024 }; /* stacks are small */

/* The path of a library from the root on, in `room` if it was no such path; or `path`, where that cannot be known. */
const char *tare_paths_absolute(const char *path, char *room, size_t size);

/* Tells `tare` the path of an object; where it cannot be told, its functions have no names. */
void tare_paths_tell(const struct tare_rec_object *object, const char *path, uint32_t bytes);

#endif
