/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the constants of a GPU and its driver. Other processes call the driver; each constant is
 * measured again until a value repeats.
 */
#ifndef TARE_CALIBRATE_CALIBRATE_H
#define TARE_CALIBRATE_CALIBRATE_H

#include "base/err.h"
#include "profile/profile.h"

#include <stdbool.h>

struct tare_calibrate_options {
	int device;      /* as CUDA counts */
	bool is_quick;   /* believe what was measured once */
	const char *sim; /* a profile of the simulated GPU, or NULL */
};

enum tare_calibrate_state {
	TARE_CALIBRATE_MEASURED,
	TARE_CALIBRATE_GIVEN,  /* no property of a device */
	TARE_CALIBRATE_LACKS,  /* the driver does not have it, or does not say it */
	TARE_CALIBRATE_IN_USE, /* other processes changed the memory in use meanwhile */
	TARE_CALIBRATE_FAILED, /* no value repeated, or the driver crashed or hung */
};

struct tare_calibrate_key {
	enum tare_calibrate_state state;
	uint64_t low, high; /* all values that the readings allow */
	int readings;       /* that gave this value */
	char why[200];      /* evidence, or why there is none */
};

struct tare_calibration {
	struct tare_profile profile; /* what was measured, else fallbacks */
	struct tare_calibrate_key keys[TARE_PROFILE_KEYS];
	char scale[160]; /* what was weighed with */
	int64_t ns;      /* how long it took */
};

int tare_calibrate(const struct tare_calibrate_options *options, struct tare_calibration *out, struct tare_err *err);

#endif
