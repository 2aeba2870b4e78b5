/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_DIFF_SOURCE_H
#define TARE_CMD_DIFF_SOURCE_H

#include "view/diff.h"

/* What an operand names. */
struct tare_diff_source {
	const char *path, *at; /* at NULL: not said */
	bool is_file;          /* what tare report --json printed, not a recording */
};

/* REC, REC@INSTANT, FILE or FILE@INSTANT. `at`: the instant of --at, or NULL. USAGE: it is a sweep. */
int tare_diff_source_find(struct tare_diff_source *out, struct tare_arena *arena, const char *operand, const char *at,
                          struct tare_err *err);

/* What is in a file, of a source that is one. */
int tare_diff_source_load(const struct tare_diff_source *s, struct tare_str *out, struct tare_err *err);

/* One side of `tare diff` from the JSON of a report; NOT_FOUND: it was saved without this view. */
int tare_diff_source_parse(const struct tare_diff_source *s, struct tare_diff_side *side, const struct tare_str *json,
                           int by, struct tare_err *err);

/* The same from what the operand names. Returns 0, or what the recording or the file has against it. */
int tare_diff_source_read(struct tare_diff_side *side, const char *operand, const char *at, int by,
                          struct tare_err *err);

#endif
