/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_MANIFEST_REBUILD_H
#define TARE_STORE_MANIFEST_REBUILD_H

#include "store/manifest.h"

#include <stdbool.h>

/*
 * What segments.json says, out of the files that it names, where it is damaged or gone. Their names tell which there are; a state tells of
 * which state it goes on from and what was in use since; and a segment that stands for others has what segments.json
 * said when these went. False, with `out` empty: what an earlier version wrote does not tell, or is damaged, too.
 */
bool tare_manifest_rebuild(struct tare_manifest *out, const char *folder);

/* Is segments.json missing in the folder, or has there never been one? While it is made for the first time, logs are complete. */
bool tare_manifest_is_missed(const char *folder);

/* Every segment that lies in the folder, by its number. */
void tare_manifest_add_all(struct tare_manifest *m, const char *folder);

#endif
