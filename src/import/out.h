/* SPDX-License-Identifier: Apache-2.0 */
/* The recording that an import makes; readers add to it by import_reader.h. */
#ifndef TARE_IMPORT_OUT_H
#define TARE_IMPORT_OUT_H

#include "import/import_reader.h"

/* `name`: what the program is called where the file does not say. */
struct tare_import_out *tare_import_out_new(const char *folder, const char *name, int64_t started_realtime_ns);
/* Ends the log and writes recording.json, of a command `tare import PATH`. 0, or what went wrong first. */
int tare_import_out_close(struct tare_import_out *out, const char *path, struct tare_err *err);
/* Of an import that failed. */
void tare_import_out_discard(struct tare_import_out *out);

#endif
