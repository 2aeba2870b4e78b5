/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_PHASE_LINES_H
#define TARE_CMD_PHASE_LINES_H

#include "base/args.h"
#include "base/err.h"

/* What --phase was given, checked and one per line; *out NULL: nothing. Free it. */
int tare_phase_lines_parse(const struct tare_operands *given, char **out, struct tare_err *err);

#endif
