/* SPDX-License-Identifier: Apache-2.0 */
/* Names of phases. */
#ifndef TARE_VIEW_PHASE_H
#define TARE_VIEW_PHASE_H

#include <stddef.h>

/* The words key=value in a name. Returns how many there are; the first `max` are in `out`. */
struct tare_phase_param {
	const char *key, *value; /* inside `name`, not terminated */
	size_t key_len, value_len;
};
size_t tare_phase_params(const char *name, struct tare_phase_param *out, size_t max);

#endif
