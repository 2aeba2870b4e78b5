/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_DESCRIPTION_H
#define TARE_TRACE_DESCRIPTION_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

/*
 * recording.json of a recording's folder: what was run, when and by whom (docs/RECORDING.md). The value belongs to the arena; NULL
 * where the file cannot be read, or is empty. `err` may be NULL.
 */
int tare_description_read(struct tare_arena *arena, const char *folder, const struct tare_json_value **value,
                          struct tare_err *err);

#endif
