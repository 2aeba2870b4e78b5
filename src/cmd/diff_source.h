/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_DIFF_SOURCE_H
#define TARE_CMD_DIFF_SOURCE_H

#include "view/diff.h"

/*
 * One side of `tare diff`: REC, REC@INSTANT, or the JSON of a report in a file, FILE or FILE@INSTANT. `at`: the instant of --at,
 * or NULL. Returns 0, or what the recording or the file has against it.
 */
int tare_diff_source_read(struct tare_diff_side *side, const char *operand, const char *at, int by,
			  struct tare_err *err);

#endif
