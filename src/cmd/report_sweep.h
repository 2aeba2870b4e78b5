/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report DB`: the file of a sweep instead of a recording. */
#ifndef TARE_CMD_REPORT_SWEEP_H
#define TARE_CMD_REPORT_SWEEP_H

#include "base/args.h"
#include "base/emit.h"

struct tare_report_sweep {
	const char *path, *baseline, *timed;
	const char *output; /* write it there; NULL: print */
	enum tare_emit_format format;
	const struct tare_operands *claims; /* "NAME=SIZE" */
};

int tare_report_sweep(const struct tare_report_sweep *o, struct tare_err *err);

#endif
