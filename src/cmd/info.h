/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_INFO_H
#define TARE_CMD_INFO_H

#include "base/emit.h"
#include "base/err.h"

/* One "key  text" line, which is also a JSON member; NULL: not known, and no line. */
void tare_info_text(struct tare_emit *e, const char *key, const char *text);

/* info_recording.c: what a recording holds. Returns 0 or the reader's error. */
int tare_info_recording(struct tare_emit *e, const char *path, struct tare_err *err);
/* info_check.c: do its views agree? */
int tare_info_check(struct tare_emit *e, const char *path, bool *agree, struct tare_err *err);

#endif
