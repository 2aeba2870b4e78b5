/* SPDX-License-Identifier: Apache-2.0 */
/* At the end, the names of all frames seen are written down, so that a recording opens elsewhere. */
#ifndef TARE_SESSION_SYMBOLS_H
#define TARE_SESSION_SYMBOLS_H

#include "session/told_paths.h"
#include "session/versions.h"
#include "session/witness.h"

/*
 * Reads the recording in `folder` and writes a symbol record per address that has a name. `told`: where its objects
 * are, if the recording does not say; else NULL. `versions`: are found, for the recording is open here.
 */
void tare_symbols_write(struct tare_witness *witness, const char *folder, const struct tare_told_paths *told,
                        struct tare_versions *versions);

#endif
