/* SPDX-License-Identifier: Apache-2.0 */
/* What simulated libraries tell of a program (simgpu/sim_tell.h), as sentences for its user. */
#ifndef TARE_SESSION_WANTED_H
#define TARE_SESSION_WANTED_H

#include "base/str.h"

#include <stdbool.h>

/* The file in the recording's folder that they write to. */
#define TARE_WANTED_FILE "wanted"

/* Makes it, empty: libraries write to a file that is there only. */
void tare_wanted_make(const char *folder);
/*
 * Reads it and takes it away. Adds a sentence for each thing that was told to `out`, each ended by a newline. `failed`: the
 * program ended with an error, so names that it looked for in vain are told, too. Files are named without their folder.
 */
void tare_wanted_read(const char *folder, bool failed, struct tare_str *out);

#endif
