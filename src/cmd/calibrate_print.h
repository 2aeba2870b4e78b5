/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_CALIBRATE_PRINT_H
#define TARE_CMD_CALIBRATE_PRINT_H

#include "base/str.h"
#include "base/emit.h"
#include "calibrate/calibrate.h"

struct tare_calibrate_shown {
	const struct tare_calibration *calibration;
	const struct tare_profile *compared; /* or NULL */
	const char *compared_path;
	enum tare_emit_format format;
	bool is_simulated;  /* the card that was asked */
	size_t differences; /* set: constants of `compared` that no reading allows */
};

/* The table of constants. */
void tare_calibrate_show(struct tare_str *out, struct tare_calibrate_shown *shown);

/* The profile, as a file. `command`: that made it. */
void tare_calibrate_write(struct tare_str *out, const struct tare_calibration *c, bool is_simulated,
                          const char *command);

#endif
