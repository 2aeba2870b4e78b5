/* SPDX-License-Identifier: Apache-2.0 */
/* tare calibrate --libraries: what a card's cuDNN takes for convolutions, recorded, compared and written. */
#ifndef TARE_CMD_CALIBRATE_LIBRARIES_H
#define TARE_CMD_CALIBRATE_LIBRARIES_H

#include "base/emit.h"
#include "base/err.h"

struct tare_calibrate_libraries {
	const char *keys;   /* a file of convolutions; "-" is standard input */
	const char *output; /* gets the table; or NULL */
	const char *cudnn, *sim;
	int64_t device;
	enum tare_emit_format format;
};

/* 0 or an error. `code`: the exit code. */
int tare_calibrate_libraries(const struct tare_calibrate_libraries *o, int *code, struct tare_err *err);

#endif
