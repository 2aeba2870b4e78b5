/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where programs and libraries lie whose paths are not in the recording: their processes tell it (recorder/log/paths.c),
 * and it is kept in memory alone.
 */
#ifndef TARE_SESSION_TOLD_PATHS_H
#define TARE_SESSION_TOLD_PATHS_H

#include "trace/event.h"

struct tare_told_paths;

struct tare_told_paths *tare_told_paths_new(void);
/* What processes have to write to; "" where this kernel has no such memory. */
const char *tare_told_paths_name(const struct tare_told_paths *told);
/* To be called when all has been told. */
void tare_told_paths_read(struct tare_told_paths *told);
/* NULL: nobody told. */
const char *tare_told_paths_find(const struct tare_told_paths *told, const struct tare_process *process,
                                 const struct tare_object *object);
void tare_told_paths_free(struct tare_told_paths *told);

#endif
